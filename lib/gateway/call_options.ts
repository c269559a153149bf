/**
 * What a caller of the gateway can ask of one call.
 *
 * @module
 */

import type { Operation } from "./service_error.ts";

/** Options of one call. */
export interface CallOptions {
  /** Drops the call when it is aborted. The service goes on with a run that it has begun. */
  readonly signal?: AbortSignal;
  /** Called before each pause after which a request is repeated. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /** Named in each `Exchange` of the call. */
  readonly sessionId?: string | undefined;
}

/** A pause before a request is repeated. */
export interface Wait {
  readonly operation: Operation;
  /** Why, in a few words for a status line: "service busy", "connection lost". */
  readonly reason: string;
  readonly milliseconds: number;
}
