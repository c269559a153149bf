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
import { clientPermissionFlags, readParts, writeChecksums } from "./bundle.ts";

const DIST = `${import.meta.dirname}/../dist`;
const BUNDLE = `${DIST}/agent-gateway.js`;

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
async function offeredTargets(): Promise<string[]> {
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

class UsageError extends Error {}

async function chooseTargets(words: readonly string[]): Promise<Set<string>> {
  if (words.length === 0) return new Set([Deno.build.target]);
  const offered = await offeredTargets();
  const targets = words.flatMap((word) => word === "all" ? offered : word);
  const unknown = targets.find((target) => !offered.includes(target));
  if (unknown !== undefined) {
    throw new UsageError(
      `Unknown target ${JSON.stringify(unknown)}: choose from ` +
        `${offered.join(", ")}, or all`,
    );
  }
  return new Set(targets);
}

/** Starts the client, which ends at once because there is no input. */
async function checkArguments(args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-config", ...clientPermissionFlags],
      ...[BUNDLE, ...args, "--bridge"],
    ],
    env: { APP_API_KEY: "a-key-to-start-with" },
    stdin: "null",
    stdout: "null",
  }).output();
  if (success) return;
  const message = new TextDecoder().decode(stderr).trim();
  throw new UsageError(`The client does not start with these: ${message}`);
}

/** Starts a binary, because the compiler would accept any program as a runtime. */
async function checkBinary(path: string): Promise<void> {
  const { stdout } = await new Deno.Command(path, {
    args: ["--version"],
    stderr: "null",
  }).output();
  if (new TextDecoder().decode(stdout).startsWith("agent-gateway ")) return;
  throw new CompileError(
    "Cannot compile: the result does not run; does DENORT_BIN fit the compiler?",
  );
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
      if (target === Deno.build.target) await checkBinary(binary);
      const extension = binary.endsWith(".exe") ? ".exe" : "";
      binaries.set(binary, `agent-gateway-${target}${extension}`);
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

async function main(words: readonly string[]): Promise<number> {
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const args = words.slice(end + 1);
  try {
    const targets = await chooseTargets(words.slice(0, end));
    if (args.length > 0) await checkArguments(args);
    await compileAll(targets, args);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof CompileError)) {
      throw error;
    }
    console.error(error.message);
    return error instanceof UsageError ? 2 : 1;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
