import { Deadline } from "../io.ts";
import { byteLength, containsNul, membersOf, size } from "../text.ts";
import type { RpcResponse } from "./json_rpc.ts";

/** The largest file that is taken, in bytes of UTF-8. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** The most that is taken of all files of a prompt, in bytes of UTF-8. */
export const MAX_FILES_BYTES = 4 * MAX_FILE_BYTES;

/** How long a client may take for all files of a prompt, in milliseconds. */
export const READ_TIMEOUT = 10_000;

const TOO_LARGE = `(not read: larger than ${size(MAX_FILE_BYTES)})`;
const NOT_UTF8 = "(not read: not UTF-8)";
const TOO_MANY = `(not read: the files of this prompt are larger than ${
  size(MAX_FILES_BYTES)
})`;

/**
 * Asks the client for the files that `file:` URIs point to: one after the other, each
 * URI once, and for at most 10 s together. A file is taken whole or not at all: up to
 * 1 MiB, if it fits into what is left of 4 MiB.
 *
 * @param ask Requests a file from the client; resolves to `undefined` when aborted.
 * @returns By URI, the texts of the files that were read in time; of those that are
 * too large, or not UTF-8, a line that says so.
 */
export async function readAttachedFiles(
  uris: readonly string[],
  { ask, signal }: {
    readonly ask: (
      path: string,
      signal: AbortSignal,
    ) => Promise<RpcResponse | undefined>;
    readonly signal: AbortSignal;
  },
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  let left = MAX_FILES_BYTES;
  using deadline = new Deadline(READ_TIMEOUT, signal);
  for (const uri of new Set(uris)) {
    const path = filePath(uri);
    if (path === undefined) continue;
    const response = await ask(path, deadline.signal);
    if (response?.fault !== undefined) {
      const isText = response.fault !== "not UTF-8";
      texts.set(uri, isText ? TOO_LARGE : NOT_UTF8);
      continue;
    }
    const text = textIn(response);
    if (text === undefined) continue;

    const bytes = byteLength(text);
    if (bytes > MAX_FILE_BYTES) {
      texts.set(uri, TOO_LARGE);
    } else if (bytes > left) {
      texts.set(uri, TOO_MANY);
    } else {
      texts.set(uri, text);
      left -= bytes;
    }
  }
  return texts;
}

/** The text of the file in a response; `undefined` if the client cannot read it. */
function textIn(response: RpcResponse | undefined): string | undefined {
  const { content } = membersOf(response?.result);
  const isText = typeof content === "string" && !containsNul(content);
  return isText ? content : undefined;
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
  if (url.hostname !== "") return undefined; // It is "" for "localhost".

  const path = decodedPath(url);
  if (path === undefined || /^[/\\]{2}/.test(path)) return undefined;
  const hasDrive = /^\/[a-z]:[/\\]/i.test(path);
  return hasDrive ? path.slice(1).replaceAll("/", "\\") : path;
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
