import { ToolError } from "./tool_error.ts";

/** SHA-256 sums in hexadecimal, by the names of files. */
export type Sums = ReadonlyMap<string, string>;

/** The file with the sums of the other files in its folder. */
export const SUMS = "SHA256SUMS";

/** The SHA-256 sum of some bytes, in hexadecimal. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(digest).toHex();
}

/** Reads lines of `sha256sum`. */
export function parseSums(text: string): Sums {
  const lines = text.matchAll(/^([0-9a-f]{64}) {2}(.+)$/gm);
  return new Map(Array.from(lines, ([, sum = "", name = ""]) => [name, sum]));
}

/** Writes sums as `sha256sum` does. */
export function formatSums(sums: Sums): string {
  return Array.from(sums, ([name, sum]) => `${sum}  ${name}\n`).join("");
}

/** Writes `SHA256SUMS` into a folder, with the sum of every other file in it. */
export async function writeChecksums(folder: string): Promise<void> {
  await write(folder, new Map());
}

/**
 * Adds the sums of new files to the `SHA256SUMS` of a folder. What is in it stays.
 *
 * @throws {ToolError} If one of the files that it names has changed, or is missing.
 */
export async function addChecksums(folder: string): Promise<void> {
  await write(folder, await checkSums(folder));
}

/**
 * Compares files with the `SHA256SUMS` of their folder, and returns the sums.
 *
 * @throws {ToolError} If one has another sum, or is missing.
 */
export async function checkSums(folder: string): Promise<Sums> {
  const sums = parseSums(await Deno.readTextFile(`${folder}/${SUMS}`));
  for (const [name, sum] of sums) {
    const bytes = await Deno.readFile(`${folder}/${name}`).catch(() => {
      throw new ToolError(`${SUMS} names ${name}, which is missing`);
    });
    const found = await sha256(bytes);
    if (found !== sum) {
      throw new ToolError(
        `${name} has the SHA-256 sum ${found}, and ${SUMS} has ${sum}`,
      );
    }
  }
  return sums;
}

/** Writes `SHA256SUMS`, with the known sums first. */
async function write(folder: string, known: Sums): Promise<void> {
  const names = (await Array.fromAsync(Deno.readDir(folder)))
    .filter(({ isFile, name }) => isFile && name !== SUMS && !known.has(name))
    .map(({ name }) => name);
  const sums = new Map(known);
  for (const name of names.sort()) {
    sums.set(name, await sha256(await Deno.readFile(`${folder}/${name}`)));
  }
  await Deno.writeTextFile(`${folder}/${SUMS}`, formatSums(sums));
}
