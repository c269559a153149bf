/**
 * A line of text with attributes: bold, underlined, coloured.
 *
 * @module
 */

/** Attributes of a part of a {@linkcode SgrLine}; they combine with `|`. */
export const BOLD = 1;
export const DIM = 2;
export const ITALIC = 4;
export const UNDERLINE = 8;
export const GREEN = 16;
export const CYAN = 32;
export const STRIKE = 64;
export const RED = 128;

/** The SGR parameter of each attribute, in the order of their bits. */
const SGR_PARAMETERS = [1, 2, 3, 4, 32, 36, 9, 31];

/**
 * The sequence for a combination of attributes. It begins with a reset, so that no
 * attribute has to be turned off by a code of its own.
 */
function sequenceOf(attributes: number): string {
  const isOn = (_: number, bit: number) => (attributes & 1 << bit) !== 0;
  return `\x1b[${[0, ...SGR_PARAMETERS.filter(isOn)].join(";")}m`;
}

/**
 * A line of text that gets its attributes from left to right. Only SGR sequences
 * are added to it, and none is in force at its end.
 */
export class SgrLine {
  readonly #source: string;
  #styled = "";
  #position = 0;
  #attributes = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Sets the attributes of the text from the end of the last call up to `end`. */
  to(end: number, attributes: number): void {
    if (end <= this.#position) return;
    this.#set(attributes);
    this.#styled += this.#source.slice(this.#position, end);
    this.#position = end;
  }

  /** Returns the whole line; the rest of the text gets no attributes. */
  finish(): string {
    this.to(this.#source.length, 0);
    this.#set(0);
    return this.#styled;
  }

  #set(attributes: number): void {
    if (attributes === this.#attributes) return;
    this.#attributes = attributes;
    this.#styled += sequenceOf(attributes);
  }
}
