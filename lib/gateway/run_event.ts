/**
 * The events of a run's stream.
 *
 * @module
 */

/** The run advances through a node (interface 6). */
export interface ProgressEvent {
  readonly event: "progress";
  /** The node's name; empty if the service sent none. */
  readonly node: string;
  /** The node's status; empty if the service sent none. */
  readonly status: string;
}

/** The run is finished (interface 6). */
export interface CompleteEvent {
  readonly event: "complete";
  /** The reply text, selected as in interface 2. Never empty. */
  readonly reply: string;
}

/** An event of a run's stream. */
export type RunEvent = ProgressEvent | CompleteEvent;
