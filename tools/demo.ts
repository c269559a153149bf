/**
 * Runs the real client against the reference service on loopback.
 *
 *     deno task demo            a chat: yours in a terminal, else a short one
 *     deno task demo --bridge   a JSON-RPC session, line by line
 *
 * @module
 */
import { TextLineStream } from "jsr:@std/streams@^1.1.1/text-line-stream";
import { ReferenceService } from "../tests/support/service/service.ts";
import { runDeno, sameFlags } from "./deno.ts";

const KEY = "demo-key-0123456789abcdef";
const PROMPTS = ["hello", "what did I say before?"];

/** Runs the client from source. */
const CLIENT = [
  ...["run", "--quiet", ...sameFlags, "-P=client", "--no-prompt"],
  `${import.meta.dirname}/../main.ts`,
];

if (Deno.args.some((argument) => argument !== "--bridge")) {
  console.error("Usage: deno task demo [--bridge]");
  Deno.exit(2);
}
const play = Deno.args.includes("--bridge")
  ? playBridge
  : Deno.stdin.isTerminal() && Deno.stdout.isTerminal()
  ? playTerminal
  : playChat;

const pace = Deno.stdout.isTerminal() ? 300 : 50;
await using service = ReferenceService.start({ key: KEY, pace });
const env = { APP_API_KEY: KEY, APP_BASE_URL: service.url };
Deno.exitCode = await play();

/** Hands the terminal to the client. */
async function playTerminal(): Promise<number> {
  console.error(
    `The reference service listens on ${service.url}. It answers prompts such as:\n` +
      [...PROMPTS, "what is 6 * 7?"].map((p) => `  ${p}\n`).join("") +
      "Type exit to leave.",
  );
  const code = await runDeno(CLIENT, { env });
  console.error("The reference service has ended, and the thread with it.");
  return code;
}

/** Sends two prompts on one thread. */
async function playChat(): Promise<number> {
  const args = PROMPTS.flatMap((prompt) => ["-p", prompt]);
  return await runDeno([...CLIENT, ...args], { env });
}

/** Runs a session like an editor, each request after the answer to the one before. */
async function playBridge(): Promise<number> {
  const client = new Deno.Command(Deno.execPath(), {
    args: [...CLIENT, "--bridge"],
    env,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = client.stdin.getWriter();
  const lines = client.stdout
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream())
    .getReader();
  let id = 0;

  async function request(method: string, params?: unknown) {
    id++;
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    console.log(`--> ${line}`);
    await writer.write(new TextEncoder().encode(`${line}\n`));
    for (;;) {
      const { done, value } = await lines.read();
      if (done) Deno.exit((await client.status).code);
      console.log(`<-- ${value}`);
      const message = JSON.parse(value);
      if (message.id === id) return message.result;
    }
  }

  await request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  await request("agents/list");
  const session = { cwd: "/home/me/project", mcpServers: [] };
  const { sessionId } = await request("session/new", session);
  for (const text of PROMPTS) {
    const prompt = [{ type: "text", text }];
    await request("session/prompt", { sessionId, prompt });
  }
  await request("session/close", { sessionId });
  await writer.close();
  await lines.cancel();
  return (await client.status).code;
}
