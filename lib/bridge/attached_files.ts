/**
 * The files that a prompt links to, read through the editor
 * (`fs/read_text_file` of ACP).
 *
 * @module
 */

import { Timeout } from "../io.ts";
import { isJsonObject, withoutLineEnd } from "../text.ts";
import type { RpcResponse } from "./json_rpc.ts";

/** The most that is taken of one file, in bytes of UTF-8. */
const MAX_FILE_BYTES = 1024 * 1024;

/** The most that is taken of all files of a prompt, in bytes of UTF-8. */
const MAX_PROMPT_BYTES = 4 * MAX_FILE_BYTES;

/** The most files of a prompt that are requested. */
const MAX_FILES = 1000;

/** How long an editor may take for all files of a prompt, in milliseconds. */
const PATIENCE = 10_000;

/**
 * How much longer it may take if the process was stopped meanwhile: answers that
 * have arrived have to be read first. In milliseconds.
 */
const GRACE = 5_000;

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

  const controller = new AbortController();
  const end = () => controller.abort();
  const timeout = new Timeout(PATIENCE, GRACE, end);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const texts = new TextBudget(files.size);
  try {
    await Promise.all(Array.from(files.keys(), async (path, index) => {
      const text = contentOf(await ask(path, controller.signal));
      if (text !== undefined) texts.add(index, text);
    }));
  } finally {
    timeout.clear();
    signal.removeEventListener("abort", end);
  }
  return new Map(
    Array.from(files.values(), (uri, index) => [uri, texts.at(index)] as const)
      .filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
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

/** The texts of files. It holds no more of them than the limits allow. */
class TextBudget {
  readonly #texts: ({ text: string; bytes: number } | undefined)[];
  #end: number; // the index of the first file that is left out

  constructor(count: number) {
    this.#texts = new Array(count).fill(undefined);
    this.#end = count;
  }

  /** Adds the text of the file at an index. */
  add(index: number, text: string): void {
    if (index >= this.#end) return;
    this.#texts[index] = limited(withoutLineEnd(text));
    let total = 0;
    for (let i = 0; i < this.#end; i++) {
      total += this.#texts[i]?.bytes ?? 0;
      if (total > MAX_PROMPT_BYTES) this.#end = i;
    }
    this.#texts.length = this.#end;
  }

  at(index: number): string | undefined {
    return this.#texts[index]?.text;
  }
}

/** The part of a text that is within the limit, and the line about the rest. */
function limited(text: string): { text: string; bytes: number } {
  const encoder = new TextEncoder();
  const buffer = new Uint8Array(Math.min(3 * text.length, MAX_FILE_BYTES));
  const { read, written } = encoder.encodeInto(text, buffer);
  if (read === text.length) return { text, bytes: written };
  // Decoded from bytes: a slice of the string would keep the whole text in memory.
  const taken = new TextDecoder("utf-8", { ignoreBOM: true })
    .decode(buffer.subarray(0, written));
  let left = 0;
  for (let start = read; start < text.length;) {
    const piece = encoder.encodeInto(text.slice(start), buffer);
    start += piece.read;
    left += piece.written;
  }
  return {
    text: `${withoutLineEnd(taken)}\n[${left} more ${
      left === 1 ? "byte was" : "bytes were"
    } left out]`,
    bytes: written,
  };
}
