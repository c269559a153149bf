/**
 * The key and the base URL: where they come from, and which ones are accepted.
 *
 * @module
 */

import { parse } from "@std/dotenv/parse";

/** Where the client reaches the service if nothing else is configured. */
export const DEFAULT_BASE_URL = "https://the-brain.example";

const KEY = "APP_API_KEY";
const BASE_URL = "APP_BASE_URL";
const MAX_DOTENV_BYTES = 1024 * 1024;
const MAX_SETTING_LENGTH = 16 * 1024;

/** What the program needs to know before a front end starts. */
export interface Settings {
  /** The validated API key. Never shown; see {@linkcode maskKey}. */
  readonly apiKey: string;
  /** The validated base URL, without a trailing slash. */
  readonly baseUrl: string;
  /** Whether its host is this machine: then no proxy may stand in between. */
  readonly isLocal: boolean;
  /** Where the two came from, for people who look for a mistake. */
  readonly sources: SettingSources;
}

/** Where the settings came from. */
export interface SettingSources {
  readonly apiKey: "environment" | ".env";
  readonly baseUrl: "--base-url" | "environment" | ".env" | "built-in";
}

/** A setting is missing or not acceptable. The message names it and never shows its value. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** Options of {@linkcode loadSettings}. */
export interface LoadSettingsOptions {
  /** The value of `--base-url`, if it was given. */
  readonly baseUrl?: string | undefined;
  /** Called with one line for whatever is ignored, and why. */
  readonly warn: (line: string) => void;
}

/**
 * Loads the settings (interface 5): flags win over the environment, which wins
 * over a `.env` file in the current folder. Nothing is exported into the
 * process.
 *
 * `APP_BASE_URL` in `.env` counts only if the key comes from there as well: a
 * folder must never choose where the user's own key is sent.
 *
 * @throws {SettingsError} If the key or the base URL is missing or malformed.
 */
