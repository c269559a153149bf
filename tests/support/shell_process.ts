import { commandLine } from "./client_process.ts";

/** How the program is started by {@linkcode spawnByShell}. */
export interface ShellOptions {
  /** What the shell runs. `"$@"` is the program with its arguments. */
  readonly script?: string;
  readonly args: readonly string[];
  /** The settings of the program, in addition to this process's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The default is this process's folder. */
  readonly cwd?: string;
  /** The program in place of the one under test. */
  readonly command?: readonly string[];
}

/**
 * The program as a child process whose standard streams a shell script sets up.
 * Nothing is read from it unless a test does. It is killed after 60 s.
 */
export function spawnByShell(
  { script = 'exec "$@"', args, env, cwd, command = commandLine() }:
    ShellOptions,
): Deno.ChildProcess {
  return new Deno.Command("sh", {
    args: ["-c", script, "sh", ...command, ...args],
    env,
    ...(cwd === undefined ? {} : { cwd }),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(60_000),
  }).spawn();
}
