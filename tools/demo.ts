/**
 * Runs the real client against the reference service on loopback, with the arguments,
 * the standard input and the exit code of the client.
 *
 *     deno task demo                   a chat
 *     deno task -q demo -p "6 * 7"
 *     deno task -q demo --check
 *
 * @module
 */
import { ReferenceService } from "../tests/support/service/service.ts";
import { runDeno, sameFlags } from "./deno.ts";

const KEY = "demo-key-0123456789abcdef";

/** Runs the client from source. */
const CLIENT = [
  ...["run", "--quiet", ...sameFlags, "-P=client", "--no-prompt"],
  `${import.meta.dirname}/../main.ts`,
];

const isTerminal = Deno.stdin.isTerminal() && Deno.stdout.isTerminal();
await using service = ReferenceService.start({
  key: KEY,
  pace: isTerminal ? 300 : 50,
});
const isChat = isTerminal && Deno.args.length === 0;
if (isChat) {
  console.error(`\
The reference service listens on ${service.url}. It answers prompts such as:
  hello
  what is 6 * 7?
  what did I say before?
Type exit to leave.`);
}
const env = { APP_API_KEY: KEY, APP_BASE_URL: service.url };
Deno.exitCode = await runDeno([...CLIENT, ...Deno.args], { env });
if (isChat) {
  console.error("The reference service has ended, and the thread with it.");
}