export function loadSettings(options: LoadSettingsOptions): Settings {
  const { warn } = options;
  const file = readDotenv(warn);

  const keyFromEnvironment = fromEnvironment(KEY);
  const apiKey = validateKey(
    keyFromEnvironment ?? settingFromDotenv(file, KEY),
  );

  let baseUrl = options.baseUrl ?? fromEnvironment(BASE_URL);
  let source = options.baseUrl === undefined ? BASE_URL : "--base-url";
  let origin: SettingSources["baseUrl"] = options.baseUrl !== undefined
    ? "--base-url"
    : baseUrl !== undefined
    ? "environment"
    : "built-in";
  if (baseUrl === undefined && nonBlank(assignment(file, BASE_URL)?.value)) {
    if (keyFromEnvironment === undefined) {
      baseUrl = settingFromDotenv(file, BASE_URL);
      source = `${BASE_URL} in .env`;
      if (baseUrl !== undefined) origin = ".env";
    } else {
      warn(
        `Ignoring ${BASE_URL} in .env: it counts only if ${KEY} stands there too`,
      );
    }
  }
  return {
    apiKey,
    ...validateBaseUrl(baseUrl ?? DEFAULT_BASE_URL, source),
    sources: {
      apiKey: keyFromEnvironment === undefined ? ".env" : "environment",
      baseUrl: origin,
    },
  };
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/**
 * Forgets the proxies of the environment. To be called before the first request:
 * a proxy would see the key of an `http:` service in clear text.
 */
export function ignoreProxies(): void {
  for (const name of ["http_proxy", "https_proxy", "all_proxy"]) {
    Deno.env.delete(name);
    Deno.env.delete(name.toUpperCase());
  }
}

function validateKey(value: string | undefined): string {
  if (value === undefined) {
    throw new SettingsError(
      `${KEY} is not set: export it, or put ${KEY}='...' into a .env file in the current folder`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new SettingsError(
      `${KEY} is malformed: a key is printable ASCII without spaces; copy it again`,
    );
  }
  return value;
}

function validateBaseUrl(
  value: string,
  source: string,
): Pick<Settings, "baseUrl" | "isLocal"> {
  const text = value.trim();
  const url = URL.parse(text);
  const refuse = (reason: string) =>
    new SettingsError(`${source} cannot be used: ${reason}`);
  // URL.parse() forgives blanks, backslashes and slashes too many.
  if (url === null || !/^https?:\/\/[^/\\\s][^\\\s]*$/i.test(text)) {
    throw refuse("it is not an absolute URL such as https://host/path");
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) {
    throw refuse(`it holds user info; the key goes into ${KEY}`);
  }
  if (/[?#]/.test(text)) {
    throw refuse("it holds a query or a fragment; leave them out");
  }
  const isLocal = isLoopback(url);
  if (url.protocol === "http:" && !isLocal) {
    throw refuse(
      "http: would send the key in clear text; use https: (http: is for localhost, 127.0.0.0/8 and [::1])",
    );
  }
  return { baseUrl: url.href.replace(/\/+$/, ""), isLocal };
}

function fromEnvironment(name: string): string | undefined {
  try {
    return nonBlank(Deno.env.get(name));
  } catch (error) {
    if (!(error instanceof Deno.errors.InvalidData)) throw error;
    // The error itself shows the value.
    throw new SettingsError(`${name} is malformed: it is not valid Unicode`);
  }
}

function nonBlank(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  return trimmed === "" ? undefined : trimmed;
}

/** The text of `.env`: empty if there is none, or none that can be read. */
function readDotenv(warn: (line: string) => void): string {
  try {
    const bytes = readRegularFile(".env");
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) {
      warn(`Cannot read .env: ${readFailure(error)}; it is ignored`);
    }
    return "";
  }
}

class UnreadableFileError extends Error {}

function readRegularFile(path: string): Uint8Array {
  // Asked before it is opened: opening a pipe waits for its writer.
  if (!Deno.statSync(path).isFile) {
    throw new UnreadableFileError("not a regular file");
  }
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(MAX_DOTENV_BYTES + 1);
  let length = 0;
  while (length < bytes.length) {
    const read = file.readSync(bytes.subarray(length));
    if (read === null) return bytes.subarray(0, length);
    length += read;
  }
  throw new UnreadableFileError("larger than 1 MiB");
}

function readFailure(error: unknown): string {
  if (error instanceof UnreadableFileError) return error.message;
  if (error instanceof TypeError) return "not UTF-8";
  if (
    error instanceof Deno.errors.PermissionDenied ||
    error instanceof Deno.errors.NotCapable
  ) return "permission denied";
  return error instanceof Error ? error.message : String(error);
}

function settingFromDotenv(text: string, name: string): string | undefined {
  const found = assignment(text, name);
  if (found === undefined) return undefined;
  const { quote } = found;
  const value = found.value.trim();
  const refuse = (reason: string) =>
    new SettingsError(`${name} in .env cannot be used: ${reason}`);
  if (value.length > MAX_SETTING_LENGTH) {
    throw refuse(`it is longer than ${MAX_SETTING_LENGTH} characters`);
  }
  if (quote === "" && value.includes("$")) {
    throw refuse("it holds an unquoted $; put the value into single quotes");
  }
  if (quote === "" && /^['"]/.test(value)) {
    throw refuse("its quote is not closed");
  }
  // The parser takes a value with U+2028 in its quotes for one without quotes.
  if (endOfLine(value, 0) < value.length) throw refuse("it holds a line break");
  return nonBlank(parse(`${name}=${quote}${value}${quote}`)[name]);
}

interface Assignment {
  /** What is behind the `=`, without quotes and comment. */
  readonly value: string;
  /** What the value is quoted with: empty if it is not. */
  readonly quote: string;
}

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
        const value = closing >= 0
          ? text.slice(inner, closing)
          : quote + text.slice(inner, end).replace(/#.*/, "");
        found = { value, quote: closing >= 0 ? quote : "" };
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
