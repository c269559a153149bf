import { Deadline } from "../io.ts";
import { isJsonObject } from "../text.ts";
import type { RpcResponse } from "./json_rpc.ts";

/** The largest file that is taken, in bytes of UTF-8. */
const MAX_FILE_BYTES = 1024 * 1024;

/** The most that is taken of all files of a prompt, in bytes of UTF-8. */
const MAX_PROMPT_BYTES = 4 * MAX_FILE_BYTES;

const MAX_FILES = 1000;

/** How long an editor may take for all files of a prompt, in milliseconds. */
const TIMEOUT = 10_000;

const TOO_LARGE = "(not read: larger than 1 MiB)";
const NOT_UTF8 = "(not read: not UTF-8)";
const TOO_MANY = "(not read: the files of this prompt are larger than 4 MiB)";

export interface ReadAttachedFilesOptions {
  /** Asks the editor; resolves without a response if the signal is aborted. */
  readonly ask: (
    path: string,
    signal: AbortSignal,
  ) => Promise<RpcResponse | undefined>;
  readonly signal: AbortSignal;
}

/**
 * Asks the editor for the files that `file:` URIs point to: all at once, each
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
  const taken: (TakenFile | undefined)[] = Array(files.size).fill(undefined);
  let total = 0;
  await Promise.all(Array.from(files, async ([path, uri], index) => {
    const file = takeFile(uri, await ask(path, deadline.signal));
    if (file === undefined) return;
    taken[index] = file;
    total += file.bytes;
    // At once, so that no more than the limit is held.
    for (let last = taken.length; total > MAX_PROMPT_BYTES; last--) {
      const dropped = taken[last];
      if (dropped === undefined || dropped.bytes === 0) continue;
      total -= dropped.bytes;
      taken[last] = { uri: dropped.uri, text: TOO_MANY, bytes: 0 };
    }
  }));
  return new Map(taken.flatMap((file) => file ? [[file.uri, file.text]] : []));
}

interface TakenFile {
  readonly uri: string;
  readonly text: string;
  /** The size of a file that is taken; 0 if it is not. */
  readonly bytes: number;
}

/** The file of a response; `undefined` if the editor cannot read it. */
function takeFile(
  uri: string,
  response: RpcResponse | undefined,
): TakenFile | undefined {
  if (response?.fault === "not UTF-8") return { uri, text: NOT_UTF8, bytes: 0 };
  if (response?.fault !== undefined) return { uri, text: TOO_LARGE, bytes: 0 };
  if (response === undefined || response.error !== undefined) return undefined;
  const { result } = response;
  const text = isJsonObject(result) ? result.content : undefined;
  if (typeof text !== "string") return undefined;
  const bytes = new TextEncoder().encode(text).length;
  return bytes <= MAX_FILE_BYTES
    ? { uri, text, bytes }
    : { uri, text: TOO_LARGE, bytes: 0 };
}

/**
 * The absolute path of a `file:` URI on the editor's machine. `undefined` for
 * other URIs: one with another host, however it is spelled, would make the editor
 * connect to that host.
 */
export function filePath(uri: string): string | undefined {
  // URL.parse() drops line ends, tabs and slashes, and so would name another file.
  if (!/^file:\/(?![/\\]{3})[^\t\n\r]*$/i.test(uri)) return undefined;
  const url = URL.parse(uri);
  const isWsl = url?.hostname === "wsl.localhost"; // Linux below Windows
  if (url === null || url.hostname !== "" && !isWsl) return undefined; // localhost is ""
  // An encoded slash is a part of a name, which no path can express.
  if (/%2f|%00/i.test(url.pathname)) return undefined;
  let path;
  try {
    path = decodeURIComponent(url.pathname);
  } catch {
    return undefined;
  }
  if (/^[/\\]{2}/.test(path)) return undefined;
  if (isWsl) path = `///wsl.localhost${path}`;
  else if (!/^\/[a-z]:[/\\]/i.test(path)) return path;
  return path.slice(1).replaceAll("/", "\\"); // Windows
}
