import {
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertRejects,
} from "@std/assert";
import { ServiceError } from "../../../lib/gateway.ts";
import { gatewayTo } from "../../support/quick_gateway.ts";
import {
  answer,
  type Behaviour,
  body,
  events,
} from "../../support/service/behaviours.ts";
import { GatedStream } from "../../support/service/gated_stream.ts";
import {
  complete,
  encodeItem,
  progress,
} from "../../support/service/stream_events.ts";
import { SkewedClock } from "../../support/skewed_clock.ts";
import { cursors, startService, takeTurn } from "../../support/turns.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const SECOND = 1000;
const DONE = complete("Done.");

const [a, b, c] = [progress("a", ""), progress("b", ""), progress("c", "")];

/** The first `count` of the events a, b, c, ... with ids from 1 on. */
function first(count: number): Behaviour {
  const nodes = "abcdefgh".slice(0, count).split("");
  return events(nodes.map((node) => progress(node, "")), { firstId: 1 });
}

for (const end of ["close", "break"] as const) {
  const how = end === "close" ? "ends early" : "breaks";

  Deno.test(`a stream with ids that ${how} is resumed after the last event`, async () => {
    await using service = startService();
    await using gateway = gatewayTo(service);
    service.misbehave("stream", events([a, b], { firstId: 1, end }));
    service.misbehave("stream", events([c], { firstId: 3, end }));
    service.misbehave("stream", events([], { end }));
    service.misbehave("stream", events([DONE]));
    const { delivered, error, waits } = await takeTurn(gateway);
    assertEquals(error, undefined);
    assertEquals(delivered, ["a", "b", "c", "Done."]);
    assertEquals(cursors(service), [null, "2", "3", "3"]);
    const reason = end === "close" ? "stream ended" : "connection lost";
    assertEquals(waits.map((wait) => wait.reason), Array(3).fill(reason));
  });
}

Deno.test("a stream that falls silent is resumed", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service, { idle: 60 });
  service.misbehave("stream", events([a], { firstId: 1, end: "hang" }));
  service.misbehave("stream", events([DONE]));
  const { delivered, error } = await takeTurn(gateway);
  assertEquals([delivered, error], [["a", "Done."], undefined]);
  assertEquals(cursors(service), [null, "1"]);
});

Deno.test("a stream is resumed although the service restarts for a while", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service);
  service.misbehave("stream", events([a], { firstId: 1, end: "break" }));
  for (const status of [502, 502, 502, 504, 503, 429]) {
    service.misbehave("stream", answer(status));
  }
  service.misbehave("stream", events([b, DONE], { firstId: 2 }));
  const { delivered, error } = await takeTurn(gateway);
  assertEquals([delivered, error], [["a", "b", "Done."], undefined]);
  assertEquals(cursors(service), [null, ...Array(7).fill("1")]);
});

Deno.test("a silent run is followed although a proxy cuts it off each minute", async () => {
  using clock = new SkewedClock();
  await using service = startService();
  await using gateway = gatewayTo(service);
  service.misbehave("stream", events([a], { firstId: 1 }));
  service.misbehave("stream", () => {
    clock.advance(60 * SECOND);
    return events([], { end: "break" })();
  }, 9);
  service.misbehave("stream", events([DONE]));
  const { delivered, error } = await takeTurn(gateway);
  assertEquals([delivered, error], [["a", "Done."], undefined]);
  assertEquals(cursors(service).length, 11);
});

Deno.test("a stream is resumed until 10 minutes have passed without a new event", async () => {
  using clock = new SkewedClock();
  await using service = startService();
  await using gateway = gatewayTo(service);
  const silent = () => {
    clock.advance(199 * SECOND);
    return events([": nothing new\n"], { end: "break" })();
  };
  service.misbehave("stream", events([a], { firstId: 7 }));
  service.misbehave("stream", silent, 3);
  service.misbehave("stream", events([b], { firstId: 8 }));
  service.misbehave("stream", silent, Infinity);
  const { delivered, error } = await takeTurn(gateway);
  assertEquals(delivered, ["a", "b"]);
  assertInstanceOf(error, ServiceError);
  assertMatch(error.message, /broke .* \(thread t, run r\)$/);
  const expected = [null, "7", "7", "7", "7", "8", "8", "8", "8"];
  assertEquals(cursors(service), expected);
});

Deno.test("a stream that cannot be resumed is given up after 2 minutes without an answer", async () => {
  using clock = new SkewedClock();
  await using service = startService();
  await using gateway = gatewayTo(service);
  service.misbehave("stream", events([a], { firstId: 1 }));
  service.misbehave("stream", () => {
    clock.advance(50 * SECOND);
    return answer(502)();
  }, Infinity);
  const { delivered, error } = await takeTurn(gateway);
  assertEquals(delivered, ["a"]);
  assertInstanceOf(error, ServiceError);
  assertEquals(error.status, 502);
  assertEquals(cursors(service), [null, "1", "1", "1"]);
});

Deno.test("a service that cannot be reached any more ends the resumptions", async () => {
  using clock = new SkewedClock();
  const service = startService();
  await using gateway = gatewayTo(service);
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  gate.send("id: 1\n", a);
  const waits: string[] = [];
  const turn = gateway.runTurn(await gateway.createThread(), "hello", {
    onWait: ({ reason }) => {
      waits.push(reason);
      clock.advance(50 * SECOND);
    },
  });
  await turn.next();
  await service[Symbol.asyncDispose]();
  const error = await assertRejects(() => turn.next(), ServiceError);
  assertMatch(
    error.message,
    /^Cannot follow the run: http:\S+ cannot be reached \(.+\); .*the run may still go on at the service \(thread t, run r\)$/,
  );
  assertEquals(waits, Array(3).fill("connection lost"));
});

