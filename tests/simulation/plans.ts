/**
 * What the service and the network do in a story: everything that can go wrong, and from
 * what it is drawn.
 *
 * @module
 */

import fc from "fast-check";

/** What is drawn by an arbitrary. */
export type Drawn<T> = T extends fc.Arbitrary<infer Value> ? Value : never;

/** One value half of the time, and otherwise one of others. */
export function mostly<const T, const U>(
  usual: T,
  ...others: readonly U[]
): fc.Arbitrary<T | U> {
  return fc.oneof(fc.constant(usual), fc.constantFrom(...others));
}

export const API_KEY = "key-0123456789abcdef";

export type Operation = "create thread" | "create run" | "stream run";

/** A moment or a duration of any size that limits are about, in milliseconds. */
export const anySpan: fc.Arbitrary<number> = fc.oneof(
  fc.nat(3_000),
  fc.nat(20_000),
  fc.nat(130_000),
  fc.nat(1_200_000),
);

const anyShortSpan = fc.oneof(
  { weight: 6, arbitrary: fc.nat(2_000) },
  { weight: 1, arbitrary: anySpan },
  { weight: 1, arbitrary: fc.integer({ min: 550_000, max: 800_000 }) },
);

export const REFUSED = "tcp connect error: Connection refused (os error 111)";
const GO_AWAY = "connection error received: not a result of an error";
export const RESET =
  "connection error: Connection reset by peer (os error 104)";

export const BROKEN_BODY = "error reading a body from connection";

export const NO_ROUTE = "tcp connect error: No route to host (os error 113)";

export const UNREACHABLE: readonly string[] = [
  REFUSED,
  "dns error: failed to lookup address information: Name or service not known",
  NO_ROUTE,
  "tcp connect error: Connection timed out (os error 110)",
];

/** The connection was made, and the ClientHello was not answered. */
export const NOT_HEARD = "tls handshake eof";

/** Connections failed for several reasons at once, and which was whose is not known. */
export const AMBIGUOUS = "several reasons";

/** By these a request was certainly not taken. */
export const NOT_TAKEN: readonly string[] = [
  "connection closed",
  GO_AWAY,
  `${GO_AWAY} (b"max_age")`,
];

const BROKEN = [
  "connection closed before message completed",
  RESET,
  "stream error received: not a result of an error",
  "stream error received: refused stream before processing any application logic",
  // What a peer writes may look like anything.
  `connection error received: unspecific protocol error detected (b"client error (Connect): ${REFUSED}")`,
  `connection error received: unspecific protocol error detected (b"${GO_AWAY}")`,
  `connection error received: ${API_KEY}`,
];

const anyStatus = fc.constantFrom(
  ...[302, 400, 401, 403, 404, 408, 409, 410, 422, 425, 429, 429, 499],
  ...[500, 502, 503, 503, 504],
);

const GOOD = fc.record({ kind: fc.constant("good") });

const anyPostFault = fc.oneof(
  GOOD,
  fc.record({
    kind: fc.constant("answer"),
    status: anyStatus,
    retryAfter: fc.constantFrom("", "0", "3", "30", "100"), // seconds
    body: fc.constantFrom("json", "page", "key", "stalled"),
    // Whether the service runs the prompt all the same, where the status leaves that
    // open.
    isTaken: fc.boolean(),
  }),
  // The connection breaks after so many milliseconds, before the answer.
  fc.record({
    kind: fc.constant("broken"),
    text: fc.constantFrom(...NOT_TAKEN, ...BROKEN),
    ms: anyShortSpan,
    isTaken: fc.boolean(),
  }),
  // Nothing ever comes.
  fc.record({ kind: fc.constant("silent"), isTaken: fc.boolean() }),
  // The answer takes so much longer.
  fc.record({ kind: fc.constant("late"), ms: anyShortSpan }),
  // A 2xx answer to a `POST` that holds no usable id.
  fc.record({
    kind: fc.constant("unusable"),
    body: fc.constantFrom("{}", "[", "", "<html><title>Sign in</title>"),
  }),
);

/** A stream that ends after some of its events; `vanished`: nothing comes any more. */
const anyEnd = fc.record({
  kind: fc.constant("ends"),
  events: fc.nat(4),
  how: fc.constantFrom("reset", "closed", "vanished", "cut in a line"),
});

const anyStreamFault = fc.oneof(
  { weight: 1, arbitrary: anyPostFault.filter((f) => f.kind !== "unusable") },
  { weight: 2, arbitrary: anyEnd },
);

/** What becomes of one request. */
export type Fault = Drawn<typeof anyPostFault | typeof anyEnd>;

