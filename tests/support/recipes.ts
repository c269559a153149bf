import { putProgram, settings } from "./client_process.ts";
import { Folder } from "./environment.ts";
import { type Files, writeFiles } from "./files.ts";
import { type ProgramOutput, programOutput } from "./program_output.ts";
import { answer, events } from "./service/behaviours.ts";
import { promptsOf, ReferenceService } from "./service/service.ts";

/** How a script of a document is run. */
interface RecipeOptions {
  /** Files in its home folder. */
  readonly files?: Files;
  /** Added to the settings, the home folder and the path. */
  readonly env?: Readonly<Record<string, string>>;
  /** What goes wrong at the service, once each: "busy" or "cut", for a stream. */
  readonly trouble: string;
}

/** What became of it: `made` is the text of the file `made`, if it wrote one. */
interface RecipeOutcome extends ProgramOutput {
  /** How many prompts the service got. */
  readonly prompts: number;
  readonly made: string;
}

/** Runs a script in a home folder of its own, in which the program is installed. */
export async function runRecipe(
  script: string,
  { files = {}, env = {}, trouble }: RecipeOptions,
): Promise<RecipeOutcome> {
  await using service = ReferenceService.start();
  for (const name of trouble.match(/\w+/g) ?? []) {
    if (name === "busy") {
      service.misbehave("create run", answer(429, "", { "retry-after": "60" }));
    } else {
      service.misbehave("stream", events([{ event: "progress", data: "{}" }]));
    }
  }
  using home = new Folder();
  const variables = settings(service);
  const exports = Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'\n`).join("");
  await writeFiles(home.path, { ...files, ".config/agent-gateway": exports });
  const bin = `${home.path}/.local/bin`; // where the install script puts it
  await putProgram(bin);
  const output = await programOutput(["bash", "-ec", script], {
    cwd: home.path,
    clearEnv: true,
    env: {
      ...variables,
      HOME: home.path,
      PATH: `${bin}:/usr/bin:/bin`,
      ...env,
    },
  });
  const made = await Deno.readTextFile(`${home.path}/made`).catch(() => "");
  return { ...output, prompts: promptsOf(service).length, made };
}
