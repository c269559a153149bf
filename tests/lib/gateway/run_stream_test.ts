import {
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertRejects,
} from "@std/assert";
import type { RemoteGateway } from "../../../lib/gateway.ts";
import {
  ConnectionError,
  ServiceError,
} from "../../../lib/gateway/service_error.ts";
import { gatewayTo } from "../../support/quick_gateway.ts";
import {
  answer,
  type Behaviour,
  body,
  events,
} from "../../support/service/behaviours.ts";
import { sleep } from "../../support/service/byte_stream.ts";
import { GatedStream } from "../../support/service/gated_stream.ts";
import { RawServer } from "../../support/service/raw_server.ts";
import { ReferenceService } from "../../support/service/service.ts";
import { complete, progress } from "../../support/service/stream_events.ts";

// Nothing may go on behind a test: no timer, no request, no connection.
Deno.test.sanitizer({ ops: true, resources: true });

/** Takes a turn: the nodes and the reply that were delivered, and how it ended. */
async function takeTurn(
  gateway: RemoteGateway,
): Promise<{ delivered: string[]; error: unknown }> {
  const delivered: string[] = [];
  try {
    const threadId = await gateway.createThread();
    for await (const events of gateway.runTurn(threadId, "hello")) {
      for (const event of events) {
        delivered.push(event.event === "progress" ? event.node : event.reply);
      }
    }
    return { delivered, error: undefined };
  } catch (error) {
    return { delivered, error };
  }
}

/** The `Last-Event-ID` of each request for a stream. */
function cursors(service: ReferenceService): (string | null)[] {
  return service.requests
    .filter(({ operation }) => operation === "stream")
    .map(({ headers }) => headers.get("last-event-id"));
}

const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

for (
  const [when, sent] of [
    ["before the answer", ""],
    ["in the head of the answer", "HTTP/1.1 200 OK\r\ncontent-ty"],
    ["between head and body", STREAM_HEAD],
  ] as const
) {
  for (const death of ["destroy", "reset"] as const) {
    /** Serves all but the first `deaths` streams; those die. */
    const start = (deaths: number) =>
      RawServer.start(async (connection) => {
        for (;;) {
          const request = await connection.read();
          if (!request) return;
          if (request.head.startsWith("GET") && deaths-- > 0) break;
          const content = request.head.startsWith("GET")
            ? `data: ${JSON.stringify(complete("Hi."))}\n\n`
            : '{"thread_id":"t","run_id":"r"}';
          await connection.write(
            `HTTP/1.1 200 OK\r\ncontent-length: ${content.length}\r\n\r\n${content}`,
          );
        }
        await connection.write(sent);
        connection[death]();
      });
    const count = (server: RawServer) =>
      server.requests.filter(({ head }) => head.startsWith("GET")).length;

    Deno.test(`a stream that breaks (${death}) ${when} is requested once more`, async () => {
      await using server = await start(1);
      await using gateway = gatewayTo(server);
      assertEquals(await takeTurn(gateway), {
        delivered: ["Hi."],
        error: undefined,
      });
      assertEquals(count(server), 2);
    });

    Deno.test(`a stream that breaks (${death}) ${when} twice is lost`, async () => {
      await using server = await start(Infinity);
      await using gateway = gatewayTo(server);
      const { error } = await takeTurn(gateway);
      assertInstanceOf(error, ConnectionError);
      assertMatch(
        error.message,
        /^Cannot follow the run: the connection to http:\S+ broke \(.+\); the run may still go on at the service$/,
      );
      assertEquals(count(server), 2);
    });
  }
}

const LOST: readonly (readonly [string, Behaviour, string[]])[] = [
  ["ends before an event", events([]), []],
  ["ends without a body", answer(204), []],
  ["ends after an event", events([progress("a", "b")]), ["a"]],
  ["ends in the middle of complete", body(['data: {"event":"comp']), []],
];

for (const [how, behaviour, delivered] of LOST) {
  Deno.test(`a stream without ids that ${how} is an error at once`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service);
    service.misbehave("stream", behaviour);
    const turn = await takeTurn(gateway);
    assertEquals(turn.delivered, delivered);
    assertInstanceOf(turn.error, ServiceError);
    assertEquals(
      turn.error.message,
      "Cannot follow the run: the stream ended before the run completed; " +
        "the run may still go on at the service",
    );
    assertEquals(cursors(service), [null]);
  });
}

Deno.test("a stream without ids that breaks after a byte is an error at once", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  service.misbehave("stream", body([":"], { end: "break" }));
  const { error } = await takeTurn(gateway);
  assertInstanceOf(error, ConnectionError);
  assertEquals(
    error.message,
    `Cannot follow the run: the connection to ${service.url} broke ` +
      "(error reading a body from connection); " +
      "the run may still go on at the service",
  );
  assertEquals(cursors(service), [null]);
});

for (const end of ["close", "break"] as const) {
  const how = end === "close" ? "ends early" : "breaks";

  Deno.test(`a stream with ids that ${how} is resumed behind the last event`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service);
    const [a, b, c] = [progress("a", ""), progress("b", ""), progress("c", "")];
    service.misbehave("stream", events([a, b], { firstId: 1, end }));
    service.misbehave("stream", events([c], { firstId: 3, end }));
    service.misbehave("stream", events([], { end }));
    service.misbehave("stream", events([complete("Done.")]));
    assertEquals(await takeTurn(gateway), {
      delivered: ["a", "b", "c", "Done."],
      error: undefined,
    });
    assertEquals(cursors(service), [null, "2", "3", "3"]);
  });
}

