/**
 * The Markdown within a line: emphasis, strike-through, code spans, links, and URLs.
 *
 * Follows the parsing strategy of CommonMark 0.31.2 (its appendix), which takes
 * linear time, on each line by itself. Reference links and HTML are left out.
 *
 * @module
 */

import {
  BOLD,
  CYAN,
  DIM,
  ITALIC,
  STRIKE,
  type StyledLine,
  UNDERLINE,
} from "./styled_line.ts";

/**
 * The longest text whose inline Markdown is styled, in UTF-16 code units. It
 * limits the memory for parsing a line. Longer lines are data rather than prose.
 */
const MAX_LENGTH = 16 * 1024;

/** The deepest nesting of parentheses in the URL of a link. */
const MAX_PARENTHESES = 32;

/** Characters that may be markup. All others are text. */
const SPECIAL = /\\|`+|\*+|_+|~+|!?\[|\]|<|https?:\/\//g;

const AUTOLINK = /<[a-z][a-z\d+.-]{1,31}:[^\s<>]*>/iy;
const URL_CHARACTERS = /[^\s<>[\]*`"|\\]*/y;
const TRAILING_PUNCTUATION = /^[.,:;!?'_~]$/;
const SPACES = /[ \t]*/y;
const POINTED_DESTINATION = /<(?:[^<>\\]|\\.)*>/sy;
const TITLE = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)/sy;
const ASCII_PUNCTUATION = /^[!-/:-@[-`{-~]$/;
const WORD_CHARACTER = /^[\p{L}\p{N}]$/u;
const PUNCTUATION = /^[\p{P}\p{S}]$/u;
const WHITE_SPACE = /^\s?$/; // the ends of a line count as white space

/** The class of a character, which decides whether a run of `*` or `_` next to it is markup. */
type CharacterClass = "space" | "punctuation" | "other";

/** Precomputed for ASCII, because regular expressions took most of the time. */
const ASCII_CLASSES = Array.from(
  { length: 128 },
  (_, code) => classify(String.fromCharCode(code)),
);

/** A part of a line with attributes of its own. */
interface Part {
  readonly kind: "part";
  readonly start: number;
  readonly end: number;
  readonly attributes: number;
}

/** The backticks at one end of a code span. */
interface Marker {
  readonly kind: "marker";
  readonly start: number;
  readonly end: number;
}

/** `[` or `![`, which begins a link if the link has an end. */
interface Bracket {
  readonly kind: "bracket";
  readonly start: number;
  readonly end: number;
  readonly isImage: boolean;
  /** The number of runs outside of links before it. */
  readonly runs: number;
  isLink: boolean;
}

/** `](...)` of a link. */
interface LinkEnd {
  readonly kind: "link end";
  readonly start: number;
  readonly end: number;
}

/**
 * A run of `*` or `_`, or `~~`. Its first characters close emphasis, its last ones
 * open it, and the characters between them are text.
 */
interface Run {
  readonly kind: "run";
  readonly start: number;
  readonly end: number;
  readonly character: string;
  readonly canOpen: boolean;
  readonly canClose: boolean;
  /** The number of characters that are not paired yet. */
  left: number;
  readonly closes: { emphasis: number; strong: number };
  readonly opens: { emphasis: number; strong: number };
}

type Token = Part | Marker | Bracket | LinkEnd | Run;

/**
 * Styles the inline Markdown from `start` to the end of a line.
 *
 * @param base Attributes of the whole text.
 */
export function styleInline(
  line: StyledLine,
  source: string,
  start: number,
  base: number,
): void {
  if (source.length - start > MAX_LENGTH) {
    line.to(source.length, base);
    return;
  }
  let [emphasis, strong, struck, links] = [0, 0, 0, 0];
  const marker = base & ~(BOLD | UNDERLINE) | DIM;
  const attributes = () =>
    base | (emphasis > 0 ? ITALIC : 0) | (strong > 0 ? BOLD : 0) |
    (struck > 0 ? STRIKE : 0) | (links > 0 ? UNDERLINE : 0);
  for (const token of new InlineParser(source).parse(start)) {
    line.to(token.start, attributes());
    switch (token.kind) {
      case "part":
        line.to(token.end, attributes() | token.attributes);
        break;
      case "marker":
        line.to(token.end, marker);
        break;
      case "bracket":
        if (!token.isLink) break;
        line.to(token.end, marker);
        links++;
        break;
      case "link end":
        links--;
        line.to(token.end, marker);
        break;
      case "run": {
        const { closes, opens } = token;
        if (token.character === "~") {
          struck -= closes.strong;
          line.to(token.end, token.left > 0 ? attributes() : marker);
          struck += opens.strong;
          break;
        }
        const closing = closes.emphasis + 2 * closes.strong;
        line.to(token.start + closing, marker);
        emphasis -= closes.emphasis;
        strong -= closes.strong;
        line.to(token.start + closing + token.left, attributes());
        line.to(token.end, marker);
        emphasis += opens.emphasis;
        strong += opens.strong;
      }
    }
  }
  line.to(source.length, attributes());
}

/** Finds the markup in one line. */
class InlineParser {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  readonly #brackets: Bracket[] = [];
  /** The runs outside of links. */
  readonly #runs: Run[] = [];
  /** The index of the last run of each length, among the scanned backticks. */
  readonly #backticks = new Map<number, number>();
  #allBackticksSeen = false;
  /** The start of the last link. */
  #lastLink = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Returns the markup, in the order of the text. */
  parse(start: number): readonly Token[] {
    SPECIAL.lastIndex = start;
    for (;;) {
      const match = SPECIAL.exec(this.#source);
      if (match === null) break;
      SPECIAL.lastIndex = this.#take(match[0], match.index);
    }
    pairRuns(this.#runs);
    return this.#tokens;
  }

  /** Handles a possible markup character. Returns the index at which to continue. */
  #take(text: string, start: number): number {
    const end = start + text.length;
    switch (text.charAt(0)) {
      case "\\":
        return isEscapable(this.#source.charAt(end)) ? end + 1 : end;
      case "`":
        return this.#codeSpan(start, text.length);
      case "*":
      case "_":
        this.#run(start, end);
        return end;
      case "~":
        if (text === "~~") this.#run(start, end);
        return end;
      case "!":
      case "[":
        this.#bracket(start, end);
        return end;
      case "]":
        return this.#linkEnd(start);
      case "<":
        return this.#autolink(start);
      default:
        return this.#url(start, end);
    }
  }

  #part(start: number, end: number, attributes: number): void {
    this.#tokens.push({ kind: "part", start, end, attributes });
  }

  #codeSpan(start: number, length: number): number {
    const content = start + length;
    const end = this.#findBackticks(length, content);
    if (end === undefined) return content;
    const afterwards = end + length;
    this.#tokens.push({ kind: "marker", start, end: content });
    this.#part(content, end, CYAN);
    this.#tokens.push({ kind: "marker", start: end, end: afterwards });
    return afterwards;
  }

  /** Returns the index of the next run of exactly `length` backticks. */
  #findBackticks(length: number, from: number): number | undefined {
    // A search that fails scans to the end of the line, so it may happen only once.
    if (this.#allBackticksSeen && (this.#backticks.get(length) ?? 0) < from) {
      return undefined;
    }
    for (let start = from;;) {
      start = this.#source.indexOf("`", start);
      if (start < 0) break;
      let end = start;
      while (this.#source.charAt(end) === "`") end++;
      if (!this.#allBackticksSeen) this.#backticks.set(end - start, start);
      if (end - start === length) return start;
      start = end;
    }
    this.#allBackticksSeen = true;
    return undefined;
  }

  #run(start: number, end: number): void {
    const character = this.#source.charAt(start);
    const before = classOf(characterBefore(this.#source, start));
    const after = classOf(characterAt(this.#source, end));
    const isLeft = after !== "space" &&
      (after !== "punctuation" || before !== "other");
    const isRight = before !== "space" &&
      (before !== "punctuation" || after !== "other");
    const isStar = character !== "_";
    const run: Run = {
      kind: "run",
      start,
      end,
      character,
      canOpen: isLeft && (isStar || !isRight || before === "punctuation"),
      canClose: isRight && (isStar || !isLeft || after === "punctuation"),
      left: end - start,
      closes: { emphasis: 0, strong: 0 },
      opens: { emphasis: 0, strong: 0 },
    };
    if (!run.canOpen && !run.canClose) return;
    this.#tokens.push(run);
    this.#runs.push(run);
  }

  #bracket(start: number, end: number): void {
    const bracket: Bracket = {
      kind: "bracket",
      start,
      end,
      isImage: end - start === 2,
      runs: this.#runs.length,
      isLink: false,
    };
    this.#tokens.push(bracket);
    this.#brackets.push(bracket);
  }

  #linkEnd(start: number): number {
    const bracket = this.#brackets.pop();
    // A link cannot contain a link; an image can.
    const isOpen = bracket !== undefined &&
      (bracket.isImage || bracket.start >= this.#lastLink);
    const end = isOpen ? findLinkEnd(this.#source, start + 1) : undefined;
    if (!isOpen || end === undefined) return start + 1;
    bracket.isLink = true;
    this.#tokens.push({ kind: "link end", start, end });
    // Emphasis does not cross the ends of a link.
    pairRuns(this.#runs.splice(bracket.runs));
    if (!bracket.isImage) this.#lastLink = bracket.start;
    return end;
  }

  #autolink(start: number): number {
    const end = matchEnd(AUTOLINK, this.#source, start);
    if (end === start) return start + 1;
    this.#part(start, end, UNDERLINE);
    return end;
  }

  /** A bare URL, whose scheme ends at `schemeEnd`. */
  #url(start: number, schemeEnd: number): number {
    if (WORD_CHARACTER.test(characterBefore(this.#source, start))) {
      return schemeEnd;
    }
    const end = trimUrl(
      this.#source,
      schemeEnd,
      matchEnd(URL_CHARACTERS, this.#source, schemeEnd),
    );
    if (end > schemeEnd) this.#part(start, end, UNDERLINE);
    return end;
  }
}

/**
 * Pairs the runs that begin emphasis with those that end it ("process emphasis" of
 * CommonMark).
 */
function pairRuns(runs: readonly Run[]): void {
  const openers: Run[] = [];
  // For each kind of closer, the position before which there is no opener. No
  // opener is tried twice for the same kind, which keeps the time linear.
  const bottoms = new Map<string, number>();
  for (const closer of runs) {
    const kind = `${closer.character}${closer.canOpen}${lengthOf(closer) % 3}`;
    while (closer.canClose && closer.left > 0) {
      const opener = dropToOpener(openers, closer, bottoms.get(kind) ?? 0);
      if (opener === undefined) {
        bottoms.set(kind, closer.start);
        break;
      }
      const isStrong = opener.left >= 2 && closer.left >= 2;
      opener.opens[isStrong ? "strong" : "emphasis"]++;
      closer.closes[isStrong ? "strong" : "emphasis"]++;
      opener.left -= isStrong ? 2 : 1;
      closer.left -= isStrong ? 2 : 1;
      if (opener.left === 0) openers.pop();
    }
    if (closer.canOpen && closer.left > 0) openers.push(closer);
  }
}

/** Finds the last opener for a closer, and drops those after it, if there is one. */
function dropToOpener(
  openers: Run[],
  closer: Run,
  bottom: number,
): Run | undefined {
  for (let index = openers.length - 1; index >= 0; index--) {
    const opener = openers[index];
    if (opener === undefined || opener.start < bottom) return undefined;
    if (!isPair(opener, closer)) continue;
    openers.length = index + 1;
    return opener;
  }
  return undefined;
}

/** Rules 9 and 10 of CommonMark's emphasis, among others. */
function isPair(opener: Run, closer: Run): boolean {
  if (opener.character !== closer.character) return false;
  if (!opener.canClose && !closer.canOpen) return true;
  const [before, after] = [lengthOf(opener), lengthOf(closer)];
  return (before + after) % 3 !== 0 || (before % 3 === 0 && after % 3 === 0);
}

function lengthOf(run: Run): number {
  return run.end - run.start;
}

/**
 * Finds the end of `(destination "title")`.
 *
 * @returns The index after it; undefined if there is none at `start`.
 */
function findLinkEnd(source: string, start: number): number | undefined {
  if (source.charAt(start) !== "(") return undefined;
  const destination = matchEnd(SPACES, source, start + 1);
  const destinationEnd = source.charAt(destination) === "<"
    ? matchEnd(POINTED_DESTINATION, source, destination)
    : findDestinationEnd(source, destination);
  if (destinationEnd === undefined) return undefined;
  let end = matchEnd(SPACES, source, destinationEnd);
  if (end > destinationEnd) {
    end = matchEnd(SPACES, source, matchEnd(TITLE, source, end));
  }
  return source.charAt(end) === ")" ? end + 1 : undefined;
}

/** Finds the end of a URL with balanced parentheses. */
function findDestinationEnd(source: string, start: number): number | undefined {
  let depth = 0;
  let end = start;
  for (; end < source.length; end++) {
    const character = source.charAt(end);
    if (character === " " || character === "\t") break;
    if (character === ")" && --depth < 0) break;
    if (character === "(" && ++depth > MAX_PARENTHESES) return undefined;
    if (character === "\\" && isEscapable(source.charAt(end + 1))) end++;
  }
  return depth <= 0 ? end : undefined;
}

/** Returns the end of a URL without trailing punctuation, such as the `)` of a pair around it. */
function trimUrl(source: string, start: number, end: number): number {
  let unpaired = 0;
  for (let index = start; index < end; index++) {
    const character = source.charAt(index);
    if (character === ")") unpaired++;
    else if (character === "(") unpaired--;
  }
  for (let trimmed = end; trimmed > start; trimmed--) {
    const character = source.charAt(trimmed - 1);
    if (character === ")" && unpaired > 0) unpaired--;
    else if (!TRAILING_PUNCTUATION.test(character)) return trimmed;
  }
  return start;
}

/** The end of a sticky pattern's match; `start` if there is no match. */
function matchEnd(pattern: RegExp, source: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(source) ? pattern.lastIndex : start;
}

function isEscapable(character: string): boolean {
  return ASCII_PUNCTUATION.test(character);
}

function classOf(character: string): CharacterClass {
  return ASCII_CLASSES[character.charCodeAt(0)] ?? classify(character);
}

function classify(character: string): CharacterClass {
  if (WHITE_SPACE.test(character)) return "space";
  return PUNCTUATION.test(character) ? "punctuation" : "other";
}

/** The character that ends at an index, which may be two code units long. */
function characterBefore(source: string, index: number): string {
  const pair = characterAt(source, index - 2);
  return pair.length === 2 ? pair : source.charAt(index - 1);
}

/** The character at an index; empty outside of the text. */
function characterAt(source: string, index: number): string {
  const code = source.codePointAt(index);
  return code === undefined ? "" : String.fromCodePoint(code);
}