/** How a stream ends before its run does. */
export type StreamEnd = Drawn<typeof anyEnd>["how"];

/** What a run does, one after the other, each after so many milliseconds. */
const anyStep = fc.record({
  ms: anyShortSpan,
  what: mostly("progress", "comment", "failure", "unknown", "retry"),
});

export type Step = Drawn<typeof anyStep>;

/** A run; `ms` pass from the last step to the end. */
const anyRun = fc.record({
  steps: fc.array(anyStep, { maxLength: 6 }),
  ms: anyShortSpan,
  // `closes`: its stream ends without a word. `hangs`: nothing more comes.
  end: mostly("complete", "failed", "closes", "hangs"),
  isLong: fc.boolean(),
});

export type RunPlan = Drawn<typeof anyRun>;

/** Mostly good requests: a story in which everything fails at once tells little. */
const anyPostFaults = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Fault[]>([]) },
  { weight: 1, arbitrary: fc.array<Fault>(anyPostFault, { maxLength: 5 }) },
);

/**
 * What happens at a moment, for so many milliseconds. `stop`: the process is stopped.
 * `sleep`: the machine is, and has no network for 5 s more. `restart`: the service breaks
 * all connections and comes back. `outage`: no packet passes.
 */
const anyTrouble = fc.record({
  at: anySpan,
  ms: anySpan,
  kind: fc.constantFrom("stop", "sleep", "restart", "outage"),
});

export type Trouble = Drawn<typeof anyTrouble>;

export const anyService = fc.record({
  // How events are numbered; `some`: every other one; `own`: by each connection from 1.
  ids: fc.constantFrom(
    "none",
    "some",
    "from 0",
    "from 1",
    "random",
    "pairs",
    "own",
  ),
  isIdLast: fc.boolean(),
  // Which events it sends after `Last-Event-ID`.
  resumes: fc.constantFrom("after", "from start", "from last"),
  // Milliseconds between comments that keep a stream alive; 0 for none.
  pings: fc.constantFrom(0, 0, 1_000, 15_000, 100_000),
  runs: fc.array(anyRun, { minLength: 1, maxLength: 3 }),
  faults: fc.record({
    "create thread": anyPostFaults,
    "create run": anyPostFaults,
    "stream run": fc.array<Fault>(anyStreamFault, { maxLength: 8 }),
  }),
  troubles: fc.array(anyTrouble, { maxLength: 3 }),
});

export type ServicePlan = Drawn<typeof anyService>;

const anyLine = fc.oneof(
  GOOD,
  // It is not made, which shows after so many milliseconds.
  fc.record({
    kind: fc.constant("unreachable"),
    text: fc.constantFrom(...UNREACHABLE, REFUSED, REFUSED),
    ms: anyShortSpan,
  }),
  // It takes the first bytes, and never answers, or so many milliseconds later.
  fc.record({ kind: fc.constant("mute") }),
  fc.record({ kind: fc.constant("late"), ms: anyShortSpan }),
  // It takes the first bytes, and closes.
  fc.record({ kind: fc.constant("closed") }),
  // If it was opened ahead, and is not used by then.
  fc.record({
    kind: fc.constant("dies"),
    ms: anyShortSpan,
    how: fc.constantFrom("closed", "vanished", "spoken on"),
  }),
);

/** What becomes of one connection to the service. */
export type LineFault = Drawn<typeof anyLine>;

/** Sent by a process that connects, and is gone at once. */
export const GONE = "gone";

/** A login of SOCKS with another password than the relay's. */
const WRONG_LOGIN = "\x05\x02\x00\x02\x01\x05relay\x05wrong";

export const anyNetwork = fc.record({
  // With `https`, the program reaches the service through its own relay.
  scheme: fc.constantFrom("http", "https", "https"),
  // What happens to the first connections of every eight; the others work.
  lines: fc.array(anyLine, { maxLength: 5 }),
  // Whether a connection lasts after an answer.
  keepsAlive: fc.boolean(),
  // What this machine allows the program on 127.0.0.1; `silent`: packets are dropped.
  loopback: mostly(
    "usual",
    "forbidden",
    "no listener",
    "no descriptors",
    "refused",
    "silent",
  ),
  // What other processes send that connect to each relay before `fetch` does.
  strangers: fc.array(
    fc.constantFrom(GONE, "\x05", "GET / HTTP/1.1\r\n", WRONG_LOGIN),
    { maxLength: 3 },
  ),
  // Who listens where a relay has stopped listening.
  closedPort: fc.constantFrom("free", "silent", "garbage"),
});

export type NetworkPlan = Drawn<typeof anyNetwork>;
