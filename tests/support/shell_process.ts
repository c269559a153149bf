import { commandLine } from "./client_process.ts";

/** Options of {@linkcode spawnByShell}. */
export interface ShellOptions {
  /** The shell script. `"$@"` is the program with its arguments. */
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
 * Its output is read only by the test. It is killed after 60 s.
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
