/**
 * Reads the file `.env` of the current folder. It is untrusted, and other tools
 * read it too: nothing in it may break or hang the program.
 *
 * @module
 */

import { parse } from "jsr:@std/dotenv@^0.225.6/parse";
import { size as sizeInWords } from "../text.ts";
import { SettingsError } from "./settings_error.ts";

const PATH = ".env";
const onWindows = Deno.build.os === "windows";
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_VALUE_LENGTH = 16 * 1024;

interface DotenvFile {
  /** Empty if there is no such file, or it cannot be read. */
  readonly text: string;
  /** Why it cannot be read, in one line. */
  readonly warning?: string;
}

/**
 * Reads `.env` in the current folder: a regular file of UTF-8 of at most 1 MiB.
 *
 * @param options.isNeeded Whether something is missing without it. If not, there is no
 * warning of a network folder on Windows, where Deno fails even if there is no such file.
 */
export function readDotenv(
  { isNeeded }: { readonly isNeeded: boolean },
): DotenvFile {
  try {
    return { text: readRegularFile() };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { text: "" };
    if (isOfNetworkFolder(error) && !isNeeded) return { text: "" };
    return {
      text: "",
      warning: `Cannot read .env, so it is ignored: ${reasonOf(error)}`,
    };
  }
}

function reasonOf(error: unknown): string {
  const otherwise = "set its variables in the environment instead";
  if (!isReadAllowed()) return "run Deno with --allow-read=.env";
  if (error instanceof TypeError) {
    return `not UTF-8; save it as UTF-8, or ${otherwise}`;
  }
  if (isOfNetworkFolder(error)) {
    return `Deno cannot read it in a network folder; ${otherwise}`;
  }
  const isForbidden = error instanceof Deno.errors.PermissionDenied ||
    error instanceof Deno.errors.NotCapable;
  const reason = isForbidden
    ? "permission denied"
    : error instanceof Error && error.message;
  return `${reason}; ${otherwise}`;
}

function isReadAllowed(): boolean {
  const { state } = Deno.permissions.querySync({ name: "read", path: PATH });
  return state === "granted";
}

/** Whether Deno refuses a file that it is allowed to read, as it does on Windows. */
function isOfNetworkFolder(error: unknown): boolean {
  return onWindows && isReadAllowed() &&
    error instanceof Deno.errors.NotCapable;
}

function readRegularFile(): string {
  // Before it is opened: opening a pipe waits for its writer.
  const { isFile, size } = statusOf();
  if (!isFile) throw new Error("not a regular file");
  if (size > MAX_FILE_BYTES) {
    throw new Error(`larger than ${sizeInWords(MAX_FILE_BYTES)}`);
  }
  const bytes = Deno.readFileSync(PATH);
  // UTF-16, of which not all begins with a mark.
  if (bytes.includes(0)) throw new TypeError("There is a NUL");
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

function statusOf(): Pick<Deno.FileInfo, "isFile" | "size"> {
  try {
    return Deno.statSync(PATH);
  } catch (error) {
    // Only opening such a file tells whether it can be read. It is no pipe: Windows has
    // those elsewhere.
    if (isOfNetworkFolder(error)) return { isFile: true, size: 0 };
    throw error;
  }
}

/** Whether the text of a `.env` file assigns a variable a value that is not blank. */
export function isAssigned(text: string, name: string): boolean {
  const found = assignment(text, name);
  return found !== undefined && found.value.trim() !== "";
}

/**
 * The value that the text of a `.env` file assigns to a variable. Takes linear
 * time in the length of the text.
 *
 * @returns The value; `undefined` if there is none or it is blank.
 * @throws {SettingsError} If the value is longer than 16,384 characters, contains a
 * line break or an unquoted `$`, if its quote is not closed, or if the only assignment
 * of the variable is within the quotes of another value.
 */
export function dotenvValue(text: string, name: string): string | undefined {
  const found = assignment(text, name);
  if (found === undefined) return undefined;
  const refuse = (reason: string) =>
    new SettingsError(`${name} in .env cannot be used: ${reason}`);
  const { quote, swallowedBy } = found;
  if (swallowedBy !== undefined) {
    const line = text.slice(0, swallowedBy).split(/\r\n?|\n/).length;
    throw refuse(
      `it is part of the quoted value that begins in line ${line}; close the quote there`,
    );
  }
  const value = found.value.trim();
  if (value.length > MAX_VALUE_LENGTH) {
    throw refuse(`it is longer than ${MAX_VALUE_LENGTH} characters`);
  }
  if (quote === "" && value.includes("$")) {
    throw refuse("it contains an unquoted $; put the value into single quotes");
  }
  if (quote === "" && /^['"`]/.test(value)) {
    throw refuse("its quote is not closed");
  }
  // The parser treats a quoted value that contains U+2028 as unquoted.
  if (endOfLine(value, 0) < value.length) {
    throw refuse("it contains a line break");
  }
  // The parser does not know backticks; Node.js, Bun and dotenv take what they enclose.
  const parsed = quote === "`"
    ? value
    : parse(`${name}=${quote}${value}${quote}`)[name]?.trim();
  return parsed === "" ? undefined : parsed;
}

interface Assignment {
  /** Without its quotes and comment. */
  readonly value: string;
  /** Empty if there is none. */
  readonly quote: string;
  /**
   * Where another quoted value begins that contains it: its quote may have been left
   * open. Set if there is no other assignment.
   */
  readonly swallowedBy?: number;
}

/**
 * The last assignment of a variable in the text of a `.env` file.
 *
 * The rest of the file belongs to other tools and is kept from the parser,
 * which expands `$NAME` (asking for the permission to read each) and loops
 * forever on a self reference.
 */
function assignment(text: string, name: string): Assignment | undefined {
  const start = /^\s*(?:export\s+)?([^\s=#]+)\s*=[ \t]*(['"`]?)/;
  const swallowed = RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=`, "m");
  let found: Assignment | undefined;
  let position = 0;
  while (position < text.length) {
    let end = endOfLine(text, position);
    const match = start.exec(text.slice(position, end));
    if (match !== null) {
      const [opening, variable, quote = ""] = match;
      const inner = position + opening.length;
      const closing = quote === "" ? -1 : text.indexOf(quote, inner);
      const isQuoted = closing >= 0;
      if (isQuoted) end = endOfLine(text, closing);
      const quoted = text.slice(inner, closing);
      const bare = quote + text.slice(inner, end);
      if (variable === name) {
        // A value without quotes ends where a comment begins.
        found = isQuoted
          ? { value: quoted, quote }
          : { value: bare.replace(/#.*/, ""), quote: "" };
      } else if (isQuoted && swallowed.test(quoted)) {
        found ??= { value: "", quote, swallowedBy: position };
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
