/**
 * What a run's event stream tells.
 *
 * @module
 */

/** The run advances through a node (interface 6). */
export interface ProgressEvent {
  readonly event: "progress";
  /** The node's name; empty if the service gave none. */
  readonly node: string;
  /** What the node is doing; empty if the service gave nothing. */
  readonly status: string;
}

/** The run is finished (interface 6). */
export interface CompleteEvent {
  readonly event: "complete";
  /** The reply text, selected as in interface 2. Never empty. */
  readonly reply: string;
}

/** What a run's stream tells. */
export type RunEvent = ProgressEvent | CompleteEvent;
