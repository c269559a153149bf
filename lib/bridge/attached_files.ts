import { Deadline } from "../io.ts";
import { containsNul, isJsonObject, size } from "../text.ts";
import type { RpcResponse } from "./json_rpc.ts";

/** The largest file that is taken, in bytes of UTF-8. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** The most that is taken of all files of a prompt, in bytes of UTF-8. */
export const MAX_FILES_BYTES = 4 * MAX_FILE_BYTES;

export const MAX_FILES = 1000;

/** How long a client may take for all files of a prompt, in milliseconds. */
const TIMEOUT = 10_000;

const TOO_LARGE = `(not read: larger than ${size(MAX_FILE_BYTES)})`;
const NOT_UTF8 = "(not read: not UTF-8)";
const CONTAINS_NUL = "(not read: contains a NUL character)";
const TOO_MANY = `(not read: the files of this prompt are larger than ${
  size(MAX_FILES_BYTES)
})`;

export interface ReadAttachedFilesOptions {
  /** Asks the client; resolves without a response if the signal is aborted. */
  readonly ask: (
    path: string,
    signal: AbortSignal,
  ) => Promise<RpcResponse | undefined>;
  readonly signal: AbortSignal;
}

/**
 * Asks the client for the files that `file:` URIs point to: all at once, each
 * file once, at most 1,000 of them and for at most 10 s.
 *
 * A file is taken whole or not at all. In the order of the URIs, files of up to 1 MiB
 * are taken until the next one would make the total exceed 4 MiB.
 *
 * @returns By URI, the texts of the files that were read in time; of those that are
 * too large, a line that says so.
 */
export async function readAttachedFiles(
  uris: readonly string[],
  { ask, signal }: ReadAttachedFilesOptions,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>(); // paths to URIs
  for (const uri of uris) {
    const path = filePath(uri);
    if (path !== undefined && !files.has(path)) files.set(path, uri);
    if (files.size === MAX_FILES) break;
  }
  if (files.size === 0) return new Map();

  using deadline = new Deadline(TIMEOUT, signal);
  /** In the order of the URIs. */
  const kept: (AttachedFile | undefined)[] = Array(files.size).fill(undefined);
  let total = 0;
  /** How many of the first files may still fit. It only goes down. */
  let end = files.size;
  await Promise.all(Array.from(files, async ([path, uri], index) => {
    const file = fileIn(await ask(path, deadline.signal), uri);
    if (file === undefined) return;
    if (index >= end && file.bytes > 0) {
      kept[index] = notRead(uri, TOO_MANY);
      return;
    }

    kept[index] = file;
    total += file.bytes;
    // At once, so that no more than the limit is held.
    while (total > MAX_FILES_BYTES) {
      end--;
      const last = kept[end];
      if (last === undefined || last.bytes === 0) continue;
      total -= last.bytes;
      kept[end] = notRead(last.uri, TOO_MANY);
    }
  }));
  return new Map(
    kept.flatMap((file) => file === undefined ? [] : [[file.uri, file.text]]),
  );
}

interface AttachedFile {
  readonly uri: string;
  readonly text: string;
  /** The size of the file; 0 if the text only says why it was not read. */
  readonly bytes: number;
}

function notRead(uri: string, why: string): AttachedFile {
  return { uri, text: why, bytes: 0 };
}

/** The file of a response; `undefined` if the client cannot read it. */
function fileIn(
  response: RpcResponse | undefined,
  uri: string,
): AttachedFile | undefined {
  if (response?.fault === "not UTF-8") return notRead(uri, NOT_UTF8);
  if (response?.fault !== undefined) return notRead(uri, TOO_LARGE);
  if (response === undefined || response.error !== undefined) return undefined;

  const { result } = response;
  const text = isJsonObject(result) ? result.content : undefined;
  if (typeof text !== "string") return undefined;
  if (containsNul(text)) return notRead(uri, CONTAINS_NUL);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MAX_FILE_BYTES) return notRead(uri, TOO_LARGE);
  return { uri, text, bytes };
}

/**
 * The absolute path of a `file:` URI on the client's machine. `undefined` for
 * other URIs: one with another host, however it is spelled, would make the client
 * connect to that host.
 */
export function filePath(uri: string): string | undefined {
  // URL.parse() drops line ends, tabs and slashes, and so would name another file.
  if (!/^file:\/(?![/\\]{3})[^\t\n\r]*$/i.test(uri)) return undefined;
  const url = URL.parse(uri);
  if (url === null) return undefined;
  const isWsl = url.hostname === "wsl.localhost"; // Linux below Windows
  const isLocal = url.hostname === ""; // so it is for "localhost"
  if (!isLocal && !isWsl) return undefined;

  const path = decodedPath(url);
  if (path === undefined || /^[/\\]{2}/.test(path)) return undefined;
  if (isWsl) return windowsPath(`//wsl.localhost${path}`);
  const hasDrive = /^\/[a-z]:[/\\]/i.test(path);
  return hasDrive ? windowsPath(path.slice(1)) : path;
}

function decodedPath({ pathname }: URL): string | undefined {
  // An encoded slash is a part of a name, which no path can express.
  if (/%2f|%00/i.test(pathname)) return undefined;
  try {
    return decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
}

function windowsPath(path: string): string {
  return path.replaceAll("/", "\\");
}
