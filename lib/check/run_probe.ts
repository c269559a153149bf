/**
 * Runs a prompt, and sends the further requests that tell what happens to users
 * whose connection is lost, and to strangers.
 *
 * @module
 */

import {
  type RemoteGateway,
  ServiceError,
  type TimeLimit,
  type TurnEvent,
} from "../gateway.ts";
import { startTimer } from "../io.ts";
import { StreamObservation } from "./stream_observation.ts";

/** How long the further requests are waited for after the run, in milliseconds. */
const AFTER_RUN = 1_000;

/** What another connection to the stream of the run brought. */
export interface Request {
  readonly observation: StreamObservation;
  /** Why it ended before the reply. */
  readonly error: ServiceError | undefined;
  /** Whether it was not over a second after the run. */
  readonly isLate: boolean;
}

/** What the stream of a run was like. */
export interface ProbedRun {
  readonly observation: StreamObservation;
  /** Why it ended before the reply. */
  readonly error: ServiceError | undefined;
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
}

/**
 * Runs a prompt once, without retries. It ends at most a second after the run.
 *
 * @throws {ServiceError} If the run cannot be started, or its stream cannot be
 * opened.
 */
export async function probeRun(options: ProbeRunOptions): Promise<ProbedRun> {
  const { gateway, stranger, threadId, prompt, timeLimit, onRun } = options;
  const over = new AbortController();
  const request = async (
    to: RemoteGateway,
    run: { readonly runId: string; readonly lastEventId?: string | undefined },
  ): Promise<Request> => {
    const observation = new StreamObservation();
    const error = await readAll(to.followRun({ threadId, runId: run.runId }, {
      observer: observation,
      once: true,
      lastEventId: run.lastEventId,
      signal: over.signal,
    }));
    return { observation, error, isLate: over.signal.aborted };
  };
  let runId = "";
  let resumed: Promise<Request> | undefined;
  const observation = new StreamObservation((lastEventId) => {
    resumed = request(gateway, { runId, lastEventId });
  });
  const turn = gateway.runTurn(threadId, prompt, {
    timeLimit,
    observer: observation,
    once: true,
  });
  const error = await readAll(turn, async (event) => {
    if (event.type !== "run") return;
    runId = event.runId;
    await onRun(runId);
    observation.begin();
  });
  observation.end();
  if (error !== undefined && observation.headers === undefined) throw error;

  const stop = startTimer(AFTER_RUN, () => over.abort());
  const { lastEventId } = observation;
  const requests = await Promise.all([
    resumed,
    lastEventId === undefined
      ? undefined
      : request(gateway, { runId, lastEventId }),
    request(gateway, { runId: crypto.randomUUID() }),
    request(stranger, { runId }),
  ]);
  stop();
  const [resumedThen, resumedAtEnd, unknownRun, wrongKey] = requests;
  return {
    ...{ observation, error, resumedAtEnd, unknownRun, wrongKey },
    resumed: resumedThen,
  };
}

/** Reads events to their end. Returns the error, if they end with one. */
async function readAll(
  batches: AsyncIterable<readonly TurnEvent[]>,
  onEvent: (event: TurnEvent) => void | Promise<void> = () => {},
): Promise<ServiceError | undefined> {
  try {
    for await (const batch of batches) {
      for (const event of batch) await onEvent(event);
    }
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    if (error instanceof DOMException) return undefined; // dropped
    throw error;
  }
}
