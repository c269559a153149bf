import { LineWriter, pause } from "../io.ts";
import { escapeLineEnds, jsonLine } from "../text.ts";
import { clientIn } from "./capabilities.ts";
import { ErrorCode, type RequestId, type RpcError } from "./json_rpc.ts";
import type { SessionUpdate } from "./session_updates.ts";

/**
 * How long a response keeps its distance from the updates before it, in milliseconds:
 * this, and a part for each of them. The response resolves a promise in some client
 * libraries before they have handled the updates that came just before it, so that users
 * miss the reply. Measured with 10 ms: 19 of 30 replies after 5,000 updates (the Python
 * library, 0.7.0), 6 of 990 after three (acp-factory); with 30 ms there, 0 of 690.
 */
export const DISTANCE = 30;
export const DISTANCE_PER_UPDATE = 0.05;
export const MAX_DISTANCE = 1000;

/** The version of JSON-RPC, a member of every message. */
const jsonrpc = "2.0";

/**
 * Everything that the bridge writes to standard output goes through here: one message a
 * line, in a form that the client can take.
 */
export class ClientOutput extends LineWriter {
  /** The client's last `initialize`. */
  client = clientIn(undefined);

  respond(id: RequestId, result: unknown): void {
    this.send({ id, result });
  }

  /** Zed shows `data` of some errors as JSON, after the same words. */
  fail(id: RequestId, { code, message, details }: RpcError): void {
    const isShownTwice = this.client.isZed &&
      code === ErrorCode.cannotOpenSession;
    const data = details && !isShownTwice ? { details } : undefined;
    this.send({ id, error: { code, message, data } });
  }

  /** Sends a message, which gets its `jsonrpc` here. */
  send(message: object): void {
    this.write(jsonLine({ jsonrpc, ...message }, { escape: escapeLineEnds }));
  }

  /** Sends an update. A caller that can wait does so while the output is full. */
  update(sessionId: string, update: SessionUpdate): void {
    const params = { sessionId, update };
    const method = "session/update";
    const text = update.content?.text;
    const options = { text, escape: escapeLineEnds };
    this.gather(jsonLine({ jsonrpc, method, params }, options));
  }

  /** Resolves when a response may follow this many updates, which have been sent. */
  async keepDistance(updates: number): Promise<void> {
    if (updates === 0) return;
    await this.written();
    const distance = DISTANCE + updates * DISTANCE_PER_UPDATE;
    await pause(Math.min(distance, MAX_DISTANCE));
  }
}
