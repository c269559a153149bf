/**
 * Stresses one bridge process: 50 sessions at once against a service that fails in many
 * ways. Every prompt has to get an answer, and sockets and memory have to return to
 * their earlier level. (What the answers say, and what cancellations and closings do, is
 * what the simulation looks at.)
 *
 *     deno task soak [SECONDS]     60 seconds by default
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "../tests/support/client_process.ts";
import { Editor } from "../tests/support/editor.ts";
import {
  answer,
  type Behaviour,
  body,
  complete,
  events,
  json,
  progress,
  redirect,
} from "../tests/support/service/behaviours.ts";
import { ReferenceService } from "../tests/support/service/service.ts";
import { processUsage } from "./bench/processes.ts";
import { runCommand } from "./run_command.ts";

const SESSIONS = 50;
/** How many prompts a session has; the last one is cancelled at once. */
const PROMPTS = 5;
/** The limit for everything to end, in milliseconds. */
const GRACE = 120_000;
/** The limit for growth of memory after half of the time, in bytes. */
const MEMORY = 96 * 1024 * 1024;

const steps = [progress("plan", "started"), progress("plan", "done")];
const broken = { end: "break" } as const;

/** The failures of any request. */
const FAULTS: readonly Behaviour[] = [
  answer(500, "out of order"),
  answer(404),
  answer(429, "", { "retry-after": "0" }),
  redirect("https://elsewhere.example/"),
  body([], broken),
];
const POST_FAULTS: readonly Behaviour[] = [
  ...[...FAULTS, json({}), body(['{"thread_id":'], broken)],
];
const STREAM_FAULTS: readonly Behaviour[] = [
  ...[...FAULTS, events(steps, broken), events(steps, { firstId: 1 })],
  events([...steps, complete("Open.")], { end: "hang" }),
  events(["data: ", "x".repeat(1_000_000), "\n\n", complete("Long.")]),
];

const seconds = Number(Deno.args[0] ?? 60);
if (!(seconds > 0)) {
  console.error("Usage: deno task soak [SECONDS]");
  Deno.exit(2);
}
const limit = seconds * 1000 + GRACE;
const watchdog = setTimeout(() => {
  console.error(
    "Problem: a prompt was not answered, or a socket is still open",
  );
  Deno.exit(1);
}, limit);
Deno.exitCode = await soak();
clearTimeout(watchdog);

async function soak(): Promise<number> {
  console.log(`${SESSIONS} sessions for ${seconds} s`);
  await using service = ReferenceService.start();
  service.misbehave("create thread", oneInThree(POST_FAULTS), Infinity);
  service.misbehave("create run", oneInThree(POST_FAULTS), Infinity);
  service.misbehave("stream", oneInThree(STREAM_FAULTS), Infinity);
  const cwd = import.meta.dirname ?? "."; // Nothing may be written.
  await using bridge = new Editor({ env: settings(service), cwd, limit });
  const { pid } = bridge.client;
  await bridge.request("initialize");
  const sockets = await countSockets(pid);
  const halfTime = sleep(seconds * 500).then(() => processUsage(pid));

  const outcomes: unknown[] = [];
  const end = performance.now() + seconds * 1000;
  const runSessions = async () => {
    while (performance.now() < end) {
      const { result } = await bridge.request("session/new");
      if (result === undefined) continue; // the service was told to fail
      const { sessionId } = result;
      for (let left = PROMPTS; left > 0; left--) {
        const id = await bridge.sendPrompt(sessionId, "hello");
        if (left === 1) await bridge.notify("session/cancel", { sessionId });
        const { result } = await bridge.response(id);
        outcomes.push(result?.stopReason ?? "failed");
      }
      await bridge.request("session/close", { sessionId });
    }
  };
  await Promise.all(Array.from({ length: SESSIONS }, runSessions));
  const { peak } = await processUsage(pid);
  const growth = peak - (await halfTime).peak;
  while (await countSockets(pid) > sockets) await sleep(50);
  const { code } = await bridge.finish();

  const count = (outcome: string) =>
    outcomes.filter((each) => each === outcome).length;
  const [memory, more] = [peak, growth].map((n) => (n / 1024 ** 2).toFixed(0));
  console.log(
    `${outcomes.length} prompts: ${count("end_turn")} completed, ` +
      `${count("cancelled")} were cancelled, ${count("failed")} failed; ` +
      `memory ${memory} MiB, ${more} MiB more than at half time`,
  );
  if (growth > MEMORY) console.error("Problem: memory has grown");
  if (code !== 0) console.error(`Problem: the bridge ended with code ${code}`);
  return growth > MEMORY || code !== 0 ? 1 : 0;
}

/** Lets every third request fail, each time in the next way. */
function oneInThree(faults: readonly Behaviour[]): Behaviour {
  let requests = 0;
  return (request, context) => {
    const number = requests++;
    if (number % 3 > 0) return context.normal();
    const fault = faults[number / 3 % faults.length];
    return fault?.(request, context) ?? context.normal();
  };
}

/** The open sockets of a process (Linux only). */
async function countSockets(pid: number): Promise<number> {
  // `ls` fails if a file is closed while it looks.
  const list = `ls -l /proc/${pid}/fd || :`;
  const files = await runCommand(["sh", "-c", list]);
  return files.split(" socket:[").length - 1;
}
