import type { Gateway } from "../gateway.ts";
import type { Log } from "../io.ts";
import type { Outgoing } from "./json_rpc.ts";

export interface Peer {
  send(message: Outgoing): void;
  /**
   * Sends a line as soon as there is room for it, unless the signal is aborted then.
   * Returns whether it was sent.
   */
  sendInTurn(line: string, signal?: AbortSignal): Promise<boolean>;
}

export interface BridgeOptions {
  readonly peer: Peer;
  readonly gateway: Gateway;
  /** Never gets the key, a prompt or a reply. */
  readonly log?: Log | undefined;
}
