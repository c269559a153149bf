/**
 * Stresses one bridge process: 50 sessions at once against a service that fails
 * in random ways, with prompts that are cancelled at random moments. Every prompt has to
 * get an answer, and sockets and memory have to return to their earlier level. (What the
 * answers say, whatever happens, is what the simulation looks at.)
 *
 *     deno task soak [SECONDS] [SEED]     60 seconds by default
 *
 * The seed repeats every choice, though not the moment at which it takes effect.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "../tests/support/client_process.ts";
import { Editor } from "../tests/support/editor.ts";
import { type Random, randomNumbers } from "../tests/support/random_numbers.ts";
import {
  answer,
  type Behaviour,
  body,
  complete,
  delayed,
  events,
  hang,
  json,
  progress,
  redirect,
} from "../tests/support/service/behaviours.ts";
import { ReferenceService } from "../tests/support/service/service.ts";
import { processUsage } from "./bench/processes.ts";
import { runCommand } from "./run_command.ts";

const SESSIONS = 50;
/** The longest time before a hanging run is cancelled, in milliseconds. */
const PATIENCE = 300;
/** The limit for everything to end, in milliseconds. */
const GRACE = 60_000;
/** The limit for growth of memory after half of the time, in bytes. */
const MEMORY = 96 * 1024 * 1024;

const steps = [progress("plan", "started"), progress("plan", "done")];
const broken = { end: "break" } as const;

/** The failures of any request. */
const FAULTS: readonly Behaviour[] = [
  answer(500, "out of order"),
  answer(404),
  json({ message: "who are you?" }, 401),
  answer(429, "", { "retry-after": "0" }),
  answer(503, "", { "retry-after": "0" }),
  redirect("https://elsewhere.example/"),
  body([], broken),
  delayed(20),
];
const POST_FAULTS: readonly Behaviour[] = [
  ...[...FAULTS, json({}), json({ thread_id: 1, run_id: "" })],
  ...[answer(200, "{"), body(['{"thread_id":'], broken)],
];
const RUN_FAULTS: readonly Behaviour[] = [...POST_FAULTS, hang()];
const STREAM_FAULTS: readonly Behaviour[] = [
  ...[...FAULTS, hang(), events(steps), events(steps, broken)],
  ...[events(steps, { firstId: 1 }), events(steps, { end: "hang" })],
  events(["data: {\n\n", "data: [1]\n\nnonsense\n", complete("Yes.")]),
  events([...steps, complete("Cut small.")], { chunkSize: 3 }),
  events([...steps, complete("Open.")], { end: "hang" }),
  events(["data: ", "x".repeat(1_000_000), "\n\n", complete("Long.")]),
];

const [random] = crypto.getRandomValues(new Uint32Array(1));
const seconds = Number(Deno.args[0] ?? 60);
const seed = Number(Deno.args[1] ?? random);
if (!(seconds > 0 && Number.isSafeInteger(seed))) {
  console.error("Usage: deno task soak [SECONDS] [SEED]");
  Deno.exit(2);
}
Deno.exitCode = await soak();

async function soak(): Promise<number> {
  console.log(`${SESSIONS} sessions for ${seconds} s, seed ${seed}`);
  const problems = new Set<string>();
  const count = { prompts: 0, ended: 0, cancelled: 0, failed: 0 };
  let open = 0;
  const service = ReferenceService.start();
  misbehave(service, randomNumbers(seed));
  await using bridge = new Editor({
    env: settings(service),
    cwd: import.meta.dirname ?? ".",
    limit: seconds * 1000 + 3 * GRACE,
  });
  const { pid } = bridge.client;
  await bridge.request("initialize");
  const sockets = await countSockets(pid);
  const end = performance.now() + seconds * 1000;
  const halfTime = sleep(seconds * 500).then(() => processUsage(pid));

  const runPrompt = async (sessionId: string, random: Random) => {
    open++;
    const requestId = await bridge.sendPrompt(
      sessionId,
      `hello ${count.prompts++}`,
    );
    const timer = setTimeout(() => {
      if (random(2) === 0) bridge.notify("session/cancel", { sessionId });
      else bridge.notify("$/cancel_request", { requestId });
    }, random(2) === 0 ? random(20) : PATIENCE);
    const { result } = await bridge.response(requestId);
    clearTimeout(timer);
    open--;
    if (result?.stopReason === "end_turn") count.ended++;
    else if (result?.stopReason === "cancelled") count.cancelled++;
    else count.failed++;
  };
  const runSessions = async (random: Random) => {
    while (performance.now() < end) {
      const { result } = await bridge.request("session/new");
      if (result === undefined) continue;
      const { sessionId } = result;
      for (let left = 1 + random(10); left > 0; left--) {
        await runPrompt(sessionId, random);
      }
      await bridge.request("session/close", { sessionId });
    }
  };
  const late = sleep(seconds * 1000 + GRACE, false, { ref: false });
  const inTime = (work: readonly Promise<unknown>[]) =>
    Promise.race([Promise.all(work).then(() => true), late]);
  const work = Array.from(
    { length: SESSIONS },
    (_, i) => runSessions(randomNumbers(seed + i + 1)),
  );
  if (!await inTime(work)) {
    problems.add(`requests were not answered, ${open} prompts of them`);
  }
  const { peak } = await processUsage(pid);
  const growth = peak - (await halfTime).peak;
  if (growth > MEMORY) problems.add("memory has grown");
  const { connections, requests } = service;
  if (!await inTime(requests.map((request) => request.ended))) {
    problems.add("requests to the service are still open");
  }
  await service[Symbol.asyncDispose](); // and with it the idle connections
  let left = 100;
  while (await countSockets(pid) > sockets && left-- > 0) await sleep(50);
  if (left < 0) problems.add("sockets are open");
  const code = problems.size > 0 ? 0 : (await bridge.finish()).code;
  if (code !== 0) problems.add(`the bridge ended with code ${code}`);

  for (const problem of problems) console.error(`Problem: ${problem}`);
  const { prompts, ended, cancelled, failed } = count;
  const [memory, more] = [peak, growth].map((n) => (n / 1024 ** 2).toFixed(0));
  console.log(
    `${prompts} prompts: ${ended} completed, ${cancelled} were cancelled, ` +
      `${failed} got the error that the service was told to cause; ` +
      `${connections} connections; memory ${memory} MiB, ` +
      `${more} MiB more than at half time; ${problems.size} problems`,
  );
  return problems.size === 0 ? 0 : 1;
}

/** Lets about every third request fail. */
function misbehave(service: ReferenceService, random: Random): void {
  const some =
    (faults: readonly Behaviour[]): Behaviour => (request, context) =>
      faults[random(3 * faults.length)]?.(request, context) ?? context.normal();
  service.misbehave("create thread", some(POST_FAULTS), Infinity);
  service.misbehave("create run", some(RUN_FAULTS), Infinity);
  service.misbehave("stream", some(STREAM_FAULTS), Infinity);
}

/** The open sockets of a process (Linux only). */
async function countSockets(pid: number): Promise<number> {
  // `ls` fails if a file is closed while it looks.
  const list = `ls -l /proc/${pid}/fd || :`;
  const files = await runCommand(["sh", "-c", list]);
  return files.split(" socket:[").length - 1;
}
