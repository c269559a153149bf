import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import { KEY, LoadService } from "./load_service.ts";
import { type Command, javaScript, peer, Unavailable } from "./subjects.ts";

/** One step and the reply, at once. */
const TEXT = JSON.stringify({ events: 1 });

/** One prompt from a shell: from the start of a program to its end. */
export async function prompt(
  { quick, peers, folder, buildPrograms }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  const { bundle, binary } = await buildPrograms();
  await using service = await LoadService.start();
  const kinds = [
    ["bundle", bundle("-q", "-p", TEXT)],
    ["binary", binary("-q", "-p", TEXT)],
  ] as const;
  const caches = `${folder}/prompt`;
  await Deno.mkdir(caches);
  const sample = (command: Command) => timeReply(command, service, caches);
  const measurements: Measurement[] = [];
  for (const [name, ours] of kinds) {
    const subjects = new Map([
      ["ours", ours],
      ["floor", javaScript(`${import.meta.dirname}/prompt_floor.ts`, TEXT)],
      ["curl", threeCalls(TEXT)],
      ["langgraph", peer(peers, "langgraph_prompt.mjs", TEXT)],
    ]);
    // Deno writes its caches at the end of the first run, which is not measured.
    for (const command of quick ? [] : subjects.values()) {
      if (command instanceof Unavailable) continue;
      await sample(command).catch(() => {}); // It will fail again, and be reported.
    }
    measurements.push(
      ...await measure({
        subjects,
        rounds: quick ? 1 : 20,
        quantities: {
          [name]: {
            unit: "ms",
            targets: [
              { against: "curl", atMost: 1 },
              { against: "langgraph", atMost: 1 / 3 },
            ],
          },
        },
        sample: async (command) => ({ [name]: await sample(command) }),
      }),
    );
  }
  return measurements;
}

function threeCalls(text: string): Command {
  const script = `${import.meta.dirname}/peers/three_calls.sh`;
  return { program: "sh", args: [script, text] };
}

/**
 * The time from the start of a program to its end.
 *
 * @param caches The folder for Deno's caches. They hold the code that the first
 * run has used, so no run of another kind may share them.
 * @throws If the program fails, or does not print the reply.
 */
async function timeReply(
  { program, args }: Command,
  { url }: LoadService,
  caches: string,
): Promise<number> {
  const started = performance.now();
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    env: { APP_API_KEY: KEY, APP_BASE_URL: url, DENO_DIR: caches },
    stdin: "null",
  }).output();
  const milliseconds = performance.now() - started;
  const text = new TextDecoder().decode(stdout);
  if (code === 0 && text === "done\n") return milliseconds;
  const reason = new TextDecoder().decode(stderr).trim();
  throw new Error(
    `Exit code ${code}, output ${JSON.stringify(text)}: ${reason}`,
  );
}
