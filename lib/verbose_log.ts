/**
 * What `--verbose` writes to standard error: requests and remote calls, never a
 * key, a prompt or a reply.
 *
 * @module
 */

import type { Answered } from "./bridge.ts";
import { LineWriter } from "./line_writer.ts";
import { plainLine } from "./plain_text.ts";
import type { Exchange } from "./service_client.ts";

/** How many characters may wait for a reader before lines are dropped. */
const BACKLOG = 1024 * 1024;

/** A log that never holds up what it is about. */
export class VerboseLog {
  readonly #output: LineWriter;

  /** @param stream Where the lines go. */
  constructor(stream: WritableStream<Uint8Array>) {
    this.#output = new LineWriter(stream);
  }

  /** Logs a request that was answered. */
  answered({ id, method, milliseconds, code }: Answered): void {
    const outcome = code === undefined ? "answered" : `error ${code}`;
    this.#write(
      `${method.slice(0, 100)} id=${
        JSON.stringify(id).slice(0, 100)
      }: ${outcome}`,
      milliseconds,
    );
  }

  /** Logs a remote call. */
  exchange({ operation, status, milliseconds }: Exchange): void {
    this.#write(`${operation}: ${status ?? "no answer"}`, milliseconds);
  }

  /** Resolves when the lines are written, or cannot be. */
  async flush(): Promise<void> {
    await this.#output.flush().catch(() => {});
  }

  #write(text: string, milliseconds: number): void {
    if (this.#output.queued > BACKLOG) return;
    this.#output.write(
      `agent-gateway: ${plainLine(text)} in ${milliseconds.toFixed(0)} ms\n`,
    );
  }
}
