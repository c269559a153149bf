/**
 * Archives as npm and Debian's tools read them. The job that vouches for a package writes
 * it here, and takes none that another program has made: two readers of one archive may
 * see different files in it.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { ToolError } from "../tool_error.ts";

/** A file of an archive, or a folder: its path ends in a slash. */
export interface Entry {
  /** Printable ASCII, at most 100 characters. */
  readonly path: string;
  readonly mode: 0o644 | 0o755;
  readonly bytes?: Uint8Array;
}

const BLOCK = 512;

/**
 * Writes a tar archive in the format ustar, of files that belong to root.
 *
 * @param seconds The time of all files, since 1970.
 * @throws {ToolError} If a path does not fit.
 */
export function tar(entries: readonly Entry[], seconds: number): Uint8Array {
  const blocks = entries.flatMap(({ path, mode, bytes = new Uint8Array() }) => {
    if (!/^[\x21-\x7e]{1,100}$/.test(path)) {
      throw new ToolError(`A tar archive cannot contain ${path}`);
    }
    const rest = (BLOCK - bytes.length % BLOCK) % BLOCK;
    const header = tarHeader({ path, mode, size: bytes.length, seconds });
    return [header, bytes, Buffer.alloc(rest)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

interface HeaderFields {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  readonly seconds: number;
}

function tarHeader({ path, mode, size, seconds }: HeaderFields): Uint8Array {
  const octal = (value: number, width: number) =>
    `${value.toString(8).padStart(width - 1, "0")}\0`;
  const text = (value: string, width: number) => value.padEnd(width, "\0");
  const [user, group] = [octal(0, 8), octal(0, 8)];
  const start = text(path, 100) + octal(mode, 8) + user + group +
    octal(size, 12) + octal(seconds, 12);
  const type = path.endsWith("/") ? "5" : "0";
  const end = text(type, 101) + "ustar\0" + "00" +
    text("root", 32) + text("root", 32);
  // The sum of all bytes, with spaces in place of the sum.
  const sum = Buffer.from(start + " ".repeat(8) + end)
    .reduce((total, byte) => total + byte, 0);
  return Buffer.from(text(`${start}${octal(sum, 7)} ${end}`, BLOCK));
}

/** Writes an ar archive, which a Debian package is, of files with one time. */
export function ar(
  files: Readonly<Record<string, Uint8Array>>,
  seconds: number,
): Uint8Array {
  const members = Object.entries(files).flatMap(([name, bytes]) => {
    const fields = [[name, 16], [seconds, 12], [0, 6], [0, 6], [
      100644,
      8,
    ]] as const;
    const header = [...fields, [bytes.length, 10] as const]
      .map(([value, width]) => `${value}`.padEnd(width)).join("");
    const rest = bytes.length % 2 === 1 ? "\n" : "";
    return [Buffer.from(`${header}\`\n`), bytes, Buffer.from(rest)];
  });
  return Buffer.concat([Buffer.from("!<arch>\n"), ...members]);
}

/** Compresses bytes: the same with the same Deno. */
export function gzip(content: Uint8Array | string): Uint8Array {
  return gzipSync(content, { level: 9 });
}
