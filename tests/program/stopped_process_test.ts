import { assertEquals } from "@std/assert";
import { Client, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { LocalCa } from "../support/local_ca.ts";
import {
  type Behaviour,
  complete,
  events,
  hang,
  progress,
  sleep,
} from "../support/service/behaviours.ts";
import type { Operation } from "../support/service/exchange.ts";
import { promptsOf, ReferenceService } from "../support/service/service.ts";

// A process that is stopped (Ctrl-Z and fg, docker pause) while its time limit passes:
// what has arrived meanwhile is read, and no exit code guesses. Stops of other lengths,
// at other moments, are played by the simulation.

/** More than a pipe holds. */
const LONG_REPLY = "x".repeat(1024 * 1024);

/** The time limit of a prompt, and how much longer its process is stopped, in seconds. */
const LIMIT = 6;
const LONGER = 2;

const normal: Behaviour = (_request, { normal }) => normal();
const first = progress("plan", "on");

/** Stops the process, and answers while it is stopped. */
const stopThen =
  (behaviour: Behaviour) =>
  (stop: () => void): Behaviour =>
  async (request, context) => {
    stop();
    await sleep(500, context.signal);
    return await behaviour(request, context);
  };

const stopInStream = (stop: () => void) =>
  events(async function* (signal) {
    yield first;
    stop();
    await sleep(500, signal);
    yield complete("Done.");
  });

const stopInSilence = (stop: () => void) =>
  events(function* () {
    yield first;
    stop();
  }, { end: "hang" });

const stopWhileWriting = (stop: () => void) =>
  events(function* () {
    yield complete(LONG_REPLY);
    setTimeout(stop, 300);
  });

const BEFORE = "before the prompt is sent";
const WRITING = "while the reply is written";

/** Where the process is stopped, how that is answered, and what becomes of the prompt. */
const STOPS: readonly (readonly [
  place: string,
  operation: Operation,
  answer: (stop: () => void) => Behaviour,
  code: number,
  outcome: { readonly reply?: string; readonly fate?: string },
])[] = [
  [BEFORE, "create thread", stopThen(normal), 0, { reply: "Done." }],
  ["before the id", "create run", stopThen(normal), 0, { reply: "Done." }],
  [
    ...["without an id", "create run", stopThen(hang()), 5] as const,
    { fate: "may have run" },
  ],
  ["in the stream", "stream", stopInStream, 0, { reply: "Done." }],
  ["in silence", "stream", stopInSilence, 5, { fate: "may go on" }],
  [WRITING, "stream", stopWhileWriting, 0, { reply: LONG_REPLY }],
];

type Stop = typeof STOPS[number];
type Mode = "-p" | "--json" | "piped lines" | "TLS";

/** Runs a prompt whose process is stopped; `undefined` if that came after the limit. */
async function runStopped(
  [place, operation, answer]: Stop,
  mode: Mode,
  limit: number,
) {
  using ca = mode === "TLS" ? new LocalCa() : undefined;
  await using service = ReferenceService.start(
    ca && { tls: ca.issue("127.0.0.1") },
  );
  const kill = (signal: Deno.Signal) => {
    try {
      client.kill(signal);
    } catch {
      // It has ended.
    }
  };
  const due = performance.now() + limit * 1000;
  let isInTime = false;
  const stop = () => {
    isInTime = performance.now() < due;
    kill("SIGSTOP");
    setTimeout(() => {
      kill("SIGCONT");
      client.stdout.resume();
    }, (limit + LONGER) * 1000);
  };
  service.misbehave(operation, answer(stop));
  service.misbehave("stream", events([first, complete("Done.")]));
  const isPiped = mode === "piped lines";
  const isJson = mode === "--json";
  await using client = new Client({
    args: [
      ...["--timeout", `${limit}`, ...isJson ? ["--json"] : []],
      ...isPiped ? [] : ["-p", "hello"],
    ],
    env: { ...settings(service), ...ca && { DENO_CERT: ca.certificate } },
  });
  if (place === WRITING) client.stdout.pause();
  const { code, stdout, stderr } = await client.finish(
    isPiped ? "hello\n" : "",
  );
  if (!isInTime) return undefined;
  const [, continues] =
    /The run may (have started|still continue)/.exec(stderr) ?? [];
  const fate = continues?.startsWith("have") ? "may have run" : "may go on";
  const told = isJson
    ? JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")
    : {
      text: stdout === "" ? undefined : stdout.trimEnd(),
      fate: continues && fate,
    };
  const { text: reply, fate: toldFate } = told;
  return { code, reply, fate: toldFate, prompts: promptsOf(service) };
}

async function check(stop: Stop, mode: Mode): Promise<void> {
  const [place, , , code, { reply, fate }] = stop;
  let outcome;
  // A busy machine needs more time to come to the place.
  for (let limit = LIMIT; outcome === undefined; limit *= 2) {
    outcome = await runStopped(stop, mode, limit);
  }
  // The time may be over before the prompt is sent: then it is not sent.
  const isLate = place === BEFORE && outcome.code === 3;
  if (isLate) return assertEquals(outcome.prompts, []);
  assertEquals(outcome, { code, reply, fate, prompts: ["hello"] }, place);
}

const ignore = Deno.build.os === "windows"; // It has no SIGSTOP.

for (const mode of ["-p", "--json", "piped lines", "TLS"] as const) {
  Deno.test({
    name:
      `a process that is stopped beyond --timeout loses no reply and guesses no fate, with ${mode}`,
    ignore,
    async fn() {
      await Promise.all(STOPS.map((stop) => check(stop, mode)));
    },
  });
}

Deno.test({
  name: "a bridge that is stopped in a stream answers its prompt",
  ignore,
  async fn() {
    await using service = ReferenceService.start();
    await using bridge = new Editor({ env: settings(service) });
    const stop = () => {
      bridge.client.kill("SIGSTOP");
      setTimeout(() => bridge.client.kill("SIGCONT"), 8_000);
    };
    service.misbehave("stream", stopInStream(stop));
    const { result } = await bridge.prompt(await bridge.newSession(), "hello");
    assertEquals(result.stopReason, "end_turn");
    assertEquals((await bridge.finish()).code, 0);
  },
});
