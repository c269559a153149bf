import { assertEquals, assertInstanceOf, assertMatch } from "@std/assert";
import { RemoteGateway, ServiceError } from "../../../lib/gateway.ts";
import { TIMEOUTS } from "../../../lib/gateway/timeouts.ts";
import { gatewayTo, QUICK_TIMEOUTS } from "../../support/quick_gateway.ts";
import {
  answer,
  type Behaviour,
  body,
  events,
  hang,
} from "../../support/service/behaviours.ts";
import { sleep } from "../../support/service/byte_stream.ts";
import { GatedStream } from "../../support/service/gated_stream.ts";
import { RawServer } from "../../support/service/raw_server.ts";
import { TEST_KEY } from "../../support/service/service.ts";
import { complete, progress } from "../../support/service/stream_events.ts";
import { SkewedClock } from "../../support/skewed_clock.ts";
import { stopFor } from "../../support/stopped_process.ts";
import { cursors, startService, takeTurn } from "../../support/turns.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const SECOND = 1000;

const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

for (
  const [when, sent] of [
    ["before the answer", ""],
    ["in the head of the answer", "HTTP/1.1 200 OK\r\ncontent-ty"],
    ["between head and body", STREAM_HEAD],
  ] as const
) {
  for (const end of ["destroy", "reset"] as const) {
    /** Serves all but the first `broken` streams; those connections break. */
    const start = (broken: number, onBroken: () => void) =>
      RawServer.start(async (connection) => {
        for (;;) {
          const request = await connection.read();
          if (!request) return;
          if (request.head.startsWith("GET") && broken-- > 0) break;
          const content = request.head.startsWith("GET")
            ? `data: ${JSON.stringify(complete("Hi."))}\n\n`
            : '{"thread_id":"t","run_id":"r"}';
          await connection.write(
            `HTTP/1.1 200 OK\r\ncontent-length: ${content.length}\r\n\r\n${content}`,
          );
        }
        onBroken();
        await connection.write(sent);
        connection[end]();
      });
    const count = (server: RawServer, method: string) =>
      server.requests.filter(({ head }) => head.startsWith(method)).length;

    Deno.test(`a stream that breaks (${end}) ${when} is requested again`, async () => {
      await using server = await start(5, () => {});
      await using gateway = gatewayTo(server);
      const { delivered, error } = await takeTurn(gateway);
      assertEquals([delivered, error], [["Hi."], undefined]);
      assertEquals([count(server, "POST"), count(server, "GET")], [2, 6]);
    });

    Deno.test(`a stream that breaks (${end}) ${when} is given up after 2 minutes`, async () => {
      using clock = new SkewedClock();
      await using server = await start(
        Infinity,
        () => clock.advance(50 * SECOND),
      );
      await using gateway = gatewayTo(server);
      const { error } = await takeTurn(gateway);
      assertInstanceOf(error, ServiceError);
      assertMatch(
        error.message,
        /^Cannot follow the run: the connection to http:\S+ broke \(.+\); the run may still go on at the service \(thread t, run r\)$/,
      );
      assertEquals([count(server, "POST"), count(server, "GET")], [2, 3]);
    });
  }
}

for (const status of [429, 502, 503, 504]) {
  const reason = status === 429 || status === 503
    ? "service busy"
    : "service unreachable";

  Deno.test(`${status} to the request for a stream is repeated`, async () => {
    await using service = startService();
    await using gateway = gatewayTo(service);
    service.misbehave("stream", answer(status), 7);
    service.misbehave("stream", events([complete("Done.")]));
    const { delivered, error, waits } = await takeTurn(gateway);
    assertEquals([delivered, error], [["Done."], undefined]);
    assertEquals(cursors(service), Array(8).fill(null));
    assertEquals(waits.map((wait) => wait.reason), Array(7).fill(reason));
  });

  Deno.test(`${status} to the request for a stream is repeated for 2 minutes`, async () => {
    using clock = new SkewedClock();
    await using service = startService();
    await using gateway = gatewayTo(service);
    service.misbehave("stream", () => {
      clock.advance(30 * SECOND);
      return answer(status)();
    }, Infinity);
    const { error } = await takeTurn(gateway);
    assertInstanceOf(error, ServiceError);
    assertEquals([error.status, error.threadId, error.runId], [
      status,
      "t",
      "r",
    ]);
    assertEquals(cursors(service), Array(4).fill(null));
  });
}

Deno.test("a stream whose headers do not come in time is requested again", async () => {
  await using service = startService();
  const timeouts = { ...QUICK_TIMEOUTS };
  await using gateway = new RemoteGateway({
    baseUrl: service.url,
    apiKey: TEST_KEY,
    timeouts,
    onExchange: ({ operation }) => {
      timeouts.answer = operation === "create run" ? 20 : 60_000;
    },
  });
  service.misbehave("stream", hang());
  service.misbehave("stream", events([complete("Done.")]));
  const { delivered, error } = await takeTurn(gateway);
  assertEquals([delivered, error], [["Done."], undefined]);
  assertEquals(cursors(service), [null, null]);
  assertEquals(await service.requests[2]?.ended, "dropped");
});

Deno.test("the waits before a stream is requested again grow, and start over after an event", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service, { reconnect: [1, 2, 3] });
  service.misbehave("stream", answer(502), 4);
  service.misbehave("stream", events([progress("a", "")], { firstId: 1 }));
  service.misbehave("stream", answer(502));
  service.misbehave("stream", events([complete("Done.")]));
  const chance = Math.random;
  Math.random = () => 0.5;
  try {
    const { delivered, waits } = await takeTurn(gateway);
    assertEquals(delivered, ["a", "Done."]);
    assertEquals(
      waits.map(({ reason, milliseconds }) => [reason, milliseconds]),
      [
        ["service unreachable", 1],
        ["service unreachable", 2],
        ["service unreachable", 3],
        ["service unreachable", 3],
        ["stream ended", 1],
        ["service unreachable", 2],
      ],
    );
  } finally {
    Math.random = chance;
  }
});

