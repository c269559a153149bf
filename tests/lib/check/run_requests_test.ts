import { assertEquals, assertRejects } from "@std/assert";
import {
  type ProbedRun,
  probeRun,
  type ProbeRunOptions,
} from "../../../lib/check/run_requests.ts";
import { RemoteGateway, ServiceError } from "../../../lib/gateway.ts";
import { FakeClock } from "../../support/clocks.ts";
import {
  answer,
  type Behaviour,
  complete,
  events,
  progress,
  sleep,
} from "../../support/service/behaviours.ts";
import {
  type ReferenceService,
  TEST_KEY,
} from "../../support/service/service.ts";
import {
  gatewayTo,
  QUICK_TIMEOUTS,
  requestsOf,
  startService,
} from "../../support/turns.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const steps = ["a", "b"].map((node) => progress(node, ""));
const done = complete("Done.");

/** Answers the requests for the stream of the run, one after the other, and refuses others. */
function serveRun(...streams: readonly Behaviour[]): ReferenceService {
  const queue = [...streams];
  return startService({
    stream: [(request, context) => {
      if (request.headers.get("x-api-key") !== TEST_KEY) return answer(401)();
      const next = context.runId === "r" ? queue.shift() : undefined;
      return next?.(request, context) ?? answer(404)();
    }],
  });
}

async function probe(
  service: ReferenceService,
  options: Partial<ProbeRunOptions> = {},
): Promise<ProbedRun> {
  const timeouts = { ...QUICK_TIMEOUTS, drain: 0 };
  await using gateway = gatewayTo(service, timeouts);
  const apiKey = "another-key";
  const { url: baseUrl } = service;
  await using stranger = new RemoteGateway({ baseUrl, apiKey, timeouts });
  const onRun = () => Promise.resolve();
  const run = { threadId: "t", prompt: "hello", timeLimit: undefined, onRun };
  return await probeRun({ gateway, stranger, ...run, ...options });
}

Deno.test("probeRun() asks for the stream again after the first id and after the end, for that of another run, and with another key", async () => {
  // Each event is a chunk of its own, and each stream stays open after the reply.
  const stream = (firstId: number) =>
    events(async function* (signal) {
      for (const event of [...steps, done].slice(firstId - 1)) {
        yield event;
        await sleep(20, signal);
      }
    }, { firstId, end: "hang" });
  // The second one brings an event, the end of its block, and nothing more.
  const [, b = {}] = steps;
  const parts = ["id: 2\n", `data: ${JSON.stringify(b)}\n`, "\n"];
  const second = events(async function* (signal) {
    for (const part of [...parts, b]) {
      yield part;
      await sleep(20, signal);
    }
  }, { end: "hang" });
  await using service = serveRun(stream(1), second, stream(2));
  const lines: string[] = [];
  const run = await probe(service, { onLine: (line) => lines.push(line) });

  const requests = requestsOf("stream", service.requests);
  const cursors = requests.map(({ headers }) => headers.get("last-event-id"));
  assertEquals(cursors, [null, "1", "2", null, null]);
  const paths = requests.map(({ path }) => path.replace(/[-\da-f]{36}/, "?"));
  const own = "/threads/t/runs/r/stream";
  assertEquals(paths, [own, own, own, "/threads/t/runs/?/stream", own]);
  assertEquals(requests.map(({ status }) => status), [200, 200, 200, 404, 401]);
  const endings = await Promise.all(requests.map(({ ended }) => ended));
  assertEquals(endings.slice(0, 3), ["dropped", "dropped", "dropped"]);

  assertEquals(run.error, undefined);
  for (const request of [run, run.resumedAtEnd]) {
    assertEquals(request?.observation.reply?.text, "Done.");
  }
  const known = run.observation.remembered;
  assertEquals(run.resumed?.observation.remembered[0], known[1]);
  assertEquals(lines.filter((line) => line.startsWith("id:")), [
    ...["id: 1", "id: 2", "id: 3"],
  ]);
});

Deno.test("probeRun() does not resume a stream without ids, and repeats no request", async () => {
  await using service = serveRun(events([steps[0] ?? {}], { end: "break" }));
  const { error, resumed, resumedAtEnd } = await probe(service);
  assertEquals(error?.failure.fate, "may go on");
  assertEquals([resumed, resumedAtEnd], [undefined, undefined]);
  assertEquals(requestsOf("stream", service.requests).length, 3);
});

Deno.test("probeRun() repeats none of its further requests", async () => {
  const first = events([...steps, done], { firstId: 1 });
  await using service = serveRun(first, answer(503), answer(503));
  const { resumed, resumedAtEnd } = await probe(service);
  const failures = [resumed, resumedAtEnd].map((each) => each?.error?.failure);
  assertEquals(failures.map((failure) => failure?.status), [503, 503]);
  assertEquals(requestsOf("stream", service.requests).length, 5);
});

Deno.test("probeRun() fails if the report cannot be written", async () => {
  await using service = serveRun();
  const onRun = () => Promise.reject(new Deno.errors.BrokenPipe());
  await assertRejects(() => probe(service, { onRun }), Deno.errors.BrokenPipe);
});

Deno.test("probeRun() fails if the stream cannot be opened", async () => {
  await using service = serveRun(answer(503));
  await assertRejects(() => probe(service), ServiceError, "503");
  assertEquals(requestsOf("stream", service.requests).length, 1);
});

/**
 * Probes a run whose further requests get no answer until a time, in milliseconds
 * after the run. Returns which of them were late.
 */
async function probeSlowly(
  time: number,
  limit?: number,
): Promise<readonly unknown[]> {
  using clock = new FakeClock();
  const answered = Promise.withResolvers<Response>();
  const slow = () => answered.promise.then((response) => response.clone());
  const first = events([...steps, done], { firstId: 1 });
  await using service = startService({ stream: [first, slow] });
  const since = performance.now();
  const probing = probe(service, {
    timeLimit: limit === undefined ? limit : { milliseconds: limit, since },
  });
  await service.waitFor("stream", 5);
  clock.passTo(time);
  answered.resolve(answer(404)());
  const { resumed, resumedAtEnd, unknownRun, wrongKey } = await probing;
  return [resumed, resumedAtEnd, unknownRun, wrongKey]
    .map((request) => request?.error === undefined);
}

Deno.test("probeRun() waits for its further requests until a second after the run, or its time limit", async () => {
  const [late, inTime] = [true, false].map((each) => Array(4).fill(each));
  assertEquals(await probeSlowly(999), inTime);
  assertEquals(await probeSlowly(1000), late);
  assertEquals(await probeSlowly(1000, 5000), late);
  assertEquals(await probeSlowly(299, 300), inTime);
  assertEquals(await probeSlowly(300, 300), late);
});

Deno.test("probeRun() counts the time before the headers as silence", async () => {
  using clock = new FakeClock();
  const late = () => {
    clock.time += 20_000;
    return events([done])();
  };
  await using service = serveRun(late);
  const { observation } = await probe(service, {
    onRun: () => Promise.resolve(void (clock.time += 7_000)),
  });
  const { openedAt, silence, lastAt, endedAt } = observation;
  assertEquals([openedAt, silence, lastAt, endedAt], Array(4).fill(20_000));
});
