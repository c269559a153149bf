/**
 * Runs a prompt, and sends further requests: they show what happens to users whose
 * connection is lost, and to strangers without a valid key.
 *
 * @module
 */

import {
  type RemoteGateway,
  ServiceError,
  type TurnEvent,
} from "../gateway.ts";
import { startTimer, timeLeft, type TimeLimit } from "../io.ts";
import { StreamObservation } from "./stream_observation.ts";

/** How long the further requests are waited for after the run, in milliseconds. */
const AFTER_RUN = 1_000;

/** A request for a stream, and what it brought. */
export interface Request {
  readonly observation: StreamObservation;
  /** Why it failed; `undefined` if it brought the reply, or was dropped. */
  readonly error: ServiceError | undefined;
}

/** What the stream of a run was like. */
export interface ProbedRun extends Request {
  /** Resumed after the first event that has an id, while the run went on. */
  readonly resumed: Request | undefined;
  /** Resumed after the last event before the reply that has an id. */
  readonly resumedAtEnd: Request | undefined;
  /** The stream of a run that does not exist. */
  readonly unknownRun: Request;
  /** The stream of the run, with a wrong key. */
  readonly wrongKey: Request;
}

export interface ProbeRunOptions {
  readonly gateway: RemoteGateway;
  /** The same service, with a wrong key. */
  readonly stranger: RemoteGateway;
  readonly threadId: string;
  readonly prompt: string;
  readonly timeLimit: TimeLimit | undefined;
  /** Called when the run was accepted. */
  readonly onRun: (runId: string) => Promise<void>;
  /** Called for each line of the run's stream. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/**
 * Runs a prompt once, without retries. It ends at most a second after the run, or
 * with its time limit.
 *
 * @throws {ServiceError} If the run cannot be started, or its stream cannot be
 * opened.
 */
export async function probeRun(options: ProbeRunOptions): Promise<ProbedRun> {
  const { gateway, stranger, threadId, prompt, timeLimit } = options;
  let runId = "";
  let resumed: Promise<Request> | undefined;
  const over = new AbortController();
  const request = async (
    { to = gateway, id = runId, lastEventId, firstOnly = false }: {
      readonly to?: RemoteGateway;
      readonly id?: string;
      readonly lastEventId?: string;
      /** Whether only its first event is read: more would only load the service. */
      readonly firstOnly?: boolean;
    },
  ): Promise<Request> => {
    const observation = new StreamObservation();
    const error = await readAll(
      to.followRun({ threadId, runId: id }, {
        ...{ observer: observation, once: true, lastEventId },
        signal: over.signal,
      }),
      () => firstOnly && observation.remembered.length > 0,
    );
    observation.end();
    return { observation, error };
  };
  const observation = new StreamObservation({
    onCursor: (lastEventId) => {
      resumed = request({ lastEventId, firstOnly: true });
    },
    onLine: options.onLine,
  });
  const watched = { observer: observation, once: true, timeLimit };
  const turn = gateway.runTurn(threadId, prompt, watched);
  const error = await readAll(turn, async ([event]) => {
    if (event?.type !== "run") return;
    runId = event.runId;
    await options.onRun(runId);
    observation.begin();
  });
  observation.end();
  if (error !== undefined && observation.headers === undefined) throw error;

  const left = timeLimit === undefined ? Infinity : timeLeft(timeLimit);
  const stop = startTimer(Math.min(left, AFTER_RUN), () => over.abort());
  const lastEventId = observation.position?.lastEventId;
  const [resumedThen, resumedAtEnd, unknownRun, wrongKey] = await Promise.all([
    resumed,
    lastEventId === undefined ? undefined : request({ lastEventId }),
    request({ id: crypto.randomUUID() }),
    request({ to: stranger }),
  ]);
  stop();
  const further = { resumed: resumedThen, resumedAtEnd, unknownRun, wrongKey };
  return { observation, error, ...further };
}

/**
 * Reads events to their end. Returns the error, if they end with one.
 *
 * @param onBatch Called with each batch. If it returns `true`, the rest is dropped.
 */
async function readAll(
  batches: AsyncIterable<readonly TurnEvent[]>,
  onBatch: (batch: readonly TurnEvent[]) => boolean | Promise<void>,
): Promise<ServiceError | undefined> {
  try {
    for await (const batch of batches) if (await onBatch(batch)) break;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    if (!(error instanceof DOMException)) throw error; // else it was dropped
  }
  return undefined;
}

/** What a request got instead of the events that it should have got. */
export function outcomeOf({ observation, error }: Request): string {
  const status = error?.failure.status;
  if (status !== undefined) return `was answered with ${status}`;
  if (hasFailed(error)) return "was told that the run failed";
  if (observation.count > 0) return "got other events";
  return error ?? observation.headers
    ? "got no event"
    : "got no answer in time";
}

/** Whether the service said that the run failed. */
export function hasFailed(error: ServiceError | undefined): boolean {
  return error?.failure.fate === "failed";
}
