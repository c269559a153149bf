import { assertEquals } from "@std/assert";
import { times } from "../support/repetitions.ts";
import { play, preload, search, storyOf } from "./search.ts";

Deno.test("no story breaks a promise", async () => {
  await preload();
  for (let seed = 0; seed < times(6_000); seed++) {
    const story = await search(seed);
    if (story !== undefined) throw new Error(story);
  }
});

Deno.test("a story that is played again is the same", async () => {
  await preload();
  for (let seed = 0; seed < 100; seed++) {
    const story = storyOf(seed);
    const { lines } = await play(story);
    assertEquals((await play(story)).lines, lines);
  }
});
