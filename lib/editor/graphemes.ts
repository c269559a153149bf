import { unicodeWidth } from "@std/cli/unicode-width";

/** The size of the text that is segmented at once. */
const WINDOW = 256;

// Created when a text needs it: loading ICU's rules takes longer than the rest of
// opening a terminal.
let segmenter: Intl.Segmenter | undefined;

/**
 * Whether a UTF-16 code unit is a grapheme of its own, unless the next one joins
 * it: Latin, Greek, Cyrillic, kana and Chinese letters, space and punctuation.
 */
export function isSimple(unit: number): boolean {
  return unit >= 0x20 && unit < 0x7f ||
    unit >= 0xa1 && unit < 0x300 && unit !== 0xa9 && unit !== 0xad &&
      unit !== 0xae ||
    unit >= 0x391 && unit < 0x483 || unit === 0x2026 ||
    // Braille: the status line's spinner must not load the segmenter.
    unit >= 0x2800 && unit < 0x2900 ||
    unit >= 0x3041 && unit <= 0x3096 || unit >= 0x30a1 && unit <= 0x30fa ||
    unit >= 0x4e00 && unit <= 0x9fff || unit >= 0xac00 && unit <= 0xd7a3;
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
