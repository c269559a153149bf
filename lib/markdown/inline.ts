/**
 * The Markdown within a line: emphasis, strike-through, code spans, links and URLs.
 *
 * It styles what people write and is no parser of CommonMark: the newest opener of
 * each kind counts, and styles nest without crossing each other.
 *
 * @module
 */

import {
  BOLD,
  CYAN,
  DIM,
  ITALIC,
  type SgrLine,
  STRIKE,
  UNDERLINE,
} from "./sgr_line.ts";

/**
 * The longest text whose inline Markdown is styled, in UTF-16 code units. It
 * limits the memory for a line. Longer lines are data rather than prose.
 */
const MAX_LENGTH = 16 * 1024;

const ESCAPE = String.raw`\\[!-\/:-@\[-\x60{-~]`;
/** A URL may hold pairs of parentheses, and does not end with punctuation. */
const URL_CHARACTER = String.raw`[^\s<>()[\]*"\x60|\\]`;
const PAIR = String.raw`\(${URL_CHARACTER}*\)`;
const URL =
  String.raw`(?<![\p{L}\p{N}])https?:\/\/(?:${URL_CHARACTER}|${PAIR})*` +
  String.raw`(?:(?![.,:;!?'_~])${URL_CHARACTER}|${PAIR})`;
/** `](destination "title")` */
const LINK_END = String.raw`\]\((?:<[^<>]*>|(?:[^\s()<>]|\([^\s()]*\))*)` +
  String.raw`(?:[ \t]+(?:"[^"]*"|'[^']*'))?\)`;

/** Everything that may be a sign. No part of it backtracks beyond the next sign. */
const SIGN = RegExp(
  [ESCAPE, "`+", "[*]+", "_+", "~+", String.raw`!?\[`, LINK_END, "[\\]]", URL]
    .join("|"),
  "gu",
);

const WORD = /[\p{L}\p{N}]/u;
const SPACE = /^\s?$/; // the ends of a line count as white space

/** A part of a line at which attributes change. */
interface Sign {
  readonly start: number;
  readonly end: number;
  /** The attributes of the sign; `undefined` while it is text. */
  style: number | undefined;
  /** How many of the open styles end here. */
  closes: number;
  /** The attributes that begin here, from the outermost to the innermost. */
  readonly opens: number[];
}

/** A sign that begins a style if its other end is found. */
interface Opener {
  /** `*`, `**`, `_`, `__`, `~~`, `[` or `![` */
  readonly text: string;
  readonly sign: Sign;
}

const ATTRIBUTES: Readonly<Record<string, number>> = {
  "*": ITALIC,
  "_": ITALIC,
  "**": BOLD,
  "__": BOLD,
  "~~": STRIKE,
  "[": UNDERLINE,
  "![": UNDERLINE,
};

/**
 * Styles the inline Markdown from `start` to the end of a line, in linear time.
 *
 * @param base Attributes of the whole text.
 */
export function styleInline(
  line: SgrLine,
  source: string,
  start: number,
  base: number,
): void {
  let attributes = base;
  const outer: number[] = [];
  const isProse = source.length - start <= MAX_LENGTH;
  for (const sign of isProse ? signsIn(source, start) : []) {
    line.to(sign.start, attributes);
    for (let i = 0; i < sign.closes; i++) attributes = outer.pop() ?? base;
    line.to(sign.end, sign.style ?? attributes);
    for (const attribute of sign.opens) {
      outer.push(attributes);
      attributes |= attribute;
    }
  }
  line.to(source.length, attributes);
}

/** Finds the signs in a line, in the order of the text. */
function signsIn(source: string, start: number): readonly Sign[] {
  const signs: Sign[] = [];
  const add = (start: number, end: number, style?: number): Sign => {
    const sign = { start, end, style, closes: 0, opens: [] };
    signs.push(sign);
    return sign;
  };
  const closers = codeSpans(source, start);
  let openers: readonly Opener[] = []; // at most one of each kind
  SIGN.lastIndex = start;
  for (let match; (match = SIGN.exec(source)) !== null;) {
    const [text] = match;
    const at = match.index;
    const end = at + text.length;
    switch (text.charAt(0)) {
      case "\\":
        break;
      case "`": {
        const closer = closers.get(at);
        if (closer === undefined) break;
        SIGN.lastIndex = closer + text.length;
        add(at, end, CYAN);
        add(closer, SIGN.lastIndex, CYAN);
        break;
      }
      case "*":
      case "_":
      case "~":
        openers = pair(openers, add(at, end), source);
        break;
      case "!":
      case "[":
        openers = withOpener(openers, { text, sign: add(at, end) });
        break;
      case "]": {
        const index = openers.findLastIndex(isBracket);
        const opener = openers[index];
        if (opener === undefined) break;
        openers = openers.toSpliced(index, text === "]" ? 1 : Infinity);
        if (text !== "]") close(opener, add(at, end));
        break;
      }
      default: // a URL
        add(at, at).opens.push(UNDERLINE);
        add(end, end).closes = 1;
    }
  }
  return signs;
}

/** The closing run of each run of backticks that begins a code span. */
function codeSpans(source: string, start: number): Map<number, number> {
  const spans = new Map<number, number>();
  const next = new Map<number, number>(); // by length
  const runs = Array.from(source.slice(start).matchAll(/`+/g));
  for (const { 0: { length }, index } of runs.reverse()) {
    const closer = next.get(length);
    if (closer !== undefined) spans.set(start + index, closer);
    next.set(length, start + index);
  }
  return spans;
}

/**
 * Pairs a run of `*`, `_` or `~` with the openers that it ends, inside of the last
 * bracket. Returns the openers after it.
 */
function pair(
  openers: readonly Opener[],
  sign: Sign,
  source: string,
): readonly Opener[] {
  const { start, end } = sign;
  const run = source.slice(start, end);
  const before = source.charAt(start - 1);
  const after = source.charAt(end);
  const isAfterWord = WORD.test(before);
  const isBeforeWord = WORD.test(after);
  const isInWord = isAfterWord && isBeforeWord;
  const isUnderscore = run.startsWith("_");
  if (run.length > 3 || run === "~" || run === "~~~") return openers;
  if (isUnderscore && isInWord) return openers;
  let rest = run;
  if (!SPACE.test(before) && (isAfterWord || !isBeforeWord)) {
    for (;;) {
      const index = openers.findLastIndex((opener) =>
        isBracket(opener) || rest.startsWith(opener.text)
      );
      const opener = openers[index];
      if (opener === undefined || isBracket(opener)) break;
      openers = openers.slice(0, index);
      close(opener, sign);
      rest = rest.slice(opener.text.length);
    }
  }
  if (SPACE.test(after) || isAfterWord && !isBeforeWord) return openers;
  for (const text of rest.length === 3 ? [rest[0], rest.slice(1)] : [rest]) {
    if (text) openers = withOpener(openers, { text, sign });
  }
  return openers;
}

/** Ends the style of an opener at a sign. */
function close(opener: Opener, sign: Sign): void {
  opener.sign.style = sign.style = DIM;
  opener.sign.opens.unshift(ATTRIBUTES[opener.text] ?? 0);
  sign.closes++;
}

/** Adds an opener in place of an earlier one of its kind. */
function withOpener(
  openers: readonly Opener[],
  opener: Opener,
): readonly Opener[] {
  return [...openers.filter(({ text }) => text !== opener.text), opener];
}

function isBracket({ text }: Opener): boolean {
  return text.endsWith("[");
}
