/**
 * What the bridge is connected to: the editor, the service and the log.
 *
 * @module
 */

import type { Gateway } from "../gateway.ts";
import type { Outgoing } from "./json_rpc.ts";
import type { BridgeLog } from "./verbose_log.ts";

/** How the bridge reaches the editor. */
export interface Peer {
  /** Sends a message at once. */
  send(message: Outgoing): void;
  /**
   * Sends texts of whole lines, each as soon as the editor has read enough of the
   * earlier ones, until the signal is aborted.
   */
  sendInTurn(texts: Iterable<string>, signal?: AbortSignal): Promise<void>;
}

export interface BridgeOptions {
  readonly peer: Peer;
  readonly gateway: Gateway;
  readonly log?: BridgeLog | undefined;
}