Deno.test("a stream is resumed at most three times in a row without a new event", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  service.misbehave("stream", events([progress("a", "")], { firstId: 7 }));
  const silent = events([": nothing new\n"], { end: "break" });
  service.misbehave("stream", silent, Infinity);
  const { delivered, error } = await takeTurn(gateway);
  assertEquals(delivered, ["a"]);
  assertInstanceOf(error, ConnectionError);
  assertEquals(cursors(service), [null, "7", "7", "7"]);
});

Deno.test("each new event allows three more resumptions", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  for (const firstId of [1, 2, 3]) {
    const node = `${firstId}`;
    service.misbehave("stream", events([progress(node, "")], { firstId }));
    service.misbehave("stream", events([]), 2);
  }
  service.misbehave("stream", events([complete("Done.")]));
  assertEquals(await takeTurn(gateway), {
    delivered: ["1", "2", "3", "Done."],
    error: undefined,
  });
  const expected = [null, "1", "1", "1", "2", "2", "2", "3", "3", "3"];
  assertEquals(cursors(service), expected);
});

Deno.test("a service that cannot be reached any more ends the resumptions", async () => {
  const service = ReferenceService.start();
  await using gateway = gatewayTo(service, { retry: [1, 1, 1] });
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  gate.send("id: 1\n", progress("a", ""));
  const threadId = await gateway.createThread();
  const turn = gateway.runTurn(threadId, "hello");
  await turn.next();
  await service[Symbol.asyncDispose]();
  const error = await assertRejects(() => turn.next(), ConnectionError);
  assertMatch(
    error.message,
    /^Cannot follow the run: http:\S+ cannot be reached \(.+\); the run may still go on at the service$/,
  );
});

Deno.test("a refusal to resume is told at once", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  service.misbehave("stream", events([progress("a", "")], { firstId: 1 }));
  service.misbehave("stream", answer(410, "The run is gone"));
  const { error } = await takeTurn(gateway);
  assertInstanceOf(error, ServiceError);
  assertEquals(
    error.message,
    "Cannot follow the run: the service answered 410: The run is gone",
  );
  assertEquals(cursors(service), [null, "1"]);
});

const DATA = `data: ${JSON.stringify(progress("a", ""))}\n\n`;

const IDS: readonly (readonly [string, string, string | undefined])[] = [
  ["is cleared by an empty id", `id: 1\n${DATA}id:\n${DATA}`, undefined],
  ["is not moved by an id with a NUL", `id: 1\n${DATA}id: 2\0\n${DATA}`, "1"],
  ["is not moved by an event cut off", `id: 1\n${DATA}id: 2\ndata: {`, "1"],
  ["is kept by events without an id", `id: 1\n${DATA}${DATA}`, "1"],
  ["travels in UTF-8", `id: \u65e5\u00fc\n${DATA}`, "\u65e5\u00fc"],
  ["is none if no header can hold it", `id: 1\u0001\n${DATA}`, undefined],
];

for (const [what, text, cursor] of IDS) {
  Deno.test(`the id at which a stream is resumed ${what}`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service);
    service.misbehave("stream", body([text]));
    service.misbehave("stream", events([complete("Done.")]));
    const { error } = await takeTurn(gateway);
    if (cursor === undefined) {
      assertInstanceOf(error, ServiceError);
      assertEquals(cursors(service), [null]);
    } else {
      assertEquals(error, undefined);
      const sent = cursors(service)[1] ?? "";
      const bytes = Uint8Array.from(sent, (byte) => byte.charCodeAt(0));
      assertEquals(new TextDecoder().decode(bytes), cursor);
    }
  });
}

for (
  const [what, items] of [
    ["before its first event", []],
    ["after an event with an id", ["id: 1\n", progress("a", "")]],
  ] as const
) {
  Deno.test(`a stream that is silent for too long ${what} is given up`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service, { idle: 60 });
    service.misbehave("stream", events(items, { end: "hang" }));
    const { error } = await takeTurn(gateway);
    assertInstanceOf(error, ServiceError);
    assertEquals(
      error.message,
      "Cannot follow the run: nothing came from the service for 0.001 minutes; " +
        "the run may still go on at the service",
    );
    assertEquals(cursors(service), [null]);
    assertEquals(await service.requests.at(-1)?.ended, "dropped");
  });
}

Deno.test("comments keep a stream alive", async () => {
  await using service = ReferenceService.start();
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
  assertEquals(await takeTurn(gateway), {
    delivered: ["Done."],
    error: undefined,
  });
});

Deno.test("silence does not count while nobody asks for an event", async () => {
  await using service = ReferenceService.start();
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
});

Deno.test("a line over 64 MiB ends the turn and drops the stream", async () => {
  await using service = ReferenceService.start();
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
      "the run may still go on at the service",
  );
  assertEquals(cursors(service), [null]);
  assertEquals(await service.requests.at(-1)?.ended, "dropped");
});
