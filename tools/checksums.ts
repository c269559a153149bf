/** SHA-256 sums in hexadecimal, by the names of files. */
export type Sums = ReadonlyMap<string, string>;

const SUMS = "SHA256SUMS";

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
  const names = (await Array.fromAsync(Deno.readDir(folder)))
    .filter(({ isFile, name }) => isFile && name !== SUMS)
    .map(({ name }) => name);
  const sums = new Map<string, string>();
  for (const name of names.sort()) {
    sums.set(name, await sha256(await Deno.readFile(`${folder}/${name}`)));
  }
  await Deno.writeTextFile(`${folder}/${SUMS}`, formatSums(sums));
}
