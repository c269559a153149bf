/**
 * The files that a prompt links to, read through the editor
 * (`fs/read_text_file` of ACP).
 *
 * @module
 */

import { Deadline } from "../io.ts";
import { isJsonObject, withoutLineEnd } from "../text.ts";
import type { RpcResponse } from "./json_rpc.ts";

/** The most that is taken of one file, in bytes of UTF-8. */
const MAX_FILE_BYTES = 1024 * 1024;

/** The most that is taken of all files of a prompt, in bytes of UTF-8. */
const MAX_PROMPT_BYTES = 4 * MAX_FILE_BYTES;

/** The most files of a prompt that are requested. */
const MAX_FILES = 1000;

/** How long an editor may take for all files of a prompt, in milliseconds. */
const TIMEOUT = 10_000;

export interface ReadAttachedFilesOptions {
  /** Asks the editor; resolves without a response if the signal is aborted. */
  readonly ask: (
    path: string,
    signal: AbortSignal,
  ) => Promise<RpcResponse | undefined>;
  /** Aborting it ends the reading. */
  readonly signal: AbortSignal;
}

/**
 * Asks the editor for the files that `file:` URIs point to: all at once, each
 * file once, at most 1,000 of them and for at most 10 s.
 *
 * At most 1 MiB of each file is taken; a last line then says how much was left
 * out. In the order of the URIs, files are taken until the next one would make
 * the total exceed 4 MiB; that file and all after it are left out.
 *
 * @returns The texts of the files that were read in time, by URI.
 */
export async function readAttachedFiles(
  uris: readonly string[],
  options: ReadAttachedFilesOptions,
): Promise<ReadonlyMap<string, string>> {
  const { ask, signal } = options;
  const files = new Map<string, string>(); // paths to URIs
  for (const uri of uris) {
    const path = filePath(uri);
    if (path !== undefined && !files.has(path)) files.set(path, uri);
    if (files.size === MAX_FILES) break;
  }
  if (files.size === 0) return new Map();

  const deadline = new Deadline(signal, TIMEOUT);
  /** In the order of the URIs. It ends before the first file that is left out. */
  const read: (TakenFile | undefined)[] = Array(files.size).fill(undefined);
  try {
    await Promise.all(Array.from(files, async ([path, uri], index) => {
      const text = contentOf(await ask(path, deadline.signal));
      if (text === undefined || index >= read.length) return;
      read[index] = { uri, ...limited(withoutLineEnd(text)) };
      let total = 0;
      const end = read.findIndex((file) =>
        (total += file?.bytes ?? 0) > MAX_PROMPT_BYTES
      );
      if (end >= 0) read.length = end;
    }));
  } finally {
    deadline.end();
  }
  const taken = read.filter((file) => file !== undefined);
  return new Map(taken.map(({ uri, text }) => [uri, text]));
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
  if (url === null || url.hostname !== "") return undefined; // localhost is ""
  // An encoded slash is a part of a name, which no path can express.
  if (/%2f|%00/i.test(url.pathname)) return undefined;
  let path;
  try {
    path = decodeURIComponent(url.pathname);
  } catch {
    return undefined;
  }
  if (/^[/\\]{2}/.test(path)) return undefined;
  return /^\/[a-z]:\//i.test(path)
    ? path.slice(1).replaceAll("/", "\\") // Windows
    : path;
}

function contentOf(response: RpcResponse | undefined): string | undefined {
  if (response === undefined || response.error !== undefined) return undefined;
  const { result } = response;
  return isJsonObject(result) && typeof result.content === "string"
    ? result.content
    : undefined;
}

/** What is taken of a file, and its size without the line about the rest. */
interface TakenFile {
  readonly uri: string;
  readonly text: string;
  readonly bytes: number;
}

/** The part of a text that is within the limit, and the line about the rest. */
function limited(text: string): Omit<TakenFile, "uri"> {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_FILE_BYTES) return { text, bytes: bytes.length };
  const part = new Uint8Array(MAX_FILE_BYTES);
  const { written: end } = new TextEncoder().encodeInto(text, part);
  // Decoded from bytes: a slice of the string would keep the whole text in memory.
  const taken = new TextDecoder("utf-8", { ignoreBOM: true })
    .decode(part.subarray(0, end));
  const left = bytes.length - end;
  return {
    text: `${withoutLineEnd(taken)}\n[${left} more ${
      left === 1 ? "byte was" : "bytes were"
    } left out]`,
    bytes: end,
  };
}
