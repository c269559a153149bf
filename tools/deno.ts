/**
 * Runs Deno with the standard library from JSR or, where JSR cannot be reached,
 * with the npm packages that stand in for it. The environment variable
 * `STANDARD_LIBRARY` (`jsr` or `npm`) passes the choice on to the processes that
 * it starts.
 *
 *     deno run -P=launcher tools/deno.ts SUBCOMMAND [ARGUMENT...]
 *
 * The exit code is that of Deno; 1 if the standard library cannot be loaded.
 *
 * @module
 */
import { runTool, ToolError } from "./tool_error.ts";

const tools = import.meta.dirname;
const config = `--config=${tools}/../deno.json`;

/** How long JSR may take to answer, in milliseconds. */
const JSR_TIMEOUT = 10_000;

/** How long the standard library may take to arrive, in milliseconds. */
const LOAD_TIMEOUT = 60_000;

/** Where the standard library comes from: JSR, or packages of npm. */
export type Library = "jsr" | "npm";

/** Passes the choice on to the processes that this one starts. */
const LIBRARY_VARIABLE = "STANDARD_LIBRARY";

/**
 * The flags with which Deno loads the standard library. `deno.json` names the lock
 * file for JSR; the replacements in `tools/npm/` have their own.
 */
const libraryFlags: Readonly<Record<Library, readonly string[]>> = {
  jsr: [config],
  npm: [
    config,
    "--frozen",
    `--lock=${tools}/npm/deno.lock`,
    `--import-map=${tools}/npm/import_map.json`,
  ],
};

/**
 * The launcher's choice for this process; `undefined` if the launcher did not start it.
 */
export function chosenLibrary(): Library | undefined {
  const value = Deno.env.get(LIBRARY_VARIABLE);
  return value === "jsr" || value === "npm" ? value : undefined;
}

/** The flags with which another Deno resolves imports like this one. */
export const sameFlags: readonly string[] =
  libraryFlags[chosenLibrary() ?? "jsr"];

/**
 * Chooses the source of the standard library: the choice of the launcher that
 * started this process, else JSR if Deno's cache has it or JSR answers, else npm.
 * The first process to choose npm reports it in one line on standard error.
 *
 * @throws {ToolError} If neither can be reached, and Deno's cache has neither.
 */
async function findLibrary(): Promise<Library> {
  const chosen = chosenLibrary();
  if (chosen !== undefined) return chosen;
  if (await loads("jsr", "--cached-only")) return "jsr";
  if (await askJsr()) {
    // All of it, so that the next run needs no network. If that fails, Deno
    // says why when it runs.
    await loads("jsr");
    return "jsr";
  }
  if (!await loads("npm")) {
    throw new ToolError(
      "Cannot get the standard library: neither JSR nor npm can be reached; " +
        "connect to either of them once, after that no network is needed",
    );
  }
  console.error(
    "Cannot reach jsr.io: using the same standard library from npm instead",
  );
  return "npm";
}

/** Whether Deno can load the whole standard library from there. */
async function loads(
  library: Library,
  ...flags: readonly string[]
): Promise<boolean> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["install", "--quiet", ...libraryFlags[library], ...flags],
      ...["--entrypoint", `${tools}/standard_library.ts`],
    ],
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

/** How Deno is run. */
interface RunDenoOptions {
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Reads its standard output, which is that of this process by default. */
  readonly read?: (stdout: ReadableStream<Uint8Array>) => Promise<void>;
}

/**
 * Runs Deno on this process's standard streams, passes signals on to it, and
 * returns its exit code.
 */
export async function runDeno(
  args: readonly string[],
  { env = {}, read }: RunDenoOptions = {},
): Promise<number> {
  // Before the child begins: it may be ready, and somebody may send a signal, at once.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"] as const) {
    try {
      Deno.addSignalListener(signal, () => pass(signal, child));
    } catch {
      // This system does not have the signal.
    }
  }
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env: { ...env },
    stdin: "inherit",
    stdout: read === undefined ? "inherit" : "piped",
    stderr: "inherit",
  }).spawn();
  const reading = read?.(child.stdout);
  if (Deno.build.os !== "windows") goOnAfterStop(child);
  const { code } = await child.status;
  await reading;
  return code;
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
 * Whether the child has received this process's SIGINT already. A terminal and
 * the Windows console send Ctrl-C to both, and the child may take a second SIGINT
 * as another Ctrl-C.
 */
function sentToGroup(): boolean {
  return Deno.build.os === "windows" ||
    [Deno.stdin, Deno.stdout, Deno.stderr].some((s) => s.isTerminal());
}

/**
 * Wakes a child that Ctrl-Z has stopped. The shell would not take the terminal
 * back: it waits for `deno task`, which does not stop.
 */
function goOnAfterStop(child: Deno.ChildProcess): void {
  // Where the terminal sends the signal, this process must not stop either.
  for (const signal of ["SIGTSTP", "SIGCHLD"] as const) {
    Deno.addSignalListener(signal, () => pass("SIGCONT", child));
  }
}

async function main(): Promise<void> {
  const [subcommand = "", ...args] = Deno.args;
  const library = await findLibrary();
  const env = { [LIBRARY_VARIABLE]: library };
  const flags = libraryFlags[library];
  Deno.exit(await runDeno([subcommand, ...flags, ...args], { env }));
}

if (import.meta.main) await runTool(main);
