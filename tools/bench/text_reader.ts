/** Finds texts in a stream of UTF-8, one after the other. */
export class TextReader {
  readonly #chunks: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #unread = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#chunks = stream.getReader();
  }

  /**
   * Reads up to the end of a text.
   *
   * @throws If the stream ends before it.
   */
  async find(text: string): Promise<void> {
    for (;;) {
      const at = this.#unread.indexOf(text);
      if (at >= 0) {
        this.#unread = this.#unread.slice(at + text.length);
        return;
      }
      const kept = Math.max(this.#unread.length - text.length + 1, 0);
      const { value } = await this.#chunks.read();
      if (value === undefined) {
        throw new Error(`The output ended: ${this.#unread.trim().slice(-200)}`);
      }
      this.#unread = this.#unread.slice(kept) +
        this.#decoder.decode(value, { stream: true });
    }
  }

  /** Reads to the end of the stream. */
  async readToEnd(): Promise<void> {
    while (!(await this.#chunks.read()).done);
  }
}
