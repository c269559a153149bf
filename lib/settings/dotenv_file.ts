/**
 * Reads the file `.env` of the current folder. It is untrusted, and other tools
 * read it too: nothing in it may break or hang the program.
 *
 * @module
 */

import { parse } from "@std/dotenv/parse";
import { SettingsError } from "./settings_error.ts";

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_VALUE_LENGTH = 16 * 1024;

/**
 * Reads `.env` in the current folder: a regular file of UTF-8 of at most 1 MiB. Its text
 * is empty if it does not exist, or cannot be read, which is warned of in one line.
 */
export function readDotenv(warn: (line: string) => void): string {
  try {
    const bytes = readRegularFile(".env");
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    const isForbidden = error instanceof Deno.errors.PermissionDenied ||
      error instanceof Deno.errors.NotCapable;
    const isMisencoded = error instanceof TypeError;
    const reason = isForbidden
      ? "permission denied"
      : isMisencoded
      ? "not UTF-8"
      : error instanceof Error && error.message;
    const remedy = isMisencoded ? "save it as UTF-8, or " : "";
    warn(
      `Cannot read .env, so it is ignored: ${reason}; ${remedy}set its variables in the environment instead`,
    );
    return "";
  }
}

function readRegularFile(path: string): Uint8Array {
  // Checked before opening: opening a pipe waits for its writer.
  if (!Deno.statSync(path).isFile) throw new Error("not a regular file");
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(MAX_FILE_BYTES + 1);
  let length = 0;
  while (length < bytes.length) {
    const read = file.readSync(bytes.subarray(length));
    if (read === null) return bytes.subarray(0, length);
    length += read;
  }
  throw new Error("larger than 1 MiB");
}

/** Whether the text of a `.env` file assigns a variable a value that is not blank. */
export function isAssigned(text: string, name: string): boolean {
  return (assignment(text, name)?.[0] ?? "").trim() !== "";
}

/**
 * The value that the text of a `.env` file assigns to a variable. Takes linear
 * time in the length of the text.
 *
 * @returns The value; `undefined` if there is none or it is blank.
 * @throws {SettingsError} If the value is longer than 16,384 characters, contains a
 * line break or an unquoted `$`, or if its quote is not closed.
 */
export function dotenvValue(text: string, name: string): string | undefined {
  const found = assignment(text, name);
  if (found === undefined) return undefined;
  const [value, quote] = [found[0].trim(), found[1]];
  const refuse = (reason: string) =>
    new SettingsError(`${name} in .env cannot be used: ${reason}`);
  if (value.length > MAX_VALUE_LENGTH) {
    throw refuse(`it is longer than ${MAX_VALUE_LENGTH} characters`);
  }
  if (quote === "" && value.includes("$")) {
    throw refuse("it contains an unquoted $; put the value into single quotes");
  }
  if (quote === "" && /^['"]/.test(value)) {
    throw refuse("its quote is not closed");
  }
  // The parser treats a quoted value that contains U+2028 as unquoted.
  if (endOfLine(value, 0) < value.length) {
    throw refuse("it contains a line break");
  }
  const parsed = parse(`${name}=${quote}${value}${quote}`)[name]?.trim();
  return parsed === "" ? undefined : parsed;
}

/** A value without its quotes and comment, and its quote, which is empty if there is none. */
type Assignment = readonly [value: string, quote: string];

/**
 * The last assignment of a variable in the text of a `.env` file.
 *
 * The rest of the file belongs to other tools and is kept from the parser,
 * which expands `$NAME` (asking for the permission to read each) and loops
 * forever on a self reference.
 */
function assignment(text: string, name: string): Assignment | undefined {
  const start = /^\s*(?:export\s+)?([^\s=#]+)\s*=[ \t]*(['"]?)/;
  let found: Assignment | undefined;
  for (let position = 0; position < text.length;) {
    let end = endOfLine(text, position);
    const match = start.exec(text.slice(position, end));
    if (match !== null) {
      const [opening, variable, quote = ""] = match;
      const inner = position + opening.length;
      const closing = quote === "" ? -1 : text.indexOf(quote, inner);
      if (closing >= 0) end = endOfLine(text, closing);
      if (variable === name) {
        found = closing >= 0
          ? [text.slice(inner, closing), quote]
          : [quote + text.slice(inner, end).replace(/#.*/, ""), ""];
      }
    }
    position = end + 1;
  }
  return found;
}

/** The next line end from a position on, or the end of the text. */
function endOfLine(text: string, from: number): number {
  const lineEnd = /[\n\r\u2028\u2029]/g;
  lineEnd.lastIndex = from;
  return lineEnd.exec(text)?.index ?? text.length;
}
