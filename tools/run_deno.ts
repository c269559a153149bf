import { goOnAfterStop } from "./go_on_after_stop.ts";

/**
 * Runs Deno on this process's standard streams, passes signals on to it, and
 * returns its exit code. `env` is added to the environment of this process.
 */
export async function runDeno(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), { args: [...args], env })
    .spawn();
  const stops: (() => void)[] = [];
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const listener = () => pass(signal, child);
    try {
      Deno.addSignalListener(signal, listener);
      stops.push(() => Deno.removeSignalListener(signal, listener));
    } catch {
      // This system does not have the signal.
    }
  }
  if (Deno.build.os !== "windows") goOnAfterStop(child);
  const { code } = await child.status;
  for (const stop of stops) stop();
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
