import type { Gateway } from "../gateway.ts";
import type { Log } from "../io.ts";
import type { Outgoing } from "./json_rpc.ts";

export interface Peer {
  send(message: Outgoing): void;
  /** Sends texts of whole lines as fast as the editor reads, until the signal is aborted. */
  sendInTurn(texts: Iterable<string>, signal?: AbortSignal): Promise<void>;
}

export interface BridgeOptions {
  readonly peer: Peer;
  readonly gateway: Gateway;
  /** Never gets the key, a prompt or a reply. */
  readonly log?: Log | undefined;
}
