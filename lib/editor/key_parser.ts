/**
 * Text that was typed, text that was pasted, or a key that was pressed. Keys have
 * the names `enter`, `backspace`, `tab`, `escape`, `up`, `down`, `left`, `right`,
 * `home`, `end`, `delete`, `ctrl-` or `alt-` with a character, and these with the
 * modifiers `ctrl-`, `alt-` and `shift-`, in this order. A `\n` is Ctrl-J if it
 * arrives alone, else Enter, as scripts type it.
 */
export type Key =
  | { readonly kind: "text"; readonly text: string }
  | {
    readonly kind: "paste";
    readonly text: string;
    readonly isContinued: boolean;
  }
  | { readonly kind: "press"; readonly name: string };

/** Terminals mark the end of a paste with this (xterm, "Bracketed Paste Mode"). */
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
/** The start of a sequence, which goes on or is broken off. */
const PREFIX = RegExp(
  String
    .raw`${STRING}(?:\x1b$)?|${MOUSE}{0,2}|\[\[$|\x1b?[[O][0-?]*[ -/]*|\x1b?$`,
  "uy",
);

/** Enter with modifiers: "fixterms", and xterm's modifyOtherKeys. */
const ENTER = /^(?:13(?:;\d+)?u|27;\d+;13~)$/;

/** Final bytes of CSI and SS3 sequences. */
const FINALS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  // SS3: Ctrl with an arrow (urxvt, PuTTY), and Enter of a numeric keypad.
  Oc: "ctrl-right",
  Od: "ctrl-left",
  OC: "ctrl-right",
  OD: "ctrl-left",
  OM: "enter",
};

/** First parameters of CSI sequences that end in `~` (DEC), or in `^` with Ctrl (rxvt). */
const NUMBERS: Readonly<Record<string, string>> = {
  "1": "home",
  "3": "delete",
  "4": "end",
  "7": "home",
  "8": "end",
  "200": "paste",
};

/**
 * Parses the bytes from a terminal, cut anywhere. Unknown sequences yield
 * nothing; bytes that are not UTF-8 yield U+FFFD. A paste is passed on as it
 * arrives, one key per chunk, with `\n` for each line end.
 */
export class KeyParser {
  // A byte order mark is ordinary text.
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
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
    if (text === "\n" && !this.#isPaste) return [press("ctrl-j")];
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

  /** Drops the held text and an unfinished paste. */
  reset(): void {
    this.#held = "";
    this.#isPaste = false;
    this.#decoder = new TextDecoder("utf-8", { ignoreBOM: true });
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
    keys.push(press(controlName(code)));
    return text.startsWith("\r\n", at) ? at + 2 : at + 1;
  }

  #sequence(text: string, escape: number, keys: Key[]): number {
    const at = escape + 1;
    const found = matchAt(SEQUENCE, text, at);
    if (found !== null) {
      const name = sequenceName(found);
      if (name === "paste") {
        this.#isPaste = true;
        this.#isContinued = false;
        this.#endsInReturn = false;
      } else if (name !== undefined) {
        keys.push(press(found[1] ? `alt-${name}` : name));
      }
      return at + found[0].length;
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

/** An Escape that begins no sequence: Alt with a key, or the Escape key. */
function altKey(text: string, at: number, keys: Key[]): number {
  const code = text.codePointAt(at) ?? 0;
  if (code === 0x1b) {
    keys.push(press("escape"));
    return at;
  }
  const isControl = code < 0x20 || code === 0x7f;
  const character = String.fromCodePoint(code);
  keys.push(press(`alt-${isControl ? controlName(code) : character}`));
  return at + (text.startsWith("\r\n", at) ? 2 : character.length);
}

function controlName(code: number): string {
  switch (code) {
    case 0x08:
    case 0x7f:
      return "backspace";
    case 0x09:
      return "tab";
    case 0x0a:
    case 0x0d:
      return "enter";
    default:
      return `ctrl-${String.fromCharCode(code + 0x40).toLowerCase()}`;
  }
}

function sequenceName(found: RegExpExecArray): string | undefined {
  const [, , start, parameters = "", final = ""] = found;
  const [first = "", second = ""] = parameters.split(";");
  if (ENTER.test(parameters + final)) return withModifiers(second, "enter");
  if (final === "^") return withModifiers("5", NUMBERS[first]);
  if (final === "~") return withModifiers(second, NUMBERS[first]);
  const name = FINALS[start + parameters + final] ?? FINALS[final];
  return withModifiers(second || first, name); // old terminals: no 1 before
}

/** xterm's modifiers: 1 and the sum of 1 for Shift, 2 for Alt, 4 for Ctrl, 8 for Meta. */
function withModifiers(parameter: string, name?: string): string | undefined {
  if (name === undefined) return undefined;
  const held = Math.max(Number.parseInt(parameter) - 1, 0) || 0;
  return (held & 4 ? "ctrl-" : "") + (held & 10 ? "alt-" : "") +
    (held & 1 ? "shift-" : "") + name;
}

function press(name: string): Key {
  return { kind: "press", name };
}

function matchAt(pattern: RegExp, text: string, at: number) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
