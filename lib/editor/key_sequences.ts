import { controlKey, type Key, press } from "./key.ts";

/** A CSI or SS3 sequence (ECMA-48), without its Escape. */
interface Sequence {
  /** `[` or `O`. */
  readonly start: string;
  readonly parameters: string;
  readonly final: string;
}

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

/** First parameters of CSI sequences with `~` at their end (DEC), or `^` (rxvt: Ctrl). */
const NUMBERS: Readonly<Record<string, string>> = {
  "1": "home",
  "3": "delete",
  "4": "end",
  "7": "home",
  "8": "end",
};

// The modifiers of xterm and of kitty, which has more of them. Super, which is Meta in
// xterm, and Meta count as Alt. A key with any other one, such as Hyper, does nothing.
const SHIFT = 1;
const ALT = 2 | 8 | 32;
const CTRL = 4;
const CAPS_LOCK = 64;
const NUM_LOCK = 128;
const KNOWN = SHIFT | ALT | CTRL | CAPS_LOCK | NUM_LOCK;

/**
 * The key that a sequence reports: a key with a name of its own (DEC, xterm, rxvt), or
 * any key by its character, `CSI code ; modifiers u` (the kitty keyboard protocol) and
 * `CSI 27 ; modifiers ; code ~` (xterm's modifyOtherKeys), which other programs may have
 * left on.
 *
 * @returns `undefined` for a sequence without a meaning here, and for a key that was
 * released.
 */
export function sequenceKey(sequence: Sequence): Key | undefined {
  const { parameters, final } = sequence;
  const [first = "", second = "", third = ""] = parameters.split(";");
  const isReleased = second.endsWith(":3");
  const held = heldOf(second);
  if (isReleased || (held & ~KNOWN) !== 0) return undefined;
  if (final === "u") return characterKey(first, held, third);
  if (final === "~" && first === "27") return characterKey(third, held);
  const name = nameOf(sequence, first);
  if (name === undefined) return undefined;
  if (final === "^") return press(withModifiers(CTRL, name));
  // Old terminals have no 1 before the modifiers of a letter.
  const isShort = final !== "~" && second === "";
  return press(withModifiers(isShort ? heldOf(first) : held, name));
}

function nameOf(
  { start, parameters, final }: Sequence,
  first: string,
): string | undefined {
  if (final === "~" || final === "^") return NUMBERS[first];
  return FINALS[start + parameters + final] ?? FINALS[final];
}

/** Parses modifiers: 1 and the sum of those that are held, perhaps with `:event`. */
function heldOf(parameter: string): number {
  return Math.max(Number.parseInt(parameter) - 1, 0) || 0;
}

function withModifiers(held: number, name: string): string {
  const ctrl = held & CTRL ? "ctrl-" : "";
  const alt = held & ALT ? "alt-" : "";
  const shift = held & SHIFT ? "shift-" : "";
  return ctrl + alt + shift + name;
}

/** Codes of the kitty protocol for keys that have a name and no sequence of their own. */
const NAMED_CODES: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  127: "backspace",
  // The numeric keypad.
  57414: "enter",
  57417: "left",
  57418: "right",
  57419: "up",
  57420: "down",
  57423: "home",
  57424: "end",
  57426: "delete",
};

/** The characters of the numeric keypad, from its first code in the kitty protocol. */
const KEYPAD = "0123456789./*-+ =,";
const KEYPAD_START = 57399;

/** Characters that yield the same byte with Ctrl as another one, as on a VT220. */
const SAME_WITH_CTRL: Readonly<Record<string, string>> = {
  " ": "@",
  "2": "@",
  "3": "[",
  "4": "\\",
  "5": "]",
  "6": "^",
  "7": "_",
  "/": "_",
  "-": "_", // under Shift
};

/**
 * A key that is reported by its character. One that comes with its text is that text, as
 * with AltGr. With Ctrl or Alt, others have the name that they have where the terminal
 * sends a byte for them.
 *
 * @param codes The code of the key, perhaps with its code under Shift and in the Latin
 * layout: `code:shifted:latin`.
 * @param text The code points that were typed, with colons between, if they are known.
 */
function characterKey(
  codes: string,
  held: number,
  text = "",
): Key | undefined {
  const [code = 0, shifted = 0, latin = 0] = codes.split(":").map(Number);
  const named = NAMED_CODES[code];
  if (named !== undefined) return press(withModifiers(held, named));
  const typed = text.split(":").map(Number).map(characterOf).join("");
  const hasName = typed === "" && (held & (CTRL | ALT)) !== 0;
  if (!hasName) return textKey(typed || underShift(code, shifted, held));

  // Ctrl-C is Ctrl-C on a keyboard for another alphabet, too.
  const isForeign = code > 0x7f && latin > 0;
  const main = isForeign ? latin : code;
  const alt = held & ALT ? "alt-" : "";
  const name = held & CTRL
    ? ctrlName(characterOf(main))
    : underShift(main, shifted, held);
  return name === "" ? undefined : press(alt + name);
}

function textKey(text: string): Key | undefined {
  return text === "" ? undefined : { kind: "text", text };
}

/** The character of a key with or without Shift; empty if it has none. */
function underShift(code: number, shifted: number, held: number): string {
  const isUpper = Boolean(held & SHIFT) !== Boolean(held & CAPS_LOCK);
  const character = characterOf(code);
  return isUpper ? characterOf(shifted) || character.toUpperCase() : character;
}

/** The name of the control character that a character yields with Ctrl. */
function ctrlName(character: string): string {
  const same = SAME_WITH_CTRL[character] ?? character;
  const code = same.toUpperCase().charCodeAt(0);
  const yieldsControl = code >= 0x40 && code < 0x60;
  if (yieldsControl) return controlKey(code - 0x40);
  return character === "" ? "" : `ctrl-${character}`;
}

/** The character of a code; empty for control characters and keys without one. */
function characterOf(code: number): string {
  const onKeypad = KEYPAD[code - KEYPAD_START];
  if (onKeypad !== undefined) return onKeypad;
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : "";
  return /[\p{Cc}\p{Cs}\p{Co}]/u.test(character) ? "" : character;
}
