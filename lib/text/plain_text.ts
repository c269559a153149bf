/**
 * Makes text from outside safe to show on a terminal, in a single pass: a regular
 * expression that matches every other character takes many times as long.
 *
 * @module
 */

const BEL = 0x07;
const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const ESC = 0x1b;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const CSI = 0x9b;
const ST = 0x9c;

// The 8-bit controls that begin a string, and the characters after ESC that mean
// the same: DCS, SOS, OSC, PM and APC.
const STRING_CONTROLS: readonly number[] = [0x90, 0x98, 0x9d, 0x9e, 0x9f];
const ESC_TO_C1 = 0x40;

// Functions, because V8 takes long to make a Unicode class: 0.1 ms each at the start.
const unsafe = () => /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u;
const unsafeOnALine = () => /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u;

/**
 * Removes escape sequences, control characters other than line ends and tabs, and
 * the characters that reorder others (U+202A to U+202E, U+2066 to U+2069), so that
 * a text cannot recolour or retitle the terminal, move the cursor, write to the
 * clipboard, or be shown in another order. Each line end becomes `\n`.
 *
 * If a string sequence has no end, only its introducer is removed: the rest is
 * shown as text.
 */
export function plainText(text: string): string {
  return unsafe().test(text) ? clean(text, false) : text;
}

/** {@linkcode plainText} on one line: line ends and tabs become spaces. */
export function plainLine(text: string): string {
  return unsafeOnALine().test(text) ? clean(text, true) : text;
}

/** Drops one line end, `\n` or `\r\n`, at the end of a text. */
export function withoutLineEnd(text: string): string {
  if (!text.endsWith("\n")) return text;
  return text.slice(0, text.endsWith("\r\n") ? -2 : -1);
}

function clean(text: string, isLine: boolean): string {
  const buffer = new Uint16Array(8192);
  let cleaned = "";
  let length = 0;
  let isBreak = false; // whether the last character was a line end or a tab
  for (let index = 0; index < text.length;) {
    const code = text.charCodeAt(index);
    const wasBreak: boolean = isBreak;
    isBreak = code === NEWLINE || code === RETURN || code === TAB;
    if (code === ESC || isC1(code)) {
      index = endOfSequence(text, index);
      isBreak = wasBreak;
      continue;
    }
    index++;
    if (isBreak && isLine) {
      if (!wasBreak) buffer[length++] = SPACE;
    } else if (code === RETURN) {
      if (text.charCodeAt(index) !== NEWLINE) buffer[length++] = NEWLINE;
    } else if (isBreak || !isUnsafe(code)) {
      buffer[length++] = code;
    } else {
      isBreak = wasBreak;
    }
    if (length === buffer.length) {
      cleaned += textOf(buffer);
      length = 0;
    }
  }
  return cleaned + textOf(buffer.subarray(0, length));
}

function textOf(codes: Uint16Array): string {
  // Spreading the arguments takes ten times as long.
  return Reflect.apply(String.fromCharCode, undefined, codes);
}

/** Whether a character is a control character or reorders others. */
function isUnsafe(code: number): boolean {
  return code < SPACE || (code >= 0x7f && code < 0xa0) ||
    (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

function isC1(code: number): boolean {
  return code >= 0x80 && code < 0xa0;
}

/**
 * The end of the escape sequence that starts with ESC or an 8-bit control at an
 * index; the next index if no sequence starts there. No sequence contains the
 * start of another, so no character is scanned more than three times.
 */
function endOfSequence(text: string, start: number): number {
  const code = text.charCodeAt(start);
  const next = text.charCodeAt(start + 1);
  const isLong = code === ESC && next >= 0x40 && next < 0x60;
  const control = isLong ? next + ESC_TO_C1 : code;
  const body = start + (isLong ? 2 : 1);
  const end = control === CSI
    ? endOfCsi(text, body)
    : STRING_CONTROLS.includes(control)
    ? endOfString(text, body)
    : undefined;
  if (end !== undefined) return end;
  return (code === ESC ? endOfEscape(text, start + 1) : undefined) ?? start + 1;
}

/** The end of `[0-?]*[ -/]*[@-~]`, if it is there. */
function endOfCsi(text: string, start: number): number | undefined {
  const last = skip(text, skip(text, start, 0x30, 0x3f), SPACE, 0x2f);
  const code = text.charCodeAt(last);
  return code >= 0x40 && code <= 0x7e ? last + 1 : undefined;
}

/** The end of a string that BEL, ESC \ or ST terminates, if it is terminated. */
function endOfString(text: string, start: number): number | undefined {
  let index = start;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    const isText = code >= SPACE
      ? code < 0x7f || code >= 0xa0
      : code >= TAB && code <= 0x0d;
    if (!isText) break;
    index++;
  }
  const code = text.charCodeAt(index);
  if (code === BEL || code === ST) return index + 1;
  const isEnd = code === ESC && text.charCodeAt(index + 1) === BACKSLASH;
  return isEnd ? index + 2 : undefined;
}

/** The end of `[ -/]*[0-~]`, if it is there. */
function endOfEscape(text: string, start: number): number | undefined {
  const last = skip(text, start, SPACE, 0x2f);
  const code = text.charCodeAt(last);
  return code >= 0x30 && code <= 0x7e ? last + 1 : undefined;
}

/** The index of the first character at or after a start that is not in a range. */
function skip(text: string, start: number, from: number, to: number): number {
  let index = start;
  for (;; index++) {
    const code = text.charCodeAt(index); // NaN at the end
    if (!(code >= from && code <= to)) return index;
  }
}
