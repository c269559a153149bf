import { putProgram, settings } from "./client_process.ts";
import { type ProgramOutput, programOutput } from "./program_output.ts";
import { answer, events } from "./service/behaviours.ts";
import { promptsOf, ReferenceService } from "./service/service.ts";

/** What goes wrong at the service, once each. */
const TROUBLE = {
  busy: ["create run", answer(429, "", { "retry-after": "60" })],
  cut: ["stream", events([{ event: "progress", data: "{}" }])],
} as const;

/** How a script of a document is run. */
export interface RecipeOptions {
  /** The texts of files in its home folder, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
  /** Added to the settings, the home folder and the path. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly trouble?: readonly (keyof typeof TROUBLE)[];
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
  { files = {}, env = {}, input, trouble = [] }: RecipeOptions,
): Promise<RecipeOutcome> {
  await using service = ReferenceService.start();
  for (const name of trouble) {
    const [operation, behaviour] = TROUBLE[name];
    service.misbehave(operation, behaviour);
  }
  const home = await Deno.makeTempDir();
  const variables = settings(service);
  const exports = Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'\n`).join("");
  const all = { ...files, ".config/agent-gateway": exports };
  for (const [path, text] of Object.entries(all)) {
    const folder = `${home}/${path}`.replace(/\/[^/]*$/, "");
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${home}/${path}`, text);
  }
  const bin = `${home}/.local/bin`; // where the install script puts it
  await putProgram(bin);
  const output = await programOutput(["bash", "-ec", script], {
    cwd: home,
    clearEnv: true,
    env: { ...variables, HOME: home, PATH: `${bin}:/usr/bin:/bin`, ...env },
    ...input !== undefined && { input },
  });
  const made = await Deno.readTextFile(`${home}/made`).catch(() => "");
  await Deno.remove(home, { recursive: true });
  return { ...output, prompts: promptsOf(service).length, made };
}
