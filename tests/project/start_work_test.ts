import { bundle } from "../../tools/bundle.ts";
import {
  type Command,
  EMPTY,
  FLOOR,
  NPM_FLAGS,
  runScript,
} from "../../tools/bench/programs.ts";
import { settings, startService } from "../../tools/bench/service.ts";
import { measureWork, type Work } from "../../tools/bench/work.ts";
import { Folder } from "../support/environment.ts";
import { writeFiles } from "../support/files.ts";
import { isInstalled } from "../support/fronts.ts";
import { programOutput } from "../support/program_output.ts";

// Times depend on the machine and its load; instructions and page faults hardly do.
// The limits are 10 % above what was counted. An import that every start pays for
// exceeds them; a few functions more do not.

/** What the client may do at most, as multiples of the work of another program. */
interface Comparison {
  /** The client's arguments. */
  readonly args: readonly string[];
  readonly input: string;
  /** The other program, of the files in a folder. */
  readonly floor: (folder: string) => Command;
  readonly limits: Work;
}

/**
 * Fails if six comparisons exceed the limits. One is not enough: when Deno cannot open the
 * database with the code that V8 compiled, it starts without it, which takes 2.7 times the
 * instructions. With ten busy processes for each core, one start of six did.
 */
function workTest(
  name: string,
  { args, input, floor, limits }: Comparison,
): void {
  const ignore = !["valgrind", "time"].every(isInstalled);
  Deno.test(name, { ignore }, async () => {
    await using service = await startService();
    using folder = new Folder();
    const { path } = folder;
    const files = { "client.js": await bundle(), "empty.js": EMPTY };
    await writeFiles(path, files);
    const ours = [...runScript(`${path}/client.js`, NPM_FLAGS), ...args];
    const work = async (command: Command, cache: string) => {
      const env = { ...settings(service), DENO_DIR: `${path}/${cache}` };
      // It has run before, so Deno has kept what V8 compiled.
      for (let times = 3; times > 0; times--) {
        await programOutput(command, { env, input });
      }
      return await measureWork(command, { env, input });
    };
    const counted: string[] = [];
    while (counted.length < 6) {
      const [client, least] = await Promise.all([
        work(ours, "ours"),
        work(floor(path), "floor"),
      ]);
      const instructions = client.instructions / least.instructions;
      const pageFaults = client.pageFaults / least.pageFaults;
      const isLess = instructions <= limits.instructions &&
        pageFaults <= limits.pageFaults;
      if (isLess) return;
      counted.push(JSON.stringify({ client, least, instructions, pageFaults }));
    }
    throw new Error(counted.join("\n"));
  });
}

workTest(
  "the npm package starts with at most 1.75 times the instructions of an empty program",
  {
    args: ["--bridge"],
    input: '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n',
    floor: (folder) => runScript(`${folder}/empty.js`),
    limits: { instructions: 1.75, pageFaults: 1.5 },
  },
);

const PROMPT = JSON.stringify({ events: 1 });

workTest(
  "-p of the npm package takes at most 1.85 times the instructions of three calls of fetch",
  {
    args: ["-q", "-p", PROMPT],
    input: "",
    floor: () => [...runScript(FLOOR), PROMPT],
    limits: { instructions: 1.85, pageFaults: 1.65 },
  },
);
