/**
 * Draws stories from seeds, plays them, and shrinks one that breaks a promise.
 *
 *     deno task simulate [COUNT] [SEED]
 *
 * plays COUNT stories (by default 1,000) of each kind of user, from SEED on (by default
 * a random one). The first one that breaks a promise is printed, with its seed.
 *
 * A story is a user, a service and a network, drawn from a seed, with the real gateway,
 * script front end and bridge between them. Time is virtual, so a story of an hour takes
 * milliseconds. `plans.ts` lists what can go wrong, `network.ts` and `service.ts` do it
 * and know the truth, `users.ts` are a script and an editor, and `promises.ts` compares
 * what they saw with the truth.
 *
 * **To read a story**: the broken promise and the seed come first, and
 * `deno task simulate 1 SEED` repeats it. The story is the shortest that breaks a promise,
 * and its plan is the line of JSON. Then comes what happened, with the time in seconds:
 * `>>` is written to the program, `<<` is its standard output, `!` its standard error.
 * `create run p1: {...}` is a request and what the plan does to it; the indented lines
 * after it say what became of it.
 *
 * **To add a fault**: add a line to `anyPostFault`, `anyEnd`, `anyLine`, `anyStep` or
 * `anyTrouble` in `plans.ts`, and the case that the compiler then asks for. A variant of
 * an answer is a detail of its fault; how bytes travel is in `network.ts` and, for a
 * service with `https:`, in `relayed.ts`.
 *
 * **To add a promise**: add a function in `promises.ts` that yields what was broken, and
 * its row in `PROMISES`. Then break the program where it should notice (if a rule is
 * guarded twice, break both), and add that to the mutants with any seed.
 * `deno task mutants` finds the right seeds and writes them.
 *
 * @module
 */

import fc from "fast-check";
import { brokenIn } from "./promises.ts";
import {
  anyHttps,
  anyService,
  type HttpsPlan,
  type ServicePlan,
} from "./plans.ts";
import { Service } from "./service.ts";
import {
  anyEditor,
  anyScript,
  Editor,
  type EditorPlan,
  Script,
  type ScriptPlan,
} from "./users.ts";
import { World } from "./world.ts";

export type Kind = "script" | "editor";

export const KINDS: readonly Kind[] = ["script", "editor"];

export interface Story {
  /** For what is drawn while it plays: latencies, cuts, and what the program draws. */
  readonly chance: number;
  readonly service: ServicePlan;
  readonly user: ScriptPlan | EditorPlan;
  /** `undefined`: the service has `http:`. */
  readonly https: HttpsPlan | undefined;
}

function anyStory(kind: Kind): fc.Arbitrary<Story> {
  return fc.record<Story>({
    chance: fc.noShrink(fc.nat()),
    service: anyService,
    user: kind === "script" ? anyScript : anyEditor,
    https: fc.option(anyHttps, { nil: undefined, freq: 2 }),
  });
}

const STORIES = { script: anyStory("script"), editor: anyStory("editor") };

/** A story; the same one for the same seed. */
export function storyOf(kind: Kind, seed: number): Story {
  const [story] = fc.sample(STORIES[kind], { seed, numRuns: 1 });
  if (story === undefined) throw new Error("no story was drawn");
  return story;
}

/** Plays a story. Returns the lines that tell it, and what it broke. */
export async function play(
  { chance, service: plan, user: users, https }: Story,
): Promise<PlayedStory> {
  await using world = new World(chance);
  const service = new Service(world, plan, https);
  const user = users.kind === "script"
    ? new Script(world, users)
    : new Editor(world, users);
  await user.run(service.baseUrl);
  const broken = brokenIn({ plan, world, service, user });
  return { lines: world.story, broken };
}

interface PlayedStory {
  readonly lines: readonly string[];
  /** The promises that it broke. */
  readonly broken: readonly string[];
}

/** Loads the modules that `lib/` imports later: a clock must not wait for a file. */
export async function preload(folder: URL = LIB): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) await preload(new URL(`${name}/`, folder));
    else await import(new URL(name, folder).href);
  }
  await import("jsr:@std/streams@^1.1.1/text-line-stream");
}

const LIB = new URL("../../lib/", import.meta.url);

/** Plays the story of a seed. Returns the shortest one that breaks a promise, if it does. */
export async function search(
  kind: Kind,
  seed: number,
): Promise<string | undefined> {
  const property = fc.asyncProperty(
    STORIES[kind],
    async (story) => (await play(story)).broken.length === 0,
  );
  const { counterexample } = await fc.check(property, { seed, numRuns: 1 });
  const story = counterexample?.[0];
  if (story === undefined) return undefined;
  const { lines, broken } = await play(story);
  return [
    `Broken with seed ${seed} (deno task simulate 1 ${seed}), a story of the ${kind}:`,
    ...broken.map((what) => `  ${what}`),
    `Its plan: ${JSON.stringify(story)}`,
    ...shortened(lines),
  ].join("\n");
}

/** The most lines of a story that are shown. */
const MOST_LINES = 150;

function shortened(lines: readonly string[]): readonly string[] {
  const left = lines.length - MOST_LINES;
  if (left <= 0) return lines;
  const half = MOST_LINES / 2;
  const note = `          ... ${left} lines more ...`;
  return [...lines.slice(0, half), note, ...lines.slice(-half)];
}

async function main(args: readonly string[]): Promise<number> {
  const [count = 1_000, seed = Math.floor(Math.random() * 1e9)] = args
    .map(Number);
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(seed)) {
    console.error("Usage: deno task simulate [COUNT] [SEED]");
    return 2;
  }
  await preload();
  console.log(`${count} stories of each kind, from seed ${seed}`);
  for (let n = 0; n < count; n++) {
    for (const kind of KINDS) {
      const story = await search(kind, seed + n);
      if (story === undefined) continue;
      console.log(story);
      return 1;
    }
  }
  console.log("No promise was broken");
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
