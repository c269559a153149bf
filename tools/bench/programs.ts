import config from "../../deno.json" with { type: "json" };
import { clientPermissionFlags } from "../permission_flags.ts";
import { sameFlags } from "../stand_ins.ts";
import { type Command, javaScript, ROOT, Unavailable } from "./subjects.ts";

/** Our program and an empty one, each in every form that can be made here. */
export interface Programs {
  readonly emptySource: Command;
  readonly emptyBundle: Command;
  readonly emptyBinary: Command | Unavailable;
  /** Our program with arguments. */
  readonly bundle: (...args: string[]) => Command;
  readonly binary: (...args: string[]) => Command | Unavailable;
}

/** The smallest program that shows that it has started. */
const EMPTY = `console.log("up");\n`;

/**
 * Builds the outputs of `deno task bundle` and `deno task compile`, and an empty
 * program for each form.
 *
 * @param folder Where the empty programs go.
 * @param quick Leaves the binaries out.
 */
export async function buildPrograms(
  folder: string,
  quick: boolean,
): Promise<Programs> {
  await Deno.writeTextFile(`${folder}/empty.ts`, EMPTY);
  await Deno.writeTextFile(`${folder}/empty.js`, EMPTY);
  await runTool("bundle.ts");
  const binaries = quick
    ? new Unavailable("a binary takes too long to make for --quick")
    : await compile(folder);
  const unavailable = binaries instanceof Unavailable;
  return {
    emptySource: javaScript(`${folder}/empty.ts`),
    emptyBundle: javaScript(`${folder}/empty.js`),
    bundle: (...args) => javaScript(`${ROOT}/dist/agent-gateway.js`, ...args),
    emptyBinary: unavailable ? binaries : { program: binaries.empty, args: [] },
    binary: (...args) =>
      unavailable ? binaries : { program: binaries.ours, args },
  };
}

async function compile(
  folder: string,
): Promise<{ readonly ours: string; readonly empty: string } | Unavailable> {
  const { os, target } = Deno.build;
  const suffix = os === "windows" ? ".exe" : "";
  const empty = `${folder}/empty${suffix}`;
  try {
    await runTool("compile.ts");
    await run(Deno.env.get("COMPILE_DENO") ?? Deno.execPath(), [
      ...["compile", "--quiet", "--no-config", "--no-check"],
      ...[...clientPermissionFlags, "--output", empty, `${folder}/empty.js`],
    ]);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return new Unavailable(error.message);
  }
  return { ours: `${ROOT}/dist/agent-gateway-${target}${suffix}`, empty };
}

async function runTool(name: string): Promise<void> {
  await run(Deno.execPath(), [
    ...["run", "-q", ...sameFlags, "-P=build", "--no-prompt"],
    `${ROOT}/tools/${name}`,
  ]);
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, {
    args: [...args],
    stdin: "null",
  }).output();
  if (success) return;
  const reason = new TextDecoder().decode(stderr).trim().split("\n")[0];
  throw new Error(`${config.name} cannot be built: ${reason}`);
}
