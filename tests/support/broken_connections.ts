import { BODIES, http, operationOf, type Play, say } from "./faulty_service.ts";
import type { Fault, Outcome } from "./faults.ts";
import { encodeItem, progress } from "./service/stream_events.ts";

/** The stream ends in good order, but the run is not complete. */
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

/** How a connection dies before the first byte of a body: the request is read. */
export const DEATHS: readonly Fault[] = ([
  ["closed before the head", "", "destroy"],
  ["reset before the head", "", "reset"],
  ["closed within the head", "HTTP/1.1 200 O", "destroy"],
  ["reset within the head", HEAD, "reset"],
  ["closed behind the head", `${HEAD}\r\n`, "destroy"],
  ["closed after no HTTP", "What?\r\n\r\n", "destroy"],
] as const).flatMap(([name, sent, death]): readonly Fault[] => {
  const play: Play = async (connection) => {
    await connection.write(sent);
    connection[death]();
  };
  return [
    { name, play, post: BROKEN, stream: { requests: 2 } },
    { name: `${name}, 2x`, play, times: 2, stream: { requests: 3 } },
  ];
});

const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";

/** A stream that sends this, and dies. */
function dying(sent: string): Play {
  return async (connection) => {
    await connection.write(`${STREAM_HEAD}content-length: 1000\r\n\r\n${sent}`);
    connection.destroy();
  };
}

/** Dies of what stands behind the `Last-Event-ID` of the request; else completes. */
function resumed(deaths: Readonly<Record<string, string>>): Play {
  return async (connection, request) => {
    const cursor = /^last-event-id: (.*)\r$/im.exec(request.head)?.[1] ?? "";
    const sent = deaths[cursor];
    if (sent !== undefined) return await dying(sent)(connection, request);
    await connection.write(http("200 OK", {}, BODIES.stream));
  };
}

function withId(id: number): string {
  return new TextDecoder().decode(encodeItem(progress("plan", "on"), { id }));
}

/** How a stream ends too early, too late, or in parts. */
export const STREAMS: readonly Fault[] = [
  {
    name: "closed within the body",
    play: (connection, request) =>
      dying(operationOf(request) === "stream" ? withoutId() : "{")(
        connection,
        request,
      ),
    post: BROKEN,
    stream: LOST,
  },
  {
    name: "a kept connection that dies behind a request",
    play: (connection) => connection.reset(),
    onKeptConnection: true,
    post: BROKEN,
  },
  {
    name: "no complete",
    play: say(http("200 OK", {}, withoutId())),
    stream: UNFINISHED,
  },
  {
    name: "more behind complete, without an end",
    play: async (connection) => {
      await connection.write(
        `${STREAM_HEAD}\r\n${BODIES.stream}${withoutId()}${BODIES.stream}`,
      );
      await connection.gone;
    },
    stream: { requests: 1 },
  },
  {
    name: "ids: breaks once",
    play: resumed({ "": withId(7) }),
    times: 2,
    stream: { requests: 2 },
  },
  {
    name: "ids: breaks again behind a new event",
    play: resumed({ "": withId(7), "7": withId(8) }),
    times: 3,
    stream: { requests: 3 },
  },
  {
    name: "ids: starts over from the beginning",
    play: dying(withId(7) + withId(8)),
    times: 2,
    stream: { requests: 3 },
  },
];

function withoutId(): string {
  return new TextDecoder().decode(encodeItem(progress("plan", "on")));
}
