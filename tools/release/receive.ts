/**
 * Moves files that another job of a release has made into `dist/`. It refuses a file
 * that nobody asked for, so no job can replace what an earlier one has made.
 *
 *     receive.ts FOLDER            what FOLDER/SHA256SUMS names, each with that sum
 *     receive.ts FOLDER NAME...    these files
 *
 * @module
 */
import { checkSums, SUMS } from "../checksums.ts";
import { runTool, ToolError } from "../tool_error.ts";

const DIST = `${import.meta.dirname}/../../dist`;

/**
 * Moves files from one folder to another.
 *
 * @param names The files; by default those of `SHA256SUMS`, and that file itself.
 * @throws {ToolError} If one is missing or has another sum, if there are more of them, or
 * if the other folder has one already.
 */
export async function receive(
  from: string,
  to: string,
  names?: readonly string[],
): Promise<void> {
  const asked = new Set(names ?? [...(await checkSums(from)).keys(), SUMS]);
  const found = await Array.fromAsync(Deno.readDir(from));
  for (const { name, isFile } of found) {
    if (!asked.has(name)) {
      throw new ToolError(`${from} brings ${name}, which nobody asked for`);
    }
    if (!isFile) throw new ToolError(`${name} in ${from} is not a file`);
  }
  await Deno.mkdir(to, { recursive: true });
  const there = new Set(
    (await Array.fromAsync(Deno.readDir(to))).map(({ name }) => name),
  );
  for (const name of asked) {
    if (!found.some((entry) => entry.name === name)) {
      throw new ToolError(`${from} lacks ${name}`);
    }
    if (there.has(name)) {
      throw new ToolError(`${from} brings ${name}, which ${to} has already`);
    }
  }
  for (const name of asked) {
    await Deno.rename(`${from}/${name}`, `${to}/${name}`);
  }
}

async function main(): Promise<void> {
  const [folder = "", ...names] = Deno.args;
  await receive(folder, DIST, names.length > 0 ? names : undefined);
}

if (import.meta.main) await runTool(main);
