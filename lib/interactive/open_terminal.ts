import { readChunks, sink } from "../standard_streams.ts";
import { PlainTerminal } from "./plain_terminal.ts";
import type { Terminal } from "./terminal.ts";

/** Options of {@linkcode openTerminal}. */
export interface OpenTerminalOptions {
  /** Writes to standard error at once. */
  readonly stderr: (text: string, kind?: "progress") => void;
  /** Whether banner and progress are left out. */
  readonly quiet: boolean;
  /** Called on a Ctrl-C that does not reach the process as a signal. */
  readonly onInterrupt: () => void;
}

/**
 * Opens the terminal that this process's standard streams make up: a real one
 * if a person types and sees, and `TERM=dumb` and `CI` do not ask for plain
 * lines. Its colours go with `NO_COLOR` (https://no-color.org).
 */
export async function openTerminal(
  options: OpenTerminalOptions,
): Promise<Terminal> {
  const isTerminal = Deno.stdin.isTerminal() && Deno.stderr.isTerminal();
  const common = {
    ...options,
    stdout: sink(Deno.stdout),
    stdoutIsTerminal: Deno.stdout.isTerminal(),
  };
  const isSet = (name: string) => (Deno.env.get(name) ?? "") !== "";
  if (isTerminal && Deno.env.get("TERM") !== "dumb" && !isSet("CI")) {
    const { ReadlineTerminal } = await import("./readline_terminal.ts");
    return await ReadlineTerminal.open({
      ...common,
      colour: !isSet("NO_COLOR"),
    });
  }
  return new PlainTerminal({
    ...common,
    stdin: readChunks(Deno.stdin),
    promptSign: isTerminal,
  });
}
