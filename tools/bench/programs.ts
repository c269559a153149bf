import { bundle, bundleParts, clientPermissionFlags } from "../bundle.ts";
import { compile, CompileError } from "../compile.ts";

/** A program, its arguments and its environment variables. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Makes the command that runs the client with some arguments. */
export type Client = (...args: string[]) => Command;

/** The client as a bundle or as a binary, and an empty program built the same way. */
export interface Form {
  readonly client: Client;
  readonly empty: Command;
}

/** The forms that are measured. */
export interface Programs {
  readonly bundle: Form;
  readonly binary: Form | undefined;
}

/** The smallest program that shows that it has started. */
const EMPTY = `console.log("up");\n`;

/**
 * Builds the bundle and the binary as `deno task bundle` and `deno task compile` do,
 * and an empty program for each. The bundle that `AGENT_GATEWAY` names is measured
 * in place of both.
 *
 * @param folder Where the programs are written.
 * @param quick Whether the binary is left out.
 */
export async function buildPrograms(
  folder: string,
  quick: boolean,
): Promise<Programs> {
  const named = Deno.env.get("AGENT_GATEWAY");
  const [path, empty] = [named ?? `${folder}/client.js`, `${folder}/empty.js`];
  if (named === undefined) await Deno.writeTextFile(path, await bundle());
  await Deno.writeTextFile(empty, EMPTY);
  return {
    bundle: {
      client: (...args) => javaScript(path, ...args),
      empty: javaScript(empty),
    },
    binary: quick || named !== undefined ? undefined : await binaryForm(folder),
  };
}

async function binaryForm(folder: string): Promise<Form | undefined> {
  try {
    const program = await toBinary(`${folder}/client`, await bundleParts());
    const empty = await toBinary(`${folder}/empty`, { "main.js": EMPTY });
    return {
      client: (...args) => ({ program, args }),
      empty: { program: empty, args: [] },
    };
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    console.error(`The binary is not measured: ${error.message}`);
    return undefined;
  }
}

async function toBinary(
  folder: string,
  program: Readonly<Record<string, string>>,
): Promise<string> {
  await Deno.mkdir(folder);
  return await compile({ program, target: Deno.build.target, folder });
}

/** One file on this Deno, with the permissions of the client. */
export function javaScript(
  path: string,
  ...args: readonly string[]
): Command {
  return {
    program: Deno.execPath(),
    args: [
      ...["run", "-q", "--no-config", ...clientPermissionFlags],
      ...[path, ...args],
    ],
  };
}
