import { closeQuietly, writeBytes } from "./bytes.ts";

/** Room for the first bytes of the service: they are kept until they are passed on. */
const FIRST_BYTES = 4 * 1024;

/** A connection on which the service has sent something. */
export interface AnsweredConnection {
  readonly connection: Deno.Conn;
  readonly firstBytes: Uint8Array;
  readonly source: UnusedConnection;
}

/** A connection to the service on which nothing was sent. */
export class UnusedConnection {
  readonly openedAt = performance.now();
  /** The first bytes of the service; rejects if it cannot be reached, or sends none. */
  readonly firstBytes: Promise<Uint8Array>;
  /** Resolves when the connection is made. */
  readonly opened: Promise<Deno.Conn>;
  readonly #opening = new AbortController();

  constructor(connect: (signal: AbortSignal) => Promise<Deno.Conn>) {
    this.opened = connect(this.#opening.signal);
    this.firstBytes = this.#readFirst();
    this.firstBytes.catch(() => {}); // Callers may not have asked for it yet.
  }

  /**
   * Sends a message, and waits for the first bytes of an answer.
   *
   * @param signal Aborting it closes the connection, also after the answer.
   */
  async ask(
    message: Uint8Array,
    signal: AbortSignal,
  ): Promise<AnsweredConnection> {
    signal.addEventListener("abort", () => this.close());
    const connection = await this.opened;
    await writeBytes(connection, message);
    const firstBytes = await this.firstBytes;
    return { connection, firstBytes, source: this };
  }

  close(): void {
    this.#opening.abort();
    this.opened.then(closeQuietly, () => {});
  }

  async #readFirst(): Promise<Uint8Array> {
    const connection = await this.opened;
    const buffer = new Uint8Array(FIRST_BYTES);
    const count = await connection.read(buffer);
    if (count === null) throw new Deno.errors.UnexpectedEof();
    return buffer.subarray(0, count);
  }
}
