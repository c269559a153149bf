import {
  BODIES,
  type FaultyAnswer,
  http,
  operationOf,
  say,
} from "./faulty_service.ts";
import type { Fault, Outcome } from "./faults.ts";
import { encodeItem, progress } from "./service/stream_events.ts";

/** The stream ends correctly, but the run is not complete. */
export const UNFINISHED: Outcome = {
  requests: 1,
  reason:
    /^the stream ended before the run completed; the run may still go on at the service$/,
};

const HEAD = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n";

const BROKEN: Outcome = {
  requests: 1,
  reason:
    /^the connection to http:\S+ broke \(.+\); (.*try again later|check the base URL|the run may have started, so it is not tried again)$/,
};

const LOST: Outcome = {
  requests: 1,
  reason:
    /^the connection to http:\S+ broke \(.+\); the run may still go on at the service$/,
};

/** Connections that break after the request was read and before the first byte of a body. */
export const BROKEN_BEFORE_BODY: readonly Fault[] = ([
  ["closed before the head", "", "destroy"],
  ["reset before the head", "", "reset"],
  ["closed within the head", "HTTP/1.1 200 O", "destroy"],
  ["reset within the head", HEAD, "reset"],
  ["closed after the head", `${HEAD}\r\n`, "destroy"],
  ["closed after no HTTP", "What?\r\n\r\n", "destroy"],
] as const).flatMap(([name, sent, end]): readonly Fault[] => {
  const answer: FaultyAnswer = async (connection) => {
    await connection.write(sent);
    connection[end]();
  };
  return [
    { name, answer, post: BROKEN, stream: { requests: 2 } },
    { name: `${name}, 2x`, answer, times: 2, stream: { requests: 3 } },
  ];
});

const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";

/** A stream that sends this, and whose connection then breaks. */
function brokenStream(sent: string): FaultyAnswer {
  return async (connection) => {
    await connection.write(`${STREAM_HEAD}content-length: 1000\r\n\r\n${sent}`);
    connection.destroy();
  };
}

/**
 * A stream that sends the text for the request's `Last-Event-ID` and breaks. If
 * there is no text for the id, it completes.
 */
function resumedStream(
  sentAfterId: Readonly<Record<string, string>>,
): FaultyAnswer {
  return async (connection, request) => {
    const cursor = /^last-event-id: (.*)\r$/im.exec(request.head)?.[1] ?? "";
    const sent = sentAfterId[cursor];
    if (sent !== undefined) {
      return await brokenStream(sent)(connection, request);
    }
    await connection.write(http("200 OK", {}, BODIES.stream));
  };
}

function withId(id: number): string {
  return new TextDecoder().decode(encodeItem(progress("plan", "on"), { id }));
}

/** Streams that end too early, too late, or in parts. */
export const BROKEN_STREAMS: readonly Fault[] = [
  {
    name: "closed within the body",
    answer: (connection, request) =>
      brokenStream(operationOf(request) === "stream" ? withoutId() : "{")(
        connection,
        request,
      ),
    post: BROKEN,
    stream: LOST,
  },
  {
    name: "a kept connection that breaks after a request",
    answer: (connection) => connection.reset(),
    onKeptConnection: true,
    post: BROKEN,
  },
  {
    name: "no complete",
    answer: say(http("200 OK", {}, withoutId())),
    stream: UNFINISHED,
  },
  {
    name: "more after complete, without an end",
    answer: async (connection) => {
      await connection.write(
        `${STREAM_HEAD}\r\n${BODIES.stream}${withoutId()}${BODIES.stream}`,
      );
      await connection.gone;
    },
    stream: { requests: 1 },
  },
  {
    name: "ids: breaks once",
    answer: resumedStream({ "": withId(7) }),
    times: 2,
    stream: { requests: 2 },
  },
  {
    name: "ids: breaks again after a new event",
    answer: resumedStream({ "": withId(7), "7": withId(8) }),
    times: 3,
    stream: { requests: 3 },
  },
  {
    name: "ids: starts over from the beginning",
    answer: brokenStream(withId(7) + withId(8)),
    times: 2,
    stream: { requests: 3 },
  },
];

function withoutId(): string {
  return new TextDecoder().decode(encodeItem(progress("plan", "on")));
}
