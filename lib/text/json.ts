import { inParts } from "./foreign_text.ts";

/** Shorter JSON is always parsed, in UTF-16 code units. */
export const SHORT_JSON = 64 * 1024;

/** The most brackets, braces, commas and colons outside of strings. */
export const MAX_SIGNS = 250_000;

/**
 * Whether JSON contains so many values that parsing it would take a hundred times its
 * size: more than {@linkcode MAX_SIGNS} brackets, braces, commas and colons outside
 * of strings.
 */
export function holdsTooMuch(json: string): boolean {
  if (json.length <= SHORT_JSON) return false;
  let signs = 0;
  for (let index = 0; index < json.length; index++) {
    switch (json[index]) {
      case '"':
        index = endOfString(json, index);
        break;
      case "{":
      case "}":
      case "[":
      case "]":
      case ",":
      case ":":
        if (++signs > MAX_SIGNS) return true;
    }
  }
  return false;
}

function endOfString(json: string, start: number): number {
  for (let end = start;;) {
    end = json.indexOf('"', end + 1);
    if (end < 0) return json.length;
    let backslashes = 0;
    while (json[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

/**
 * The value of foreign JSON; `undefined` if it is none. Its texts may contain halves of
 * surrogate pairs.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A JSON object as it is; an empty one for any other value. */
export function membersOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The longest text that is written in one part, in UTF-16 code units. */
const PART_LENGTH = 64 * 1024;

/** Stands for a long text in a line. It is random: no foreign text contains it. */
const BLANK = crypto.randomUUID();

/**
 * A line whose parts are made while it is written, because as one string a long line
 * takes several times its length: the string, its copy with a newline, and garbage.
 */
export interface LineInParts extends Iterable<string> {
  /** About how long it is, in UTF-16 code units. */
  readonly length: number;
}

interface JsonLineOptions {
  /**
   * The text in the value that may be long. Looking for it would take as long as
   * formatting a short line.
   */
  readonly text?: string | undefined;
  /**
   * Escapes characters that JSON allows as they are. The default is for lines that may
   * be shown on a terminal; {@linkcode escapeLineEnds} takes 0.2 us less for an event.
   */
  readonly escape?: (json: string) => string;
}

/**
 * A value as one line of JSON. A long text in it is formatted part by part, while the
 * line is written: all at once takes seconds, and several times its memory.
 */
export function jsonLine(
  value: object,
  { text = "", escape = escapeControls }: JsonLineOptions = {},
): string | LineInParts {
  if (text.length <= PART_LENGTH) return `${escape(JSON.stringify(value))}\n`;
  const fill = (_: string, member: unknown) => member === text ? BLANK : member;
  const [start = "", end = ""] = JSON.stringify(value, fill).split(BLANK);
  return {
    length: text.length,
    *[Symbol.iterator]() {
      yield escape(start);
      for (const part of inParts(text, PART_LENGTH)) {
        yield escape(JSON.stringify(part).slice(1, -1));
      }
      yield `${escape(end)}\n`;
    },
  };
}

/**
 * Escapes the line ends of Unicode (U+0085, U+2028, U+2029), which JSON leaves as they
 * are: the readline of Node.js 24 and `splitlines()` of Python end a line there. The
 * value stays the same.
 */
export function escapeLineEnds(json: string): string {
  return json.replaceAll("\x85", "\\u0085")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}

/**
 * Escapes the control characters that JSON leaves as they are (DEL, C1, line
 * separators and the characters that reorder others), so that it can be shown on
 * a terminal. The value stays the same.
 *
 * @param json JSON, at most 256 KiB: a function is called for each match.
 */
export function escapeControls(json: string): string {
  return json.replace(
    /[\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
