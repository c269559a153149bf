/**
 * Options of one call to the gateway.
 *
 * @module
 */

import type { Operation } from "./service_error.ts";

/** Options of one call. */
export interface CallOptions {
  /** Aborting it drops the call. The service continues a run that it has started. */
  readonly signal?: AbortSignal;
  /** Called before each pause before a retry. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /** Copied into each `Exchange` of the call. */
  readonly sessionId?: string | undefined;
}

/** A pause before a request is repeated. */
export interface Wait {
  readonly operation: Operation;
  /** Why, in a few words for a status line: "service busy", "connection lost". */
  readonly reason: string;
  readonly milliseconds: number;
}
