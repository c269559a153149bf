/**
 * Proves that the simulation finds what it is made for: each mutant below breaks the
 * program in one place, and a story has to show it.
 *
 *     deno task mutants [WORD]      those whose description holds the word
 *
 * Each is tried with its seed first; if stories are drawn differently by now, with others
 * until one shows it, which is printed. Run it after a change of the simulation, and
 * before a release.
 *
 * @module
 */

import { cp } from "node:fs/promises";
import { SourceCopy } from "../support/source_copy.ts";

interface Mutant {
  readonly what: string;
  readonly file: string;
  /** Text that the file has once, and what takes its place. */
  readonly from: string;
  readonly to: string;
  readonly seed: number;
}

const MUTANTS: readonly Mutant[] = [];

/** So many stories of each kind are played before a mutant counts as not found. */
const MOST = 20_000;

const ROOT = `${import.meta.dirname}/../..`;
const NEEDED = ["simulation", "support/random_numbers.ts"];

/** Plays stories of the program in a copy. Returns the seed of the one that breaks. */
async function find(
  copy: SourceCopy,
  count: number,
  seed: number,
): Promise<string | undefined> {
  const { code, stdout, stderr } = await copy.deno([
    ...["run", "-q", "-P=launcher", "tools/deno.ts"],
    ...["run", "-q", "-P=test", "--no-prompt", "tests/simulation/search.ts"],
    ...[String(count), String(seed)],
  ]);
  if (code === 0) return undefined;
  const found = /Broken with seed (\d+).*\n.*/.exec(stdout)?.[0];
  return found ?? `failed: ${stderr}`;
}

async function main([word = ""]: readonly string[]): Promise<void> {
  await using copy = await SourceCopy.make();
  for (const name of NEEDED) {
    await cp(`${ROOT}/tests/${name}`, `${copy.folder}/tests/${name}`, {
      recursive: true,
    });
  }
  let alive = 0;
  for (const { what, file, from, to, seed } of MUTANTS) {
    if (!what.includes(word)) continue;
    const path = `${copy.folder}/${file}`;
    const source = await Deno.readTextFile(path);
    if (source.split(from).length !== 2) {
      throw new Error(`${file} does not have this once: ${from}`);
    }
    await Deno.writeTextFile(path, source.replace(from, () => to));
    const found = await find(copy, 1, seed) ?? await find(copy, MOST, 0);
    await Deno.writeTextFile(path, source);
    console.log(`${what}: ${found ?? "NOT FOUND"}`);
    if (found === undefined) alive++;
  }
  console.log(alive === 0 ? "All were found" : `${alive} were not found`);
  Deno.exit(alive === 0 ? 0 : 1);
}

if (import.meta.main) await main(Deno.args);
