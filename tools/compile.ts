/**
 * Compiles the program with the permissions that the client needs:
 * `dist/agent-gateway-TARGET`. Arguments after `--` are embedded and precede
 * those of the user.
 *
 *     deno task compile                       for this system
 *     deno task compile all                   for all systems
 *     deno task compile -- --base-url=URL     for one service
 *
 * @module
 */
import { clientPermissionFlags, readParts } from "./bundle.ts";
import { writeChecksums } from "./checksums.ts";
import { runCommand } from "./run_command.ts";
import { runTool, ToolError } from "./tool_error.ts";

const DIST = `${import.meta.dirname}/../dist`;
const BUNDLE = `${DIST}/agent-gateway.js`;

/** The systems of a release, as Deno names them. */
export const TARGETS: readonly string[] = ["x86_64", "aarch64"].flatMap(
  (architecture) =>
    ["unknown-linux-gnu", "apple-darwin", "pc-windows-msvc"]
      .map((system) => `${architecture}-${system}`),
);

/** The name of the binary for a target. */
export function binaryName(target: string): string {
  const extension = target.includes("windows") ? ".exe" : "";
  return `agent-gateway-${target}${extension}`;
}

/** No binary could be made. The message says what to do. */
export class CompileError extends ToolError {
  override readonly name = "CompileError";
}

/** The binary to make. */
export interface CompileOptions {
  /** The files of the program by their names. It begins in `main.js`. */
  readonly program: Readonly<Record<string, string>>;
  /** The target, for example `aarch64-apple-darwin`. */
  readonly target: string;
  /** A folder that no other binary uses. */
  readonly folder: string;
  /** The embedded arguments, which precede the user's. */
  readonly args?: readonly string[];
}

/**
 * Compiles a program with the permissions of the client, and returns the path of
 * the binary. The same program gives the same bytes.
 *
 * If set, `COMPILE_DENO` is the Deno that compiles, and `DENORT_BIN` is the
 * runtime for this system's binary.
 *
 * @throws {CompileError} If no binary could be made.
 */
export async function compile(options: CompileOptions): Promise<string> {
  const { program, target, folder, args = [] } = options;
  if (Deno.env.has("DENORT_BIN") && target !== Deno.build.target) {
    throw new CompileError(
      `Cannot compile for ${target}: DENORT_BIN names a runtime of this system; unset it`,
    );
  }
  // The name, the time and the place of each file become part of the binary.
  const source = `${folder}/source`;
  await Deno.mkdir(source);
  for (const [name, code] of Object.entries(program)) {
    await Deno.writeTextFile(`${source}/${name}`, code);
    await Deno.utime(`${source}/${name}`, 0, 0);
  }
  const binary = `${folder}/agent-gateway${
    target.includes("windows") ? ".exe" : ""
  }`;
  const compiler = Deno.env.get("COMPILE_DENO") ?? Deno.execPath();
  const command = [
    ...[compiler, "compile"],
    // Only these files. (--quiet would make the binary quiet too.)
    ...["--no-config", "--no-lock", "--no-check", "--no-npm", "--no-remote"],
    // No code cache: the binary would write a temporary file for it.
    ...["--cached-only", "--no-code-cache", "--deny-import"],
    ...clientPermissionFlags,
    ...["--target", target, "--output", binary],
    ...[`${source}/main.js`, ...args],
  ];
  const env = { NO_COLOR: "1", RUST_BACKTRACE: "0" };
  await runCommand(command, { env }).catch(({ message }) => {
    const reason = message.replace(/^[^]*?error: /, "");
    throw new CompileError(`Cannot compile for ${target}: ${reason}`);
  });
  return binary;
}

/** Starts the client, which ends at once because there is no input. */
async function checkArguments(args: readonly string[]): Promise<void> {
  const run = ["run", "--quiet", "--no-config", ...clientPermissionFlags];
  const command = [Deno.execPath(), ...run, BUNDLE, ...args, "--bridge"];
  const env = { APP_API_KEY: "a-key-to-start-with" };
  await runCommand(command, { env }).catch(({ message }) => {
    const reason = message.replace(/^[^]*?error: /, "");
    throw new ToolError(`The client does not start with these: ${reason}`, 2);
  });
}

/** Compiles for every target, or for none. */
async function compileAll(
  targets: Iterable<string>,
  args: readonly string[],
): Promise<void> {
  const folder = await Deno.makeTempDir({ dir: DIST, prefix: ".binaries-" });
  const program = await readParts();
  try {
    const binaries = new Map<string, string>();
    for (const target of targets) {
      const binary = await compile({
        program,
        target,
        folder: await Deno.makeTempDir({ dir: folder }),
        args,
      });
      binaries.set(binary, binaryName(target));
    }
    for (const [binary, name] of binaries) {
      await Deno.rename(binary, `${DIST}/${name}`);
      console.log(`dist/${name}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  await writeChecksums(DIST);
}

async function main(): Promise<void> {
  const end = Deno.args.includes("--") ? Deno.args.indexOf("--") : undefined;
  const args = end === undefined ? [] : Deno.args.slice(end + 1);
  const named = Deno.args.slice(0, end);
  const targets = named.length > 0 ? named : [Deno.build.target];
  if (args.length > 0) await checkArguments(args);
  await compileAll(targets.flatMap((t) => t === "all" ? TARGETS : t), args);
}

if (import.meta.main) await runTool(main);
