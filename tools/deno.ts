/**
 * Runs Deno with the standard library from JSR or, where JSR is out of reach,
 * with the npm packages that stand in for it.
 *
 *     deno run -P=launcher tools/deno.ts SUBCOMMAND [ARGUMENT...]
 *
 * @module
 */
import { goOnAfterStop } from "./go_on_after_stop.ts";
import { jsrFlags, standInFlags } from "./stand_ins.ts";

/** How long JSR may take to answer, in milliseconds. */
const JSR_TIMEOUT = 3_000;

/** How long the standard library may take to arrive, in milliseconds. */
const LOAD_TIMEOUT = 60_000;

const [subcommand, ...args] = Deno.args;
if (subcommand === undefined) {
  console.error("No Deno subcommand given: tools/deno.ts SUBCOMMAND [ARG...]");
  Deno.exit(2);
}
Deno.exit(await runDeno([subcommand, ...await findLibrary(), ...args]));

/** Returns the flags with which Deno finds the standard library. */
async function findLibrary(): Promise<readonly string[]> {
  if (await loads([...jsrFlags, "--cached-only"])) return jsrFlags;
  const [jsrAnswers, standInsAreCached] = await Promise.all([
    askJsr(),
    loads([...standInFlags, "--cached-only"]),
  ]);
  if (jsrAnswers) {
    // All of it, so that the next run needs no network. If that fails, Deno
    // says why when it runs.
    await loads(jsrFlags);
    return jsrFlags;
  }
  if (!standInsAreCached && !await loads(standInFlags)) {
    console.error(
      "Cannot get the standard library: neither JSR nor npm can be reached; " +
        "connect to either of them once, after that no network is needed",
    );
    Deno.exit(1);
  }
  console.error("JSR is out of reach: the standard library comes from npm");
  return standInFlags;
}

/** Tells whether Deno can load the whole standard library. */
async function loads(flags: readonly string[]): Promise<boolean> {
  const entrypoint = `${import.meta.dirname}/standard_library.ts`;
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet", ...flags, "--entrypoint", entrypoint],
    signal: AbortSignal.timeout(LOAD_TIMEOUT),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return success;
}

async function askJsr(): Promise<boolean> {
  const base = Deno.env.get("JSR_URL") ?? "https://jsr.io/";
  try {
    const response = await fetch(new URL("/@std/assert/meta.json", base), {
      signal: AbortSignal.timeout(JSR_TIMEOUT),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Runs Deno on this process's streams, and returns its exit code. */
async function runDeno(args: string[]): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), { args }).spawn();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    try {
      Deno.addSignalListener(signal, () => pass(signal, child));
    } catch {
      // This system does not have the signal.
    }
  }
  if (Deno.build.os !== "windows") goOnAfterStop(child);
  return (await child.status).code;
}

function pass(signal: Deno.Signal, child: Deno.ChildProcess): void {
  if (signal === "SIGINT" && sentToGroup()) return;
  try {
    child.kill(signal);
  } catch {
    // The child has just ended.
  }
}

/**
 * Tells whether the child has got this process's SIGINT already. A terminal
 * and the Windows console send Ctrl-C to both, and the child may take a second
 * one for a second wish.
 */
function sentToGroup(): boolean {
  return Deno.build.os === "windows" ||
    [Deno.stdin, Deno.stdout, Deno.stderr].some((s) => s.isTerminal());
}
