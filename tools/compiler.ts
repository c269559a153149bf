import { clientPermissionFlags } from "./permission_flags.ts";

/** No binary could be made. The message says what to do. */
export class CompileError extends Error {
  override readonly name = "CompileError";
}

/** The binary to make. */
export interface CompileOptions {
  /** The files of the program by their names. It begins in `main.js`. */
  readonly program: Readonly<Record<string, string>>;
  /** The target, for example `aarch64-apple-darwin`. */
  readonly target: string;
  /** A folder of its own for the binary. */
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
  const { success, stderr } = await runCompiler([
    // Only these files. (--quiet would make the binary quiet too.)
    ...["--no-config", "--no-lock", "--no-check", "--no-npm", "--no-remote"],
    // No code cache: the binary would write a temporary file for it.
    ...[
      "--cached-only",
      "--no-code-cache",
      "--deny-import",
      ...clientPermissionFlags,
    ],
    ...["--target", target, "--output", binary],
    ...[`${source}/main.js`, ...args],
  ]);
  if (!success) {
    throw new CompileError(`Cannot compile for ${target}: ${reason(stderr)}`);
  }
  return binary;
}

/** The targets for which the compiler has a runtime. */
export async function offeredTargets(): Promise<string[]> {
  // The compiler lists its targets if it is given an unknown one.
  const { stderr } = await runCompiler(["--target", "?", "?"]);
  const [, list] = stderr.match(/possible values: ([\w, -]+)/) ?? [];
  if (list === undefined) {
    throw new CompileError(`Cannot tell for what Deno compiles: ${stderr}`);
  }
  return list.split(", ");
}

async function runCompiler(
  args: readonly string[],
): Promise<{ success: boolean; stderr: string }> {
  const compiler = Deno.env.get("COMPILE_DENO") ?? Deno.execPath();
  try {
    const { success, stderr } = await new Deno.Command(compiler, {
      args: ["compile", ...args],
      env: { NO_COLOR: "1", RUST_BACKTRACE: "0" },
      stdin: "null",
      stdout: "null",
    }).output();
    return { success, stderr: new TextDecoder().decode(stderr) };
  } catch (error) {
    throw new CompileError(`Cannot run ${compiler}: is it Deno?`, {
      cause: error,
    });
  }
}

/** The reason why the compiler failed: its output, unless a runtime is missing. */
function reason(stderr: string): string {
  const [, url] = stderr.match(/url \((https?:\S+denort\S+?)\)/) ?? [];
  if (url === undefined) return stderr.replace(/^[^]*?error: /, "").trim();
  const file = new URL(url).pathname.replace(/^\//, "");
  return `${url} cannot be downloaded; ` +
    `connect to that host once, or put the file into Deno's cache as dl/${file}`;
}
