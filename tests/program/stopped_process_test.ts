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

/** How long a process is stopped, and the time limit of its prompt, in seconds. */
const STOPPED = 8;
const LIMIT = 6;

/**
 * How long after the program's first request it has to be stopped, in seconds: on a very
 * busy machine the limit may pass before, and the process is started again.
 */
const IN_TIME = 3;

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
          setTimeout(stop, 1_000);
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
  /** Whether the process was stopped long before its time limit. */
  readonly isInTime: boolean;
  readonly code: number;
  readonly prompts: readonly unknown[];
  readonly reply: string | undefined;
  readonly fate: string | undefined;
}

/** What became of a prompt whose process was stopped. */
async function runStopped(
  place: Place,
  mode: Mode,
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
  let startedAt = Infinity; // It may be stopped at its first request.
  service.waitFor("create thread").then(
    () => startedAt = performance.now(),
    () => {},
  );
  let isInTime = false;
  const stop = () => {
    isInTime = performance.now() - startedAt < IN_TIME * 1000;
    signal("SIGSTOP");
    setTimeout(() => {
      signal("SIGCONT");
      client.stdout.resume();
    }, STOPPED * 1000);
  };
  STOPS[place].serve(service, stop);
  const given = mode === "piped lines" ? [] : ["-p", "hello"];
  const json = mode === "--json" ? ["--json"] : [];
  await using client = new Client({
    args: ["--timeout", `${LIMIT}`, ...json, ...given],
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
  let outcome: Outcome;
  do outcome = await runStopped(place, mode, tls); while (!outcome.isInTime);
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
    assertEquals(result, { stopReason: "end_turn" });
    assertEquals((await bridge.finish()).code, 0);
  },
});
