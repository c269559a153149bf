/**
 * What `--verbose` writes to standard error: messages and remote calls, never a
 * key, a prompt or a reply.
 *
 * @module
 */

import type { Answered } from "./methods.ts";
import type { RpcError } from "./json_rpc.ts";
import { LineWriter } from "../line_writer.ts";
import { plainLine } from "../plain_text.ts";
import type { Exchange } from "../gateway.ts";
import { ServiceError } from "../gateway.ts";
import type { ByteSink } from "../standard_streams.ts";
import { VERSION } from "../version.ts";

/** How many characters may wait for a reader before lines are dropped. */
const BACKLOG = 1024 * 1024;

/** How long {@linkcode VerboseLog.flush} waits for a reader, in milliseconds. */
const FLUSH_LIMIT = 1000;

/** How much of what an editor may choose freely stands in a line. */
const MAX_LENGTH = 100;

/** A log that never holds up what it is about. Each line begins with the time. */
export class VerboseLog {
  readonly #output: LineWriter;

  /** @param sink Where the lines go. */
  constructor(sink: ByteSink) {
    this.#output = new LineWriter(sink);
    this.#write(
      `version ${VERSION}, deno ${Deno.version.deno}, ${Deno.build.target}`,
    );
  }

  /** Logs a message of the editor: what it was, and how it was answered. */
  answered(answered: Answered): void {
    const { id, method, sessionId, result, error, milliseconds } = answered;
    const message = method === undefined ? "invalid line" : cut(method);
    const session = sessionId === undefined ? "" : ` session=${cut(sessionId)}`;
    if (id === undefined) {
      this.#write(`${message}${session}: notification`);
      return;
    }
    const outcome = error === undefined
      ? cut(JSON.stringify(result))
      : `error ${error.code}, ${reason(error)}`;
    this.#write(
      `${message} id=${
        cut(typeof id === "bigint" ? `${id}` : JSON.stringify(id))
      }${session}: ${outcome}, ${milliseconds.toFixed(0)} ms`,
    );
  }

  /** Logs a remote call. */
  exchange({ operation, status, milliseconds }: Exchange): void {
    this.#write(
      `${operation}: ${status ?? "no answer"}, ${milliseconds.toFixed(0)} ms`,
    );
  }

  /** Resolves when the lines are written or cannot be, after a second at most. */
  async flush(): Promise<void> {
    await this.#output.flushWithin(FLUSH_LIMIT);
  }

  #write(text: string): void {
    if (this.#output.queued > BACKLOG) return;
    const time = new Date().toISOString();
    this.#output.write(`agent-gateway ${time} ${plainLine(text)}\n`);
  }
}

function cut(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
}

/** Why a request failed, without the service's own words: a prompt may stand in them. */
function reason({ cause, message }: RpcError): string {
  return cause instanceof ServiceError && cause.status !== undefined
    ? `${cause.operation}: ${cause.status}`
    : message;
}
