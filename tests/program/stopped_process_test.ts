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
import {
  promptsOf,
  ReferenceService,
  type ServiceOptions,
} from "../support/service/service.ts";

// A process that is stopped (Ctrl-Z and fg, docker pause) while its time limit passes:
// what has arrived meanwhile is read, and no exit code guesses. Stops of other lengths,
// at other moments, are played by the simulation.

/** More than a pipe holds. */
const LONG_REPLY = "x".repeat(1024 * 1024);

/** The time limit of a prompt, and how much longer its process is stopped, in seconds. */
const LIMIT = 6;
const LONGER = 2;

interface Stop {
  /** What the service does; `stop` stops the process. */
  readonly serve: (service: ReferenceService, stop: () => void) => void;
  readonly code: number;
  readonly fate?: string;
  readonly reply?: string;
}

/** Stops the process, and answers while it is stopped. */
function stopThen(stop: () => void, behaviour: Behaviour): Behaviour {
  return async (request, context) => {
    stop();
    await sleep(500, context.signal);
    return await behaviour(request, context);
  };
}

const normal: Behaviour = (_request, { normal }) => normal();
const done = events([progress("plan", "on"), complete("Done.")]);

const STOPS = {
  "before the prompt is sent": {
    serve(service, stop) {
      service.misbehave("create thread", stopThen(stop, normal));
      service.misbehave("stream", done);
    },
    code: 0,
    reply: "Done.",
  },
  "after the prompt was taken, and its answer comes": {
    serve(service, stop) {
      service.misbehave("create run", stopThen(stop, normal));
      service.misbehave("stream", done);
    },
    code: 0,
    reply: "Done.",
  },
  "after the prompt was taken, and no answer comes": {
    serve: (service, stop) =>
      service.misbehave("create run", stopThen(stop, hang())),
    code: 5,
    fate: "may have run",
  },
  "in the stream, and its reply comes": {
    serve: (service, stop) =>
      service.misbehave(
        "stream",
        events(async function* (signal) {
          yield progress("plan", "on");
          stop();
          await sleep(500, signal);
          yield complete("Done.");
        }),
      ),
    code: 0,
    reply: "Done.",
  },
  "in the stream, and nothing comes": {
    serve: (service, stop) =>
      service.misbehave(
        "stream",
        events(function* () {
          yield progress("plan", "on");
          stop();
        }, { end: "hang" }),
      ),
    code: 5,
    fate: "may go on",
  },
  "while the reply is written": {
    serve: (service, stop) =>
      service.misbehave(
        "stream",
        events(function* () {
          yield complete(LONG_REPLY);
          setTimeout(stop, 300);
        }),
      ),
    code: 0,
    reply: LONG_REPLY,
  },
} satisfies Readonly<Record<string, Stop>>;

type Place = keyof typeof STOPS;
type Mode = "-p" | "--json" | "piped lines";

/** What a service needs to speak TLS, and a client to trust it. */
interface Tls {
  readonly service: ServiceOptions;
  readonly env: Readonly<Record<string, string>>;
}

interface Outcome {
  /** Whether the process was stopped before its time limit had passed. */
  readonly isInTime: boolean;
  readonly code: number;
  readonly prompts: readonly unknown[];
  readonly reply: string | undefined;
  readonly fate: string | undefined;
}

/** What became of a prompt with a time limit whose process was stopped. */
async function runStopped(
  place: Place,
  mode: Mode,
  limit: number,
  tls?: Tls,
): Promise<Outcome> {
  await using service = ReferenceService.start(tls?.service);
  const isLong = place === "while the reply is written";
  const signal = (name: "SIGSTOP" | "SIGCONT") => {
    try {
      client.kill(name);
    } catch {
      // It has ended.
    }
  };
  const startedAt = performance.now();
  let isInTime = false;
  const stop = () => {
    isInTime = performance.now() - startedAt < limit * 1000;
    signal("SIGSTOP");
    setTimeout(() => {
      signal("SIGCONT");
      client.stdout.resume();
    }, (limit + LONGER) * 1000);
  };
  STOPS[place].serve(service, stop);
  const given = mode === "piped lines" ? [] : ["-p", "hello"];
  const json = mode === "--json" ? ["--json"] : [];
  await using client = new Client({
    args: ["--timeout", `${limit}`, ...json, ...given],
    env: { ...settings(service), ...tls?.env },
  });
  if (isLong) client.stdout.pause();
  const { code, stdout, stderr } = await client.finish(
    mode === "piped lines" ? "hello\n" : "",
  );
  const prompts = promptsOf(service);
  if (mode === "--json") {
    const last = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
    const { text: reply, fate } = last;
    return { isInTime, code, prompts, reply, fate };
  }
  const reply = stdout === "" ? undefined : stdout.trimEnd();
  return { isInTime, code, prompts, reply, fate: fateIn(stderr) };
}

function fateIn(stderr: string): string | undefined {
  if (stderr.includes("The run may have started")) return "may have run";
  if (stderr.includes("The run may still continue")) return "may go on";
  return undefined;
}

async function assertOutcome(
  place: Place,
  mode: Mode,
  tls?: Tls,
): Promise<void> {
  const expected: Stop = STOPS[place];
  const { code, fate, reply } = expected;
  let limit = LIMIT;
  let outcome = await runStopped(place, mode, limit, tls);
  // A busy machine needs more time to come to the place.
  while (!outcome.isInTime) {
    limit *= 2;
    outcome = await runStopped(place, mode, limit, tls);
  }
  // The time may be over before the prompt is sent: then it is not sent.
  const isLate = place === "before the prompt is sent" && outcome.code === 3;
  if (isLate) return assertEquals(outcome.prompts, []);
  const row = `${place}, ${mode}`;
  const prompts = ["hello"];
  assertEquals(outcome, { isInTime: true, code, prompts, reply, fate }, row);
}

const ignore = Deno.build.os === "windows"; // It has no SIGSTOP.

for (const mode of ["-p", "--json", "piped lines"] as const) {
  Deno.test({
    name:
      `a process that is stopped beyond --timeout loses no reply and guesses no fate, with ${mode}`,
    ignore,
    async fn() {
      const places = Object.keys(STOPS) as Place[];
      await Promise.all(places.map((place) => assertOutcome(place, mode)));
    },
  });
}

Deno.test({
  name:
    "a process that is stopped beyond --timeout loses no reply and guesses no fate, over TLS",
  ignore,
  async fn() {
    using ca = new LocalCa();
    const tls = {
      service: { tls: ca.issue("127.0.0.1") },
      env: { DENO_CERT: ca.certificate },
    };
    const places = Object.keys(STOPS) as Place[];
    await Promise.all(
      places.map((place) => assertOutcome(place, "-p", tls)),
    );
  },
});

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
    STOPS["in the stream, and its reply comes"].serve(service, stop);
    const sessionId = await bridge.newSession();
    const { result } = await bridge.request("session/prompt", {
      sessionId,
      prompt: "hello",
    });
    assertEquals(result.stopReason, "end_turn");
    assertEquals((await bridge.finish()).code, 0);
  },
});
