/**
 * Draws stories from seeds, plays them, and shrinks one that breaks a promise.
 *
 *     deno task simulate [COUNT] [SEED]
 *
 * plays COUNT stories (by default 2,000), from SEED on (by default a random one). The first
 * one that breaks a promise is printed, with its seed.
 *
 * A story is a user, a service and a network, drawn from a seed, with the real gateway,
 * script front end and bridge between them. Time is virtual, so a story of an hour takes
 * milliseconds. `plans.ts` lists what can go wrong; `service.ts` and `network.ts` make it
 * happen and record it; `users.ts` has a script and an editor; `promises.ts` compares what
 * they saw with that record.
 *
 * **To read a story**: the broken promise and the seed come first, and
 * `deno task simulate 1 SEED` repeats it. The story is the shortest that breaks a promise,
 * and its plan is the line of JSON. Then comes what happened, with the time in seconds:
 * `>>` is written to the program, `<<` is its standard output, `!` its standard error.
 * `create run p1: {...}` is a request and what the plan does to it; the indented lines
 * after it say what became of it.
 *
 * **To add a fault**: add a line to `anyPostFault`, `anyEnd`, `anyLine`, `anyStep` or
 * `anyTrouble` in `plans.ts`, and the case that the compiler then asks for. If it is
 * a variant of an answer, add a field to that answer's fault instead.
 *
 * **To add a promise**: add a function in `promises.ts` that yields what was broken, and
 * its row in `PROMISES`. Then break the program where it should notice (if a rule is
 * guarded twice, break both), and add that to the mutants with any seed.
 * `deno task mutants` finds the right seeds and writes them.
 *
 * @module
 */

import fc from "fast-check";
import { anyNetwork, anyService, type Drawn } from "./plans.ts";
import { brokenIn } from "./promises.ts";
import { Service } from "./service.ts";
import { anyEditor, anyScript, Editor, Script } from "./users.ts";
import { World } from "./world.ts";

/** What a story is drawn from. */
export const anyStory = fc.record({
  // For what is drawn while it plays: latencies, cuts, and what the program draws.
  chance: fc.noShrink(fc.nat()),
  service: anyService,
  network: anyNetwork,
  user: fc.oneof(anyScript, anyEditor),
});

/** Plays a story. Returns the lines that tell it, and the promises that it broke. */
export async function play(
  { chance, service: plan, network, user: users }: Drawn<typeof anyStory>,
): Promise<Record<"lines" | "broken", readonly string[]>> {
  await using world = new World(chance);
  const service = new Service(world, plan, network);
  const user = users.kind === "script"
    ? new Script(world, users)
    : new Editor(world, users);
  await user.run(service.baseUrl);
  const broken = brokenIn({ plan, world, service, user });
  return { lines: world.story.slice(), broken };
}

/** Loads the modules that `lib/` imports later: a clock must not wait for a file. */
export async function preload(
  folder: URL = new URL("../../lib/", import.meta.url),
): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) await preload(new URL(`${name}/`, folder));
    else await import(new URL(name, folder).href);
  }
  await import("jsr:@std/streams@^1.1.1/text-line-stream");
}

/** The most lines of a story that are shown. */
const MOST_LINES = 150;

/** Plays the story of a seed. Returns the shortest one that breaks a promise, if it does. */
export async function search(seed: number): Promise<string | undefined> {
  const property = fc.asyncProperty(
    anyStory,
    async (story) => (await play(story)).broken.length === 0,
  );
  const { counterexample } = await fc.check(property, { seed, numRuns: 1 });
  const story = counterexample?.[0];
  if (story === undefined) return undefined;
  const { lines, broken } = await play(story);
  return [
    `Broken with seed ${seed} (deno task simulate 1 ${seed}):`,
    ...broken.map((what) => `  ${what}`),
    `Its plan: ${JSON.stringify(story)}`,
    ...lines.slice(-MOST_LINES),
  ].join("\n");
}

async function main(args: readonly string[]): Promise<number> {
  const [count = 2_000, seed = Math.floor(Math.random() * 1e9)] = args
    .map(Number);
  if (![count, seed].every(Number.isSafeInteger)) {
    console.error("Usage: deno task simulate [COUNT] [SEED]");
    return 2;
  }
  await preload();
  console.log(`${count} stories, from seed ${seed}`);
  for (let n = 0; n < count; n++) {
    const story = await search(seed + n);
    if (story === undefined) continue;
    console.log(story);
    return 1;
  }
  console.log("No promise was broken");
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
