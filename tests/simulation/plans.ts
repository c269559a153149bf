/**
 * What the service and the network do in a story: everything that can go wrong, and from
 * what it is drawn.
 *
 * @module
 */

import fc from "fast-check";

export const API_KEY = "key-0123456789abcdef";

export type Operation = "create thread" | "create run" | "stream run";

/** What becomes of one request. */
export type Fault =
  | { readonly kind: "good" }
  /** The answer takes so many milliseconds longer. */
  | { readonly kind: "late"; readonly ms: number }
  | {
    readonly kind: "answer";
    readonly status: number;
    /** Seconds. */
    readonly retryAfter: number | undefined;
    readonly body: "json" | "page" | "key" | "stalled";
    /**
     * Whether the service runs the prompt all the same, where the status leaves that open
     * (see `isTakenWith`).
     */
    readonly isTaken: boolean;
  }
  /** No connection is made, which shows after so many milliseconds. */
  | { readonly kind: "unreachable"; readonly text: string; readonly ms: number }
  /** The connection breaks after so many milliseconds, before the answer. */
  | {
    readonly kind: "broken";
    readonly text: string;
    readonly ms: number;
    readonly isTaken: boolean;
  }
  /** Nothing ever comes. */
  | { readonly kind: "silent"; readonly isTaken: boolean }
  /** A 2xx answer to a `POST` that holds no usable id. */
  | { readonly kind: "unusable"; readonly body: string }
  /** A stream that ends after some of its events. */
  | {
    readonly kind: "ends";
    readonly events: number;
    readonly how: StreamEnd;
  };

/** How a stream ends before its run does; `vanished`: nothing comes any more. */
export type StreamEnd = "reset" | "closed" | "vanished" | "cut in a line";

/** What a run does, one after the other, each after so many milliseconds. */
export interface Step {
  readonly ms: number;
  readonly what: "progress" | "comment" | "failure" | "unknown" | "retry";
}

export interface RunPlan {
  readonly steps: readonly Step[];
  /** Milliseconds from the last step to the end. */
  readonly ms: number;
  /** `closes`: its stream ends without a word. `hangs`: nothing more comes. */
  readonly end: "complete" | "failed" | "closes" | "hangs";
  readonly isLong: boolean;
}

/** What happens at a moment, for so many milliseconds. */
export interface Trouble {
  readonly at: number;
  readonly ms: number;
  /**
   * `stop`: the process is stopped. `sleep`: the machine is, and has no network for 5 s
   * more. `restart`: the service breaks all connections and comes back. `amnesia`: it
   * comes back without its threads and runs. `outage`: no packet passes.
   */
  readonly kind: "stop" | "sleep" | "restart" | "amnesia" | "outage";
}

export interface ServicePlan {
  /** How events are numbered; `some`: every other one; `own`: by each connection from 1. */
  readonly ids:
    | "none"
    | "some"
    | "from 0"
    | "from 1"
    | "random"
    | "pairs"
    | "own";
  readonly isIdLast: boolean;
  /** What it sends after `Last-Event-ID`: a status, or events from one on. */
  readonly resumes: "after" | "from start" | "from last" | 204 | 404 | 410;
  /** Milliseconds between comments that keep a stream alive; 0 for none. */
  readonly pings: number;
  readonly runs: readonly RunPlan[];
  readonly faults: Readonly<Record<Operation, readonly Fault[]>>;
  readonly troubles: readonly Trouble[];
}

/** What becomes of one connection that the program makes to an `https:` service. */
export type LineFault =
  | { readonly kind: "good" }
  | { readonly kind: "unreachable"; readonly text: string; readonly ms: number }
  /** It takes the ClientHello, and never answers, or so many milliseconds later. */
  | { readonly kind: "mute" }
  | { readonly kind: "late"; readonly ms: number }
  /** It takes the ClientHello, and closes. */
  | { readonly kind: "closed" }
  /** If it was opened ahead, and is not used by then. */
  | {
    readonly kind: "dies";
    readonly ms: number;
    readonly how: "closed" | "vanished" | "spoken on";
  };

/** A service with `https:`, which the program reaches through its own relay. */
export interface HttpsPlan {
  /** The connections to the service, in their order; all further ones are good. */
  readonly lines: readonly LineFault[];
  /** Whether a connection lasts after an answer. */
  readonly keepsAlive: boolean;
  /** What this machine allows the program on 127.0.0.1. */
  readonly loopback:
    | "usual"
    | "forbidden"
    | "no listener"
    | "no descriptors"
    | "refused"
    | "dropped";
  /** Other processes that connect to each relay before `fetch` does. */
  readonly strangers: readonly (
    | "silent"
    | "gone"
    | "garbage"
    | "wrong login"
  )[];
  /** Who listens where a relay has stopped listening. */
  readonly closedPort: "free" | "silent" | "garbage";
}

