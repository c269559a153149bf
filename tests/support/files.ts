import { dirname } from "node:path";

/** Texts of files by their paths: "-> X" is a link to X, and "none" is no file. */
export type Files = Readonly<Record<string, string>>;

/** Writes files into a folder, in the place of what is there. All of them may be run. */
export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = `${folder}/${path}`;
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.remove(file).catch(() => {});
    if (text.startsWith("-> ")) await Deno.symlink(text.slice(3), file);
    else if (text !== "none") {
      await Deno.writeTextFile(file, text, { mode: 0o755 });
    }
  }
}

/** The names of what is in a folder, sorted. */
export function namesIn(folder: string): readonly string[] {
  return Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
}
