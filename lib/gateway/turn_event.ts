import type { Redacted, ServiceId, Unchanged } from "../text.ts";
import type { Problem } from "./failure/retry_policy.ts";

export interface WaitEvent {
  readonly type: "wait";
  readonly reason: Problem;
  readonly milliseconds: number;
  /** The status of the answer before the pause, if there was one. */
  readonly status?: number | undefined;
}

interface ThreadEvent {
  readonly type: "thread";
  readonly threadId: ServiceId;
}

interface RunEvent {
  readonly type: "run";
  readonly runId: ServiceId;
}

export interface ProgressEvent {
  readonly type: "progress";
  /** The node's name; empty if the service sent none. */
  readonly node: Redacted;
  /** The node's status; empty if the service sent none. */
  readonly status: Redacted;
}

export interface ReplyEvent {
  readonly type: "reply";
  /** The reply, selected as in interface 2. Never empty. */
  readonly text: Unchanged;
  /** Whether the service gave no reply: the text is the completion notice. */
  readonly isNotice: boolean;
  /** What came in the run's stream and was not understood, if anything was. */
  readonly notUnderstood?: Redacted;
  /** With a notice, the same in a sentence for users. */
  readonly note?: Redacted;
}

/** What a run's stream yields: `reply` comes last. */
export type StreamEvent = ProgressEvent | ReplyEvent;

/** What a turn yields: `reply` comes last. */
export type TurnEvent = WaitEvent | RunEvent | StreamEvent;

/** What the creation of a thread yields: `thread` comes last. */
export type CreationEvent = WaitEvent | ThreadEvent;