/** A moment or a duration of any size that limits are about, in milliseconds. */
export const anySpan: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: 0, max: 3_000 }),
  fc.integer({ min: 0, max: 20_000 }),
  fc.integer({ min: 0, max: 130_000 }),
  fc.integer({ min: 0, max: 1_200_000 }),
);

const anyShortSpan = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 2_000 }) },
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

const anyPostFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constant<Fault>({ kind: "good" }),
  fc.record({
    kind: fc.constant("answer" as const),
    status: anyStatus,
    retryAfter: fc.constantFrom(undefined, 0, 3, 30, 100),
    body: fc.constantFrom("json", "page", "key", "stalled"),
    isTaken: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("unreachable" as const),
    text: fc.constantFrom(...UNREACHABLE, REFUSED, REFUSED),
    ms: anyShortSpan,
  }),
  fc.record({
    kind: fc.constant("broken" as const),
    text: fc.constantFrom(...NOT_TAKEN, ...BROKEN),
    ms: anyShortSpan,
    isTaken: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("silent" as const),
    isTaken: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("late" as const), ms: anyShortSpan }),
  fc.record({
    kind: fc.constant("unusable" as const),
    body: fc.constantFrom("{}", "[", "", "<html><title>Sign in</title>"),
  }),
);

const anyStreamFault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 1, arbitrary: anyPostFault.filter((f) => f.kind !== "unusable") },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("ends" as const),
      events: fc.nat(4),
      how: fc.constantFrom("reset", "closed", "vanished", "cut in a line"),
    }),
  },
);

const anyRun: fc.Arbitrary<RunPlan> = fc.record({
  steps: fc.array(
    fc.record({
      ms: anyShortSpan,
      what: fc.constantFrom(
        ...["progress", "progress", "progress", "progress"] as const,
        ...["comment", "failure", "unknown", "retry"] as const,
      ),
    }),
    { maxLength: 6 },
  ),
  ms: anyShortSpan,
  end: fc.constantFrom(
    ...["complete", "complete", "complete", "complete"] as const,
    ...["failed", "closes", "hangs"] as const,
  ),
  isLong: fc.boolean(),
});

/** Mostly good requests: a story in which everything fails at once tells little. */
function faults(fault: fc.Arbitrary<Fault>, maxLength: number) {
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant<readonly Fault[]>([]) },
    { weight: 1, arbitrary: fc.array(fault, { maxLength }) },
  );
}

export const anyService: fc.Arbitrary<ServicePlan> = fc.record({
  ids: fc.constantFrom(
    ...["none", "some", "from 0", "from 1", "random", "pairs", "own"] as const,
  ),
  isIdLast: fc.boolean(),
  resumes: fc.constantFrom(
    ...["after", "after", "from start", "from start", "from last"] as const,
    ...[204, 404, 410] as const,
  ),
  pings: fc.constantFrom(0, 0, 1_000, 15_000, 100_000),
  runs: fc.array(anyRun, { minLength: 1, maxLength: 3 }),
  faults: fc.record({
    "create thread": faults(anyPostFault, 5),
    "create run": faults(anyPostFault, 5),
    "stream run": fc.array(anyStreamFault, { maxLength: 8 }),
  }),
  troubles: fc.array(
    fc.record({
      at: anySpan,
      ms: anySpan,
      kind: fc.constantFrom(
        ...["stop", "stop", "sleep"] as const,
        ...["restart", "amnesia", "outage"] as const,
      ),
    }),
    { maxLength: 3 },
  ),
});

const anyLine: fc.Arbitrary<LineFault> = fc.oneof(
  fc.constant<LineFault>({ kind: "good" }),
  fc.record({
    kind: fc.constant("unreachable" as const),
    text: fc.constantFrom(...UNREACHABLE, REFUSED),
    ms: anyShortSpan,
  }),
  fc.constant<LineFault>({ kind: "mute" }),
  fc.record({ kind: fc.constant("late" as const), ms: anyShortSpan }),
  fc.constant<LineFault>({ kind: "closed" }),
  fc.record({
    kind: fc.constant("dies" as const),
    ms: anyShortSpan,
    how: fc.constantFrom("closed", "vanished", "spoken on"),
  }),
);

export const anyHttps: fc.Arbitrary<HttpsPlan> = fc.record({
  lines: fc.array(anyLine, { maxLength: 5 }),
  keepsAlive: fc.boolean(),
  loopback: fc.constantFrom(
    ...["usual", "usual", "usual", "usual", "usual"] as const,
    ...["forbidden", "no listener", "no descriptors"] as const,
    ...["refused", "dropped"] as const,
  ),
  strangers: fc.array(
    fc.constantFrom("silent", "gone", "garbage", "wrong login"),
    { maxLength: 3 },
  ),
  closedPort: fc.constantFrom("free", "silent", "garbage"),
});