Deno.test("a stream that was lost while the process was stopped for long is resumed", async () => {
  using clock = new SkewedClock();
  await using service = startService();
  await using gateway = gatewayTo(service);
  service.misbehave(
    "stream",
    events(function* () {
      yield `id: 1\n`;
      yield a;
      clock.advance(700 * SECOND);
    }, { end: "break" }),
  );
  service.misbehave("stream", events([b, DONE], { firstId: 2 }));
  const { delivered, error } = await takeTurn(gateway);
  assertEquals([delivered, error], [["a", "b", "Done."], undefined]);
});

Deno.test("a refusal to resume is an error at once", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service);
  service.misbehave("stream", events([a], { firstId: 1 }));
  service.misbehave("stream", answer(410, "The run is gone"));
  const { error } = await takeTurn(gateway);
  assertInstanceOf(error, ServiceError);
  assertEquals(
    error.message,
    "Cannot follow the run: the service answered 410 (the run may still go on " +
      "at the service): The run is gone (thread t, run r)",
  );
  assertEquals(cursors(service), [null, "1"]);
});

Deno.test("a service that starts over from the beginning repeats no event to the user", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service);
  for (const count of [2, 2, 3, 1, 5]) {
    service.misbehave("stream", first(count));
  }
  service.misbehave("stream", events([a, b, DONE], { firstId: 1 }));
  const { delivered, error } = await takeTurn(gateway);
  assertEquals(error, undefined);
  assertEquals(delivered, ["a", "b", "c", "d", "e", "Done."]);
  assertEquals(cursors(service), [null, "2", "2", "3", "3", "5"]);
});

Deno.test("a service that starts over for ever is given up after 10 minutes", async () => {
  using clock = new SkewedClock();
  await using service = startService();
  await using gateway = gatewayTo(service);
  service.misbehave("stream", (...request) => {
    clock.advance(100 * SECOND);
    return first(3)(...request);
  }, Infinity);
  const { delivered, error } = await takeTurn(gateway);
  assertEquals(delivered, ["a", "b", "c"]);
  assertInstanceOf(error, ServiceError);
  assertMatch(error.message, /the service sends old events again/);
  assertEquals(cursors(service), [null, ...Array(6).fill("3")]);
});

Deno.test("a resumed stream of old events without an end is given up after 10 minutes", async () => {
  using clock = new SkewedClock();
  await using service = startService();
  await using gateway = gatewayTo(service);
  service.misbehave("stream", first(3));
  service.misbehave(
    "stream",
    events(function* () {
      for (;;) {
        yield encodeItem(b, { id: 2 });
        clock.advance(SECOND);
      }
    }),
  );
  const { delivered, error } = await takeTurn(gateway);
  assertEquals(delivered, ["a", "b", "c"]);
  assertInstanceOf(error, ServiceError);
  assertEquals(
    error.message,
    "Cannot follow the run: the service sends old events again and no new ones; " +
      "the run may still go on at the service (thread t, run r)",
  );
});

Deno.test("the last 10,000 ids are remembered", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service);
  const all = Array.from({ length: 10_001 }, (_, i) => progress(`${i}`, ""));
  service.misbehave("stream", events(all, { firstId: 0 }));
  service.misbehave("stream", events([...all, DONE], { firstId: 0 }));
  const { delivered, error } = await takeTurn(gateway);
  assertEquals(error, undefined);
  const nodes = all.map((_, i) => `${i}`);
  assertEquals(delivered, [...nodes, "0", "Done."]);
});

const DATA = `data: ${JSON.stringify(a)}\n\n`;

const IDS: readonly (readonly [string, string, string | undefined])[] = [
  ["is cleared by an empty id", `id: 1\n${DATA}id:\n${DATA}`, undefined],
  ["is not moved by an id with a NUL", `id: 1\n${DATA}id: 2\0\n${DATA}`, "1"],
  ["is not moved by an event cut off", `id: 1\n${DATA}id: 2\ndata: {`, "1"],
  ["is kept by events without an id", `id: 1\n${DATA}${DATA}`, "1"],
  ["travels in UTF-8", `id: \u65e5\u00fc\n${DATA}`, "\u65e5\u00fc"],
  ["is none if no header can hold it", `id: 1\u0001\n${DATA}`, undefined],
  ["is none if it holds a DEL", `id: 1\u007f\n${DATA}`, undefined],
  [
    "may hold 1,024 bytes",
    `id: ${"x".repeat(1024)}\n${DATA}`,
    "x".repeat(1024),
  ],
  [
    "is not moved by an id of 1,025 bytes",
    `id: 1\n${DATA}id: ${"x".repeat(1025)}\n${DATA}`,
    "1",
  ],
  [
    "is not moved by an id of 513 characters of two bytes",
    `id: 1\n${DATA}id: ${"ü".repeat(513)}\n${DATA}`,
    "1",
  ],
  [
    "is not moved by an id of 130,000 characters",
    `id: 1\n${DATA}id: ${"ü".repeat(130_000)}\n${DATA}`,
    "1",
  ],
];

for (const [what, text, cursor] of IDS) {
  Deno.test(`the id at which a stream is resumed ${what}`, async () => {
    await using service = startService();
    await using gateway = gatewayTo(service);
    service.misbehave("stream", body([text]));
    service.misbehave("stream", events([DONE]));
    const { error } = await takeTurn(gateway);
    if (cursor === undefined) {
      assertInstanceOf(error, ServiceError);
      assertEquals(cursors(service), [null]);
    } else {
      assertEquals(error, undefined);
      assertEquals(cursors(service), [null, cursor]);
    }
  });
}
