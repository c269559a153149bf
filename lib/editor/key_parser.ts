import { controlKey, type Key, press } from "./key.ts";
import { sequenceKey } from "./key_sequences.ts";

// Terminals put these around a paste (xterm, "Bracketed Paste Mode"). The first one is
// written without its Escape here.
const PASTE_START = "[200~";
const PASTE_END = "\x1b[201~";

/** The most characters of an unfinished sequence that are held, and used. */
const MAX_HELD = 64;

const CONTROL = /\p{Cc}/gu;

// What may follow an Escape: strings (DCS, SOS, OSC, PM and APC) and mouse reports of
// X10, which answer or inform another program; F1 to F5 of the Linux console; Shift
// with a key of urxvt; and CSI and SS3, to which Alt may add a second Escape.
const STRING = String.raw`[PX\]^_]\P{Cc}*`;
const MOUSE = String.raw`\[M[^\x00-\x1f]`;
const KEY = String.raw`(\x1b?)(?!\[M)([[O])([0-?]*)[ -/]*([@-Z\\-~])`;
const SEQUENCE = RegExp(
  String.raw`${STRING}(?:\x07|\x1b\\)|${MOUSE}{3}|\[\[[A-E]|\[\d\$|${KEY}`,
  "uy",
);
/** The start of a sequence that is unfinished or broken off. */
const PREFIX = RegExp(
  String
    .raw`${STRING}(?:\x1b$)?|${MOUSE}{0,2}|\[\[$|\x1b?[[O][0-?]*[ -/]*|\x1b?$`,
  "uy",
);

/**
 * Parses the bytes from a terminal, cut anywhere. Unknown sequences yield
 * nothing; bytes that are not UTF-8 yield U+FFFD. A paste is passed on as it
 * arrives, one key per chunk, with `\n` for each line end.
 */
export class KeyParser {
  // A byte order mark is ordinary text.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** An unfinished sequence, or the beginning of the end mark of a paste. */
  #held = "";
  #isPaste = false;
  #isContinued = false;
  #endsInReturn = false;

  /**
   * Whether the held text may be keys by itself: Escape once or twice, or Alt with the
   * start of a sequence. Callers {@linkcode flush} it if nothing follows within 50 ms.
   */
  get isAmbiguous(): boolean {
    return !this.#isPaste && this.#held !== "" && this.#held.length <= 2;
  }

  feed(bytes: Uint8Array): Key[] {
    const text = this.#held + this.#decoder.decode(bytes, { stream: true });
    this.#held = "";
    const keys: Key[] = [];
    for (let at = 0; at < text.length;) {
      at = this.#isPaste
        ? this.#paste(text, at, keys)
        : this.#next(text, at, keys);
    }
    return keys;
  }

  /** Treats the held text as keys; Alt with the start of a sequence has no meaning. */
  flush(): Key[] {
    const escapes = this.#held.endsWith("\x1b") ? this.#held : "";
    this.#held = "";
    return Array.from(escapes, () => press("escape"));
  }

  /** Parses the key at `at`, and returns the index of the next one. */
  #next(text: string, at: number, keys: Key[]): number {
    const code = text.charCodeAt(at);
    if (code === 0x1b) return this.#sequence(text, at, keys);
    if (code >= 0x20 && code !== 0x7f) {
      const end = matchAt(CONTROL, text, at + 1)?.index ?? text.length;
      keys.push({ kind: "text", text: text.slice(at, end) });
      return end;
    }
    keys.push(press(controlKey(code)));
    return at + 1;
  }

  #sequence(text: string, escape: number, keys: Key[]): number {
    const at = escape + 1;
    const found = matchAt(SEQUENCE, text, at);
    if (found !== null) {
      const [sequence] = found;
      if (sequence === PASTE_START) this.#startPaste();
      else keys.push(...keysOf(found));
      return at + sequence.length;
    }
    const prefix = matchAt(PREFIX, text, at);
    if (prefix === null) return altKey(text, at, keys);
    const end = at + prefix[0].length;
    if (end === text.length) {
      // Of a long string, its start and a first character of its end are enough.
      this.#held = end - escape <= MAX_HELD
        ? text.slice(escape)
        : text.slice(escape, at + 1) + text.slice(-1);
    }
    return end;
  }

  #startPaste(): void {
    this.#isPaste = true;
    this.#isContinued = false;
    this.#endsInReturn = false;
  }

  #paste(text: string, at: number, keys: Key[]): number {
    const found = text.indexOf(PASTE_END, at);
    let end = found;
    if (found < 0) {
      end = text.length - heldBack(text, at);
      this.#held = text.slice(end);
    }
    const isSecondHalf = this.#endsInReturn && text[at] === "\n";
    const pasted = text.slice(isSecondHalf ? at + 1 : at, end);
    if (end > at) this.#endsInReturn = text[end - 1] === "\r";
    if (pasted !== "") {
      const lines = pasted.replace(/\r\n?/g, "\n");
      const isContinued = this.#isContinued;
      keys.push({ kind: "paste", text: lines, isContinued });
      this.#isContinued = true;
    }
    if (found < 0) return text.length;
    this.#isPaste = false;
    return found + PASTE_END.length;
  }
}

/** How many characters at the end of `text` may begin {@linkcode PASTE_END}. */
function heldBack(text: string, from: number): number {
  const start = Math.max(from, text.length - PASTE_END.length + 1);
  const escape = text.lastIndexOf("\x1b");
  return escape >= start && PASTE_END.startsWith(text.slice(escape))
    ? text.length - escape
    : 0;
}

/** The key of a sequence, to which Alt may have added a second Escape, or none. */
function keysOf(found: RegExpExecArray): Key[] {
  const [, escape = "", start, parameters = "", final = ""] = found;
  if (start === undefined) return []; // a string, or the mouse
  const key = sequenceKey({ start, parameters, final });
  if (key === undefined) return [];
  const isAlt = escape !== "" && key.kind === "press";
  return [isAlt ? press(`alt-${key.name}`) : key];
}

/** An Escape that begins no sequence: Alt with a key, or the Escape key. */
function altKey(text: string, at: number, keys: Key[]): number {
  const code = text.codePointAt(at) ?? 0;
  if (code === 0x1b) {
    keys.push(press("escape"));
    return at;
  }
  const isControl = code < 0x20 || code === 0x7f;
  const character = String.fromCodePoint(code);
  keys.push(press(`alt-${isControl ? controlKey(code) : character}`));
  return at + character.length;
}

function matchAt(pattern: RegExp, text: string, at: number) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
