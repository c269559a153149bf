import { unicodeWidth } from "jsr:@std/cli@^1.0.32/unicode-width";

/** The size of the text that is segmented at once. */
const WINDOW = 256;

// Created when a text needs it: loading ICU's rules takes longer than the rest of
// opening a terminal.
let segmenter: Intl.Segmenter | undefined;

/**
 * UTF-16 code units beyond ASCII that are graphemes of their own, unless the next one
 * joins them. Not among them: U+00A9 and U+00AE, which may be emoji, and U+00AD, which
 * is invisible.
 */
const SIMPLE_RANGES: readonly (readonly [first: number, last: number])[] = [
  [0xa1, 0xa8], // Latin
  [0xaa, 0xac],
  [0xaf, 0x2ff],
  [0x391, 0x482], // Greek and Cyrillic
  [0x2026, 0x2026], // the ellipsis
  [0x2800, 0x28ff], // Braille: the status line's spinner must not load the segmenter.
  [0x3041, 0x3096], // Hiragana
  [0x30a1, 0x30fa], // Katakana
  [0x4e00, 0x9fff], // Chinese characters
  [0xac00, 0xd7a3], // Hangul
];

/**
 * Whether a UTF-16 code unit is a grapheme of its own, unless the next one joins
 * it: Latin, Greek, Cyrillic, kana and Chinese letters, space and punctuation.
 */
export function isSimple(unit: number): boolean {
  if (isPlainAscii(unit)) return true;
  return SIMPLE_RANGES.some(([first, last]) => first <= unit && unit <= last);
}

/** Whether a UTF-16 code unit is a printable character of ASCII. */
export function isPlainAscii(unit: number): boolean {
  return unit >= 0x20 && unit < 0x7f;
}

/** Whether a boundary is certain between two UTF-16 code units. */
function isCertain(before: number, after: number): boolean {
  return isSimple(before) && isSimple(after) || before === 0x0a ||
    after === 0x0a && before !== 0x0d;
}

/**
 * The end of the grapheme that begins at an offset, in UTF-16 code units. The
 * offset is a boundary before the end of the text.
 */
export function boundaryAfter(text: string, offset: number): number {
  if (offset + 1 >= text.length) return text.length;
  const first = text.charCodeAt(offset);
  if (isCertain(first, text.charCodeAt(offset + 1))) return offset + 1;
  segmenter ??= new Intl.Segmenter();
  for (let length = WINDOW;; length *= 2) {
    const part = text.slice(offset, offset + length);
    const end = segmenter.segment(part).containing(0)?.segment.length ?? 1;
    // A grapheme that fills the window may be longer than the window.
    if (end < length || offset + length >= text.length) return offset + end;
  }
}

/** The nearest boundary at or below an offset. */
export function boundaryAt(text: string, offset: number): number {
  if (offset <= 0) return 0;
  if (offset >= text.length) return text.length;
  let start = offset;
  while (
    start > 0 && !isCertain(text.charCodeAt(start - 1), text.charCodeAt(start))
  ) start--;
  if (start === offset) return offset;
  const part = text.slice(start, offset + 2); // perhaps a surrogate pair
  segmenter ??= new Intl.Segmenter();
  const found = segmenter.segment(part).containing(offset - start);
  return start + (found?.index ?? 0);
}

/** The nearest boundary at or above an offset. */
export function boundaryFrom(text: string, offset: number): number {
  const below = boundaryAt(text, offset);
  return below >= offset ? below : boundaryAfter(text, below);
}

/** Whether terminals may draw a grapheme in parts: emoji, flags, and Hangul. */
function isJoined(grapheme: string): boolean {
  return /[\ufe0f\u{1f3fb}-\u{1f3ff}]|\p{Extended_Pictographic}.*\u200d/u
    .test(grapheme) ||
    /^(?:\p{Regional_Indicator}{2}|[\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3])/u
      .test(grapheme);
}

/**
 * The width of a grapheme in columns. Terminals disagree about joined graphemes
 * (emoji with modifiers, flags, Hangul in parts). For these the result is the
 * width on current terminals, and callers have to place the cursor after drawing
 * one.
 */
export function graphemeWidth(grapheme: string): number {
  const unit = grapheme.charCodeAt(0);
  if (grapheme.length === 1 && isSimple(unit)) {
    return unit < 0x3000 ? 1 : 2;
  }
  return isJoined(grapheme) ? 2 : unicodeWidth(grapheme);
}
