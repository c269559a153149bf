/**
 * Draws stories from seeds, plays them, and shrinks one that breaks a promise.
 *
 *     deno task simulate [COUNT] [SEED]
 *
 * plays COUNT stories (by default 1,000) of each kind of user, from SEED on (by default
 * a random one). The first one that breaks a promise is printed, with its seed.
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
  type EditorPlan,
  runEditor,
  runScript,
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
): Promise<{ readonly lines: readonly string[]; readonly broken: string[] }> {
  await using world = new World(chance);
  const service = new Service(world, plan, https);
  const user = users.kind === "script"
    ? await runScript(world, users, service.baseUrl)
    : await runEditor(world, users, service.baseUrl);
  const broken = brokenIn({ plan, world, service, user });
  return { lines: world.story, broken };
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

/** Plays the story of a seed. Returns the shortest one that breaks the same, if it does. */
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
    JSON.stringify({ ...story.service, https: story.https }),
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

if (import.meta.main) {
  const [count = 1_000, seed = Math.floor(Math.random() * 1e9)] = Deno.args
    .map(Number);
  await preload();
  console.log(`${count} stories of each kind, from seed ${seed}`);
  for (let n = 0; n < count; n++) {
    for (const kind of KINDS) {
      const story = await search(kind, seed + n);
      if (story === undefined) continue;
      console.log(story);
      Deno.exit(1);
    }
  }
}
