import type { RefusedLine } from "../io.ts";

const MAX_BYTES = 8 * 1024;

const MAX_STRING_BYTES = 4 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** The bit in which brackets and braces differ. */
const BRACE_BIT = 0x20;

/**
 * What a line of JSON holds at its top level: the line without what is nested deeper,
 * and with `{}` for each long string. That of `{"id":1,"params":{"id":2}}` is
 * `{"id":1,"params":{}}`. If it is too large or cut, it is not JSON.
 */
export class Outline implements RefusedLine {
  readonly #bytes = new Uint8Array(MAX_BYTES);
  #length = 0;
  #depth = 0;
  /** Where the string begins that is being read; `undefined` outside of strings. */
  #string: number | undefined;
  #isEscaped = false;

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#string !== undefined) {
        this.#addToString(byte, this.#string);
      } else if (byte === QUOTE) {
        this.#string = this.#length;
        this.#keep(byte);
      } else {
        if ((byte | BRACE_BIT) === CLOSING_BRACE) this.#depth--;
        this.#keep(byte);
        if ((byte | BRACE_BIT) === OPENING_BRACE) this.#depth++;
      }
    }
  }

  take(): string {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#length = this.#depth = 0;
    this.#string = undefined;
    this.#isEscaped = false;
    return new TextDecoder().decode(bytes);
  }

  #addToString(byte: number, start: number): void {
    const isLong = this.#length - start >= MAX_STRING_BYTES;
    if (!isLong) this.#keep(byte);
    if (this.#isEscaped) {
      this.#isEscaped = false;
    } else if (byte === BACKSLASH) {
      this.#isEscaped = true;
    } else if (byte === QUOTE) {
      this.#string = undefined;
      if (!isLong) return;
      this.#length = start;
      this.#keep(OPENING_BRACE);
      this.#keep(CLOSING_BRACE);
    }
  }

  #keep(byte: number): void {
    if (this.#depth <= 1 && this.#length < MAX_BYTES) {
      this.#bytes[this.#length++] = byte;
    }
  }
}
