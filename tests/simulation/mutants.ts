/**
 * Proves that the simulation finds what it is made for: each mutant of `mutants.txt`
 * breaks the program in one place, and a story has to show it.
 *
 *     deno task mutants [WORD]      those whose description holds the word
 *
 * In that file, a mutant is its description, the file of the program and a seed, and the
 * text that the file has once (`-`) and what takes its place (`+`). It is tried with its
 * seed first; if stories are drawn differently by now, with others until one shows it,
 * whose seed is written there. Run it after a change of the simulation, and before a
 * release.
 *
 * @module
 */

import { cp } from "node:fs/promises";
import { SourceCopy } from "../support/source_copy.ts";

const FILE = `${import.meta.dirname}/mutants.txt`;

export const MUTANTS = Deno.readTextFileSync(FILE).split("\n\n").map(parse);

type Mutant = ReturnType<typeof parse>;

function parse(text: string) {
  const [what = "", place = "", ...change] = text.trimEnd().split("\n");
  const [file = "", seed = ""] = place.split(" ");
  const marked = (mark: string) =>
    change.filter((line) => line.startsWith(mark))
      .map((line) => line.slice(1)).join("\n");
  return { what, place, file, seed, from: marked("-"), to: marked("+") };
}

/** So many stories are played before a mutant counts as not found. */
const MOST = "10000";

const ROOT = `${import.meta.dirname}/../..`;

/** Plays stories of the program in a copy. Returns what was broken first, and its seed. */
async function find(
  copy: SourceCopy,
  ...args: readonly string[]
): Promise<readonly string[] | null> {
  const { stdout } = await copy.deno(["task", "-q", "simulate", ...args]);
  return /Broken with seed (\d+).*\n.*/.exec(stdout);
}

/** Writes the seed that shows a mutant into its row. */
async function writeSeed(
  { what, place, file }: Mutant,
  seed: string,
): Promise<void> {
  const text = await Deno.readTextFile(FILE);
  const row = `${what}\n${file} ${seed}\n`;
  await Deno.writeTextFile(FILE, text.replace(`${what}\n${place}\n`, row));
}

async function main([word = ""]: readonly string[]): Promise<void> {
  await using copy = await SourceCopy.make();
  const needed = [
    "simulation",
    "support/clocks.ts",
    "support/random_numbers.ts",
  ];
  for (const name of needed) {
    await cp(`${ROOT}/tests/${name}`, `${copy.folder}/tests/${name}`, {
      recursive: true,
    });
  }
  let alive = 0;
  for (const mutant of MUTANTS) {
    const { what, file, from, to, seed } = mutant;
    if (!what.includes(word)) continue;
    const path = `${copy.folder}/${file}`;
    const source = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, source.replace(from, () => to));
    const found = await find(copy, "1", seed) ?? await find(copy, MOST, "0");
    await Deno.writeTextFile(path, source);
    const [shown = "NOT FOUND", shownBy] = found ?? [];
    console.log(`${what}: ${shown}`);
    if (shownBy === undefined) alive++;
    else await writeSeed(mutant, shownBy);
  }
  console.log(`${alive} were not found`);
  Deno.exit(Math.min(alive, 1));
}

if (import.meta.main) await main(Deno.args);
