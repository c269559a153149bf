import {
  type CallEvents,
  type CallOptions,
  type CreationEvent,
  RemoteGateway,
  type RemoteGatewayOptions,
  ServiceError,
  type TurnEvent,
  type TurnOptions,
} from "../../lib/gateway.ts";
import { TIMEOUTS } from "../../lib/gateway/timeouts.ts";
import {
  type Behaviour,
  complete,
  events,
  json,
} from "./service/behaviours.ts";
import type { Ending, Operation, RecordedRequest } from "./service/exchange.ts";
import { ReferenceService, TEST_KEY } from "./service/service.ts";
import { serviceId } from "./texts.ts";
import { soon } from "./waits.ts";
import { unchanged } from "../../lib/text.ts";

/** How the requests of an operation are answered; the last answer is for all others, too. */
export type Answers = Readonly<
  Partial<Record<Operation, readonly Behaviour[]>>
>;

const GOOD: Answers = {
  "create thread": [json({ thread_id: "t" })],
  "create run": [json({ run_id: "r" })],
  "stream": [events([complete("Done.")])],
};

/** A service whose threads are all `t`, and whose runs are all `r` and complete. */
export function startService(answers: Answers = {}): ReferenceService {
  const service = ReferenceService.start();
  for (const operation of ["create thread", "create run", "stream"] as const) {
    const behaviours = answers[operation] ?? GOOD[operation] ?? [];
    for (const [index, behaviour] of behaviours.entries()) {
      const isLast = index === behaviours.length - 1;
      service.misbehave(operation, behaviour, isLast ? Infinity : 1);
    }
  }
  return service;
}

/** Creates a thread, and returns its id. */
export async function createThread(
  gateway: RemoteGateway,
  options?: CallOptions,
): Promise<string> {
  const events = await Array.fromAsync(gateway.createThread(options));
  const last = events.at(-1);
  return last?.type === "thread" ? last.threadId : `no thread, but ${last}`;
}

/** The turn of a prompt on the thread `t`. */
export function turnOf(
  gateway: RemoteGateway,
  options?: TurnOptions,
): CallEvents<TurnEvent> {
  return gateway.runTurn(serviceId("t"), unchanged("hello"), options);
}

/** The outcome of a turn. */
export interface Turn {
  /** What was told, in order: nodes, the reply, reasons of pauses, and the error. */
  readonly told: readonly string[];
  /** The error of a turn that failed. */
  readonly error: ServiceError | undefined;
  /** The requests that the service got, and how its answers ended. */
  readonly requests: readonly RecordedRequest[];
  readonly endings: readonly Ending[];
}

/**
 * Creates a thread and runs a turn on it, with a service that answers so.
 *
 * @param onEvent Called with each event of the turn.
 */
export async function takeTurn(
  answers: Answers,
  timeouts: Partial<typeof TIMEOUTS> = {},
  onEvent: (event: CreationEvent | TurnEvent) => void = () => {},
): Promise<Turn> {
  await using service = startService(answers);
  await using gateway = gatewayTo(service, timeouts);
  const told: string[] = [];
  let error: ServiceError | undefined;
  const controller = new AbortController();
  const { signal } = controller;
  const events = async function* () {
    yield* gateway.createThread({ signal });
    yield* turnOf(gateway, { signal });
  };
  const turn = async () => {
    for await (const event of events()) {
      onEvent(event);
      if (event.type === "wait") told.push(`(${event.reason})`);
      if (event.type === "progress") told.push(event.node);
      if (event.type === "reply") told.push(event.text);
    }
  };
  try {
    await soon(turn(), () => `the end of a turn after ${told.join(" ")}`);
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause;
    error = cause;
    told.push(messageOf(error));
  } finally {
    controller.abort(); // A turn that does not end would keep the test alive.
  }
  const { requests } = service;
  const endings = await Promise.all(requests.map(({ ended }) => ended));
  return { told, error, requests, endings };
}

/** The message of an error, without the id of its request, which is drawn by lot. */
export function messageOf({ message }: ServiceError): string {
  return message.replace(/, request [-\da-f]{36}/, "");
}

/** The requests of an operation. */
export function requestsOf(
  operation: Operation,
  requests: readonly RecordedRequest[],
): readonly RecordedRequest[] {
  return requests.filter((request) => request.operation === operation);
}

/** Longer than any test, and than any time by which a test advances the clock. */
const NEVER = 36_000_000;

/**
 * Timeouts for tests: retries follow at once, and no timeout expires on a slow
 * machine. A test sets the timeout that it tests.
 */
const QUICK_TIMEOUTS: typeof TIMEOUTS = {
  answer: NEVER,
  errorText: NEVER,
  idle: NEVER,
  drain: NEVER,
  retry: [1, 1, 1],
  reopen: [0, 1, 1],
  outOfFiles: [1, 1, 1, 1],
  reconnect: [1],
  lost: 1,
  lastAttempt: 60_000,
  outage: 120_000,
  resume: 600_000,
  steady: 5_000,
  retryAfter: 30_000,
};

/**
 * A gateway to a service. From here on, the timeouts of the test's module are
 * {@linkcode QUICK_TIMEOUTS} unless others are given.
 */
export function gatewayTo(
  service: { readonly url: string },
  timeouts: Partial<typeof TIMEOUTS> = {},
  options: Pick<RemoteGatewayOptions, "log"> = {},
): RemoteGateway {
  Object.assign(TIMEOUTS, QUICK_TIMEOUTS, timeouts);
  return new RemoteGateway({
    ...options,
    baseUrl: service.url,
    apiKey: TEST_KEY,
  });
}