Deno.test("Retry-After counts for the request for a stream", async () => {
  await using service = startService();
  const timeouts = { reconnect: [600_000], retryAfter: 2 };
  await using gateway = gatewayTo(service, timeouts);
  const headers = { "retry-after": "1" };
  service.misbehave("stream", answer(502, "", headers), 3);
  service.misbehave("stream", events([complete("Done.")]));
  const { delivered, waits } = await takeTurn(gateway);
  assertEquals(delivered, ["Done."]);
  assertEquals(waits.map(({ milliseconds }) => milliseconds), [2, 2, 2]);
});

Deno.test("the program waits 0.5 to 15 s before it requests a stream again", () => {
  assertEquals(TIMEOUTS.reconnect, [500, 1000, 2000, 4000, 8000, 15_000]);
  assertEquals([TIMEOUTS.outage, TIMEOUTS.resume], [120_000, 600_000]);
});

const LOST: readonly (readonly [string, Behaviour, string[]])[] = [
  ["ends before an event", events([]), []],
  ["ends without a body", answer(204), []],
  ["ends after an event", events([progress("a", "b")]), ["a"]],
  ["ends in the middle of complete", body(['data: {"event":"comp']), []],
];

for (const [how, behaviour, delivered] of LOST) {
  Deno.test(`a stream without ids that ${how} is an error at once`, async () => {
    await using service = startService();
    await using gateway = gatewayTo(service);
    service.misbehave("stream", behaviour);
    const turn = await takeTurn(gateway);
    assertEquals(turn.delivered, delivered);
    assertInstanceOf(turn.error, ServiceError);
    assertEquals(
      turn.error.message,
      "Cannot follow the run: the stream ended before the run completed; " +
        "the run may still go on at the service (thread t, run r)",
    );
    assertEquals([turn.error.threadId, turn.error.runId], ["t", "r"]);
    assertEquals(
      turn.error.reason,
      "the stream ended before the run completed; the run may still go on at the service",
    );
    assertEquals(cursors(service), [null]);
  });
}

Deno.test("a stream without ids that breaks after a byte is an error at once", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service);
  service.misbehave("stream", body([":"], { end: "break" }));
  const { error } = await takeTurn(gateway);
  assertInstanceOf(error, ServiceError);
  assertMatch(
    error.message,
    /^Cannot follow the run: the connection to http:\S+ broke \(.+\); the run may still go on at the service \(thread t, run r\)$/,
  );
  assertEquals(cursors(service), [null]);
});

Deno.test("a stream without ids that is silent for too long is given up", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service, { idle: 60 });
  service.misbehave("stream", events([], { end: "hang" }));
  const { error } = await takeTurn(gateway);
  assertInstanceOf(error, ServiceError);
  assertEquals(
    error.message,
    "Cannot follow the run: nothing came from the service for 0.001 minutes; " +
      "the run may still go on at the service (thread t, run r)",
  );
  assertEquals(cursors(service), [null]);
  assertEquals(await service.requests.at(-1)?.ended, "dropped");
});

Deno.test("what came on a stream while the process was stopped is read", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service, { idle: 300 });
  service.misbehave(
    "stream",
    events(function* () {
      yield progress("a", "");
      stopFor(600); // The time is over, and its timer has not fired.
      yield complete("Done.");
    }),
  );
  const { delivered, error } = await takeTurn(gateway);
  assertEquals([delivered, error], [["a", "Done."], undefined]);
});

Deno.test("a stream that stays silent after a stop is given up after the grace period", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service, { idle: 300, grace: 20 });
  service.misbehave(
    "stream",
    events(function* () {
      yield progress("a", "");
      stopFor(600);
    }, { end: "hang" }),
  );
  const { error } = await takeTurn(gateway);
  assertInstanceOf(error, ServiceError);
  assertMatch(error.message, /nothing came from the service/);
});

Deno.test("comments keep a stream alive", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service, { idle: 500 });
  service.misbehave(
    "stream",
    events(async function* (signal) {
      for (let i = 0; i < 12; i++) {
        yield ": still at work\n";
        await sleep(50, signal);
      }
      yield complete("Done.");
    }),
  );
  const { delivered, error } = await takeTurn(gateway);
  assertEquals([delivered, error], [["Done."], undefined]);
});

Deno.test("silence does not count while no event is requested", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service, { idle: 200 });
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  gate.progress("a", "");

  const threadId = await gateway.createThread();
  const turn = gateway.runTurn(threadId, "hello");
  await turn.next();
  await sleep(500, new AbortController().signal);
  gate.complete("Done.");

  const { value } = await turn.next();
  assertEquals(value, [{ event: "complete", reply: "Done." }]);
  assertEquals((await turn.next()).done, true);
});

Deno.test("a line over 64 MiB ends the turn and drops the stream", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service);
  const endless = body(function* () {
    yield "data: ";
    for (;;) yield "x".repeat(1024 * 1024);
  });
  service.misbehave("stream", endless);
  const { error } = await takeTurn(gateway);
  assertInstanceOf(error, ServiceError);
  assertEquals(
    error.message,
    "Cannot follow the run: a line of the stream is longer than 67108864 bytes; " +
      "the run may still go on at the service (thread t, run r)",
  );
  assertEquals(cursors(service), [null]);
  assertEquals(await service.requests.at(-1)?.ended, "dropped");
});
