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
import { bundleParts } from "./bundle.ts";
import { writeChecksums } from "./checksums.ts";
import { compile, CompileError, offeredTargets } from "./compiler.ts";
import { clientPermissionFlags } from "./permission_flags.ts";

const DIST = `${import.meta.dirname}/../dist`;
const BUNDLE = `${DIST}/agent-gateway.js`;

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
  const program = await bundleParts();
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

Deno.exit(await main(Deno.args));
