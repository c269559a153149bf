import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { times } from "../support/repetitions.ts";
import { anyStory, play, preload, search } from "./search.ts";

Deno.test("no story breaks a promise", async () => {
  await preload();
  for (let seed = 0; seed < times(6_000); seed++) {
    const story = await search(seed);
    if (story !== undefined) throw new Error(story);
  }
});

Deno.test("a story that is played again is the same", async () => {
  await preload();
  for (const story of fc.sample(anyStory, { seed: 0, numRuns: 100 })) {
    const { lines } = await play(story);
    assertEquals((await play(story)).lines, lines);
  }
});
