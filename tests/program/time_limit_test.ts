import { assertEquals, assertMatch } from "@std/assert";
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
import { promptsOf, ReferenceService } from "../support/service/service.ts";

// What --timeout means where standard output is a pipe that nobody reads, and where the
// process is stopped (Ctrl-Z and fg, docker pause) while the time passes: what has
// arrived meanwhile is read, and no exit code guesses. The rows of a table run at once.
// Stops of other lengths, at other moments, are played by the simulation.

/** A run without an end, whose lines fill any pipe. */
const endless = events(function* () {
  for (;;) yield progress("x".repeat(10_000), "y");
});
/** More than a pipe holds. */
const LARGE = "x".repeat(1024 * 1024);

/** The first limit that is tried, in seconds. */
const LIMIT = 5;

/**
 * Plays a scene with a longer limit each time, until that is long enough: a busy machine
 * needs more time to come to the place.
 *
 * @param play Returns `undefined` if the limit was too short.
 */
async function inTime<T>(
  play: (limit: number) => Promise<T | undefined>,
): Promise<T> {
  for (let limit = LIMIT;; limit *= 2) {
    const outcome = await play(limit);
    if (outcome !== undefined) return outcome;
  }
}

const JSON_CALL = ["--json", "--timeout", "LIMIT", "-p", "hello"];

const cut = /^x{1,999999}\n?$/;
const unread =
  /agent-gateway: error: The time limit has passed, and standard output is read too slowly or not at all\n$/;

/** The reader, the arguments and input, and how the program ends. */
type Reader = readonly [
  reader: "reads after the limit" | "goes away then" | "never reads",
  args: readonly string[],
  input: string,
  code: number,
  out: RegExp,
  err: RegExp,
];

const READERS: readonly Reader[] = [
  [
    "reads after the limit",
    JSON_CALL,
    "",
    5,
    /"type":"error"[^\n]*"fate":"may go on"[^\n]*\n$/,
    /^$/,
  ],
  ["goes away then", JSON_CALL, "", 1, /./, /^$/],
  ["never reads", JSON_CALL, "", 5, /./, /^$/],
  [
    "never reads",
    // A thread need not be created within the time limit.
    ["--json", "--timeout", "1", "--thread", "t"],
    "\0\n".repeat(10_000),
    1,
    /"type":"error"/,
    /^$/,
  ],
  ["never reads", [...JSON_CALL.slice(1), "-p", "two"], "", 1, cut, unread],
  [
    "never reads",
    ["--timeout", "LIMIT"],
    "hello\ntwo\n",
    1,
    cut,
    unread,
  ],
];

/** Runs a program with such a reader; `undefined` if its run began late. */
async function runUnread([reader, args, input]: Reader, limit: number) {
  const isLarge = !args.includes("--json");
  await using service = ReferenceService.start();
  const due = performance.now() + limit * 500;
  let isInTime = args.includes("--thread"); // It runs nothing.
  service.misbehave("stream", () => {
    isInTime = performance.now() < due;
    return isLarge ? events([complete(LARGE)])() : endless();
  });
  await using client = new Client({
    args: args.map((word) => word.replace("LIMIT", `${limit}`)),
    env: settings(service),
  });
  client.stdout.pause();
  // It may end without reading all of its input.
  const written = client.write(input).catch(() => {});
  if (reader === "never reads") {
    if (isLarge) await client.closeInput();
    await client.status;
  } else {
    // The program drops the stream when the limit has passed.
    const stream = service.waitFor("stream").then(({ ended }) => ended);
    await Promise.race([stream, client.status]);
    if (reader === "goes away then") await client.stdout.close();
    await client.closeInput();
  }
  await written;
  client.stdout.resume();
  const output = await client.output();
  return isInTime ? { ...output, prompts: promptsOf(service) } : undefined;
}

async function checkReader(row: Reader): Promise<void> {
  const [reader, args, , code, out, err] = row;
  const name = `${args}, whose reader ${reader}`;
  const ended = await inTime((limit) => runUnread(row, limit));
  assertEquals(ended.code, code, name);
  assertMatch(ended.stdout, out, name);
  assertMatch(ended.stderr, err, name);
  assertEquals(ended.prompts, args.includes("--thread") ? [] : ["hello"]);
}

Deno.test("with output that nobody reads at the time limit, a script ends as its prompt did", async () => {
  await Promise.all(READERS.map(checkReader));
});

/** How much longer than the limit a process is stopped, in seconds. */
const LONGER = 2;

const first = progress("plan", "on");

/** Stops the process, and answers while it is stopped. */
const stopThen =
  (behaviour: Behaviour = (_request, { normal }) => normal()) =>
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
    yield complete(LARGE);
    setTimeout(stop, 300);
  });

const replied = /Done\."?\}?\n$/;

/** Where a process is stopped and how that is answered; its modes, and how it ends. */
const STOPS = [
  ["create thread", stopThen(), ["-p", "piped"], 0, replied],
  ["create run", stopThen(), ["--json", "TLS"], 0, replied],
  [
    "create run",
    stopThen(hang()),
    ["-p", "TLS"],
    5,
    /The run may have started/,
  ],
  ["stream", stopInStream, ["piped", "TLS"], 0, replied],
  ["stream", stopInSilence, ["-p", "--json"], 5, /The run may still continue/],
  ["stream", stopWhileWriting, ["-p", "--json"], 0, /x{1048576}"?\}?\n$/],
] as const;

type Stop = typeof STOPS[number];

/** Runs a prompt whose process is stopped; `undefined` if that came after the limit. */
async function runStopped(
  [operation, answer]: Stop,
  mode: string,
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
  const isPiped = mode === "piped";
  await using client = new Client({
    args: [
      ...["--timeout", `${limit}`, ...mode === "--json" ? ["--json"] : []],
      ...isPiped ? [] : ["-p", "hello"],
    ],
    env: { ...settings(service), ...ca && { DENO_CERT: ca.certificate } },
  });
  if (answer === stopWhileWriting) {
    client.stdout.pause();
    // It may end before it comes there.
    client.status.then(() => client.stdout.resume());
  }
  const { code, stdout, stderr } = await client.finish(
    isPiped ? "hello\n" : "",
  );
  return isInTime
    ? { code, output: stderr + stdout, prompts: promptsOf(service) }
    : undefined;
}

async function checkStop(stop: Stop, mode: string): Promise<void> {
  const [operation, , , code, expected] = stop;
  const { output, ...ended } = await inTime((limit) =>
    runStopped(stop, mode, limit)
  );
  // The time may be over before the prompt is sent: then it is not sent.
  const isLate = operation === "create thread" && ended.code === 3;
  if (isLate) return assertEquals(ended.prompts, []);
  assertEquals(ended, { code, prompts: ["hello"] }, `${operation}: ${output}`);
  assertMatch(output, expected);
}

/** A bridge has no limit, and waits for its reply. */
async function checkBridge(): Promise<void> {
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
}

Deno.test({
  name:
    "a process that is stopped beyond its time limit loses no reply and guesses no fate",
  ignore: Deno.build.os === "windows", // It has no SIGSTOP.
  async fn() {
    const calls = STOPS.flatMap((stop) =>
      stop[2].map((mode) => checkStop(stop, mode))
    );
    await Promise.all([...calls, checkBridge()]);
  },
});
