import type { Gateway } from "../gateway.ts";
import type { Log } from "../io.ts";
import type { EditorOutput } from "./editor_output.ts";

/** What the parts of a bridge share. */
export interface BridgeContext {
  readonly output: EditorOutput;
  readonly gateway: Gateway;
  /** Never gets the key, a prompt or a reply. */
  readonly log?: Log | undefined;
}
