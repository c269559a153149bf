import { assertEquals } from "@std/assert";
import { times } from "../support/repetitions.ts";
import { KINDS, play, preload, search, storyOf } from "./search.ts";

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
