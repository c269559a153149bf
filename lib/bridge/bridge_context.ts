import type { Gateway } from "../gateway.ts";
import type { Log } from "../io.ts";
import type { ClientOutput } from "./client_output.ts";
import type { ClientRequests } from "./client_requests.ts";

/** What the parts of a bridge share. */
export interface BridgeContext {
  readonly output: ClientOutput;
  readonly requests: ClientRequests;
  readonly gateway: Gateway;
  /** Never gets the key, a prompt or a reply. */
  readonly log?: Log | undefined;
}
