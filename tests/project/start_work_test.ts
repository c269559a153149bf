import { bundle } from "../../tools/bundle.ts";
import {
  type Command,
  EMPTY,
  FLOOR,
  NPM_FLAGS,
  runScript,
} from "../../tools/bench/programs.ts";
import { settings, startService } from "../../tools/bench/service.ts";
import {
  measureWork,
  type Work,
  type WorkOptions,
} from "../../tools/bench/work.ts";
import { isInstalled } from "../support/fronts.ts";
import { programOutput } from "../support/program_output.ts";

// Times depend on the machine and its load; instructions and page faults hardly do.
// The limits are 10 % above what was counted. An import that every start pays for
// exceeds them; a few functions more do not.

const ignore = !["valgrind", "time"].every(isInstalled);

Deno.test({
  name:
    "the npm package starts with at most 1.75 times the instructions of an empty program",
  ignore,
  async fn() {
    await using folder = await makeFolder();
    const empty = `${folder.path}/empty.js`;
    await Deno.writeTextFile(empty, EMPTY);
    await assertWork({
      ours: [...runScript(folder.client, NPM_FLAGS), "--bridge"],
      floor: runScript(empty),
      env: {
        ...settings({ url: "http://127.0.0.1:8" }), // Nothing is sent to it.
      },
      folder: folder.path,
      input: '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n',
      limits: { instructions: 1.75, pageFaults: 1.5 },
    });
  },
});

Deno.test({
  name:
    "-p of the npm package takes at most 1.85 times the instructions of three calls of fetch",
  ignore,
  async fn() {
    await using service = await startService();
    await using folder = await makeFolder();
    const prompt = JSON.stringify({ events: 1 });
    await assertWork({
      ours: [...runScript(folder.client, NPM_FLAGS), "-q", "-p", prompt],
      floor: [...runScript(FLOOR), prompt],
      env: settings(service),
      folder: folder.path,
      input: "",
      limits: { instructions: 1.85, pageFaults: 1.65 },
    });
  },
});

/** A folder with the bundle, and for Deno's caches. */
async function makeFolder() {
  const path = await Deno.makeTempDir();
  const client = `${path}/client.js`;
  await Deno.writeTextFile(client, await bundle());
  return {
    path,
    client,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

interface Comparison extends WorkOptions {
  readonly ours: Command;
  readonly floor: Command;
  /** Where each program gets a cache of its own. */
  readonly folder: string;
  /** The most work of the client, as multiples of the floor's. */
  readonly limits: Work;
}

/**
 * Fails if three comparisons exceed the limits. One is not enough: when Deno cannot open
 * the database with the code that V8 compiled, it starts without it, which takes 2.7 times
 * the instructions.
 */
async function assertWork(
  { ours, floor, folder, limits, env, input }: Comparison,
): Promise<void> {
  const inCache = (cache: string): WorkOptions => ({
    env: { ...env, DENO_DIR: `${folder}/${cache}` },
    input,
  });
  const counted: string[] = [];
  while (counted.length < 3) {
    const [client, least] = await Promise.all([
      countWork(ours, inCache("ours")),
      countWork(floor, inCache("floor")),
    ]);
    const instructions = client.instructions / least.instructions;
    const pageFaults = client.pageFaults / least.pageFaults;
    if (
      instructions <= limits.instructions && pageFaults <= limits.pageFaults
    ) {
      return;
    }
    counted.push(JSON.stringify({ client, least, instructions, pageFaults }));
  }
  throw new Error(counted.join("\n"));
}

/** The work of a program that has run before, so that Deno keeps what V8 compiled. */
async function countWork(command: Command, options: WorkOptions) {
  for (let times = 3; times > 0; times--) await programOutput(command, options);
  return await measureWork(command, options);
}
