import { assertEquals } from "@std/assert";
import { times } from "../support/repetitions.ts";
import { MUTANTS } from "./mutants.ts";
import { KINDS, play, preload, search, storyOf } from "./search.ts";

const ROOT = `${import.meta.dirname}/../..`;

for (const kind of KINDS) {
  Deno.test(`no story of the ${kind} breaks a promise`, async () => {
    await preload();
    for (let seed = 0; seed < times(3_000); seed++) {
      const story = await search(kind, seed);
      if (story !== undefined) throw new Error(story);
    }
  });
}

Deno.test("a story that is played again is the same", async () => {
  await preload();
  for (let seed = 0; seed < 50; seed++) {
    for (const kind of KINDS) {
      const story = storyOf(kind, seed);
      const { lines } = await play(story);
      assertEquals((await play(story)).lines, lines);
    }
  }
});

Deno.test("each mutant changes one place of the program", async () => {
  const stale: string[] = [];
  for (const { what, file, from } of MUTANTS) {
    const source = await Deno.readTextFile(`${ROOT}/${file}`);
    if (source.split(from).length !== 2) stale.push(what);
  }
  assertEquals(stale, []);
});
