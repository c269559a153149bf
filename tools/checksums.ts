const NAME = "SHA256SUMS";

/**
 * Writes `SHA256SUMS` into a folder: the digest of every other file in it, as
 * `sha256sum -c` reads it.
 */
export async function writeChecksums(folder: string): Promise<void> {
  const names = (await Array.fromAsync(Deno.readDir(folder)))
    .filter(({ isFile, name }) => isFile && name !== NAME)
    .map(({ name }) => name)
    .sort();
  let sums = "";
  for (const name of names) {
    const bytes = await Deno.readFile(`${folder}/${name}`);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    sums += `${new Uint8Array(digest).toHex()}  ${name}\n`;
  }
  await Deno.writeTextFile(`${folder}/${NAME}`, sums);
}
