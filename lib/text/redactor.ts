import { shorten, wholeCharacters } from "./foreign_text.ts";
import { escapeControls } from "./json.ts";
import { plainLine, plainText } from "./plain_text.ts";
import type { Redacted } from "./safe_text.ts";

/** The most UTF-16 code units that are shown by default. */
const MAX_LENGTH = 500;

/** The most UTF-16 code units of a word in quotes. */
const MAX_QUOTED = 200;

/** The most of a text that is used, in bytes of UTF-8. */
export const MAX_SHOWN_BYTES = 16 * 1024;

/** The shortest piece of a key that is left out, in characters. */
const PIECE = 12;

/** The shortest key that is looked for, in characters: shorter ones are common words. */
const MIN_KEY = 6;

/** Stands for what is left out. */
const LEFT_OUT = "...";

/**
 * Makes foreign texts safe to show: of whole characters, at most 16 KiB of UTF-8, and
 * without pieces of the API key.
 *
 * A piece has twelve or more characters in a row, in any case, and becomes "...". Names
 * that only begin like a key have fewer in common with it: "sk-proj-" has eight. A
 * shorter key is left out as a whole, unless it has fewer than six characters. This
 * guards against echoes, even of a key that was cut; a service that wants to show the
 * key knows it.
 */
export class Redactor {
  /** The key in lower case. */
  readonly #key: string;
  /** The shortest pieces of the key, or the whole key. */
  readonly #pieces = new Set<string>();
  readonly #pieceLength: number;
  /** Finds runs of the key's characters, as long as a piece: only they are compared. */
  readonly #candidate: RegExp;

  /** @param key Printable ASCII. */
  constructor(key: string) {
    this.#key = key.toLowerCase();
    const length = Math.min(PIECE, key.length);
    const count = length < MIN_KEY ? 0 : key.length - length + 1;
    for (let at = 0; at < count; at++) {
      this.#pieces.add(this.#key.slice(at, at + length));
    }
    const characters = this.#key.replaceAll(/\W/g, "\\$&");
    this.#pieceLength = length;
    this.#candidate = RegExp(`[${characters}]{${length},}`, "g");
  }

  /** Whether an id contains the whole key, as it is or as it is shown. */
  isInId(id: string): boolean {
    if (this.#pieces.size === 0) return false;
    return [id, plainLine(id)].some((text) =>
      text.toLowerCase().includes(this.#key)
    );
  }

  /** The name of a node or a status. Control characters stay. */
  showName(name: string): Redacted {
    const whole = start(name);
    if (whole.length < this.#pieceLength) return whole as Redacted;
    const shown = this.#withoutPieces(whole);
    // A terminal shows it without them, which could restore a piece.
    const plain = plainLine(shown);
    const isSafe = plain === shown || this.#withoutPieces(plain) === plain;
    return (isSafe ? shown : this.#withoutPieces(plain)) as Redacted;
  }

  /** A text of the service, clean, and on one line of limited length. */
  show(text: string, maxLength: number = MAX_LENGTH): Redacted {
    // Cleaned first: removing characters later could join two halves of a piece.
    const plain = plainText(start(text).replaceAll(/\s+/g, " ")).trim();
    return shorten(this.#withoutPieces(plain), maxLength) as Redacted;
  }

  /** A word in quotes, of at most 200 characters. */
  quote(word: string): Redacted {
    const name = this.showName(word);
    const most = shorten(name, MAX_QUOTED);
    const shown = JSON.stringify(most === name ? name : `${most}...`);
    return escapeControls(shown) as Redacted;
  }

  #withoutPieces(text: string): string {
    const shown = this.#replacePieces(text);
    // What takes the place of a piece may complete another one, of a key with dots.
    const isSafe = shown === text || this.#replacePieces(shown) === shown;
    return isSafe ? shown : LEFT_OUT;
  }

  #replacePieces(text: string): string {
    // U+0130 is the only character whose lower case has another length.
    const lowerCase = text.replaceAll("\u0130", "i").toLowerCase();
    const length = this.#pieceLength;
    const others: string[] = [];
    let end = -1; // of the last run of pieces
    for (const { 0: run, index } of lowerCase.matchAll(this.#candidate)) {
      for (let at = index; at + length <= index + run.length; at++) {
        if (!this.#pieces.has(lowerCase.slice(at, at + length))) continue;
        if (at > end) others.push(text.slice(Math.max(end, 0), at));
        end = at + length;
      }
    }
    if (end < 0) return text;
    return [...others, text.slice(end)].join(LEFT_OUT);
  }
}

/** The start of a text in whole characters: half of a surrogate pair becomes U+FFFD. */
function start(text: string): string {
  // A code unit takes three bytes at most.
  if (3 * text.length <= MAX_SHOWN_BYTES) return wholeCharacters(text);
  const { read } = ENCODER.encodeInto(text, SCRATCH);
  return wholeCharacters(text.slice(0, read));
}

const ENCODER = new TextEncoder();
const SCRATCH = new Uint8Array(MAX_SHOWN_BYTES);

/** Shows texts while no key is known: of the command line and the settings. */
export const KEYLESS: Redactor = new Redactor("");
