import type { Problem } from "./failure/retry_policy.ts";

export interface WaitEvent {
  readonly type: "wait";
  readonly reason: Problem;
  readonly milliseconds: number;
  /** The status of the answer before the pause, if there was one. */
  readonly status?: number | undefined;
}

export interface ThreadEvent {
  readonly type: "thread";
  readonly threadId: string;
}

export interface RunEvent {
  readonly type: "run";
  readonly runId: string;
}

export interface ProgressEvent {
  readonly type: "progress";
  /** The node's name; empty if the service sent none. */
  readonly node: string;
  /** The node's status; empty if the service sent none. */
  readonly status: string;
}

export interface ReplyEvent {
  readonly type: "reply";
  /** The reply, selected as in interface 2. Never empty. */
  readonly text: string;
  /** Whether the service gave no reply: the text is the completion notice. */
  readonly isNotice: boolean;
  /** What came in the run's stream and was not understood, if anything was. */
  readonly notUnderstood?: string;
  /** With a notice, the same in a sentence for users. */
  readonly note?: string;
}

/** What a run's stream yields: `reply` comes last. */
export type StreamEvent = ProgressEvent | ReplyEvent;

/** What a run's stream yields before the reply. */
export type StepEvent = Exclude<StreamEvent, ReplyEvent>;

/** What a turn yields: `reply` comes last. */
export type TurnEvent = WaitEvent | RunEvent | StreamEvent;

/** What the creation of a thread yields: `thread` comes last. */
export type CreationEvent = WaitEvent | ThreadEvent;
