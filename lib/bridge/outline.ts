import type { RefusedLine } from "../io.ts";

const MAX_BYTES = 8 * 1024;

const MAX_STRING_BYTES = 4 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;

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
        // Both the brace that opens a value and the one that closes it are outside of it.
        if (isClosing(byte)) this.#depth--;
        this.#keep(byte);
        if (isOpening(byte)) this.#depth++;
      }
    }
  }

  take(): string {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    this.#depth = 0;
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

function isOpening(byte: number): boolean {
  return byte === OPENING_BRACE || byte === OPENING_BRACKET;
}

function isClosing(byte: number): boolean {
  return byte === CLOSING_BRACE || byte === CLOSING_BRACKET;
}
