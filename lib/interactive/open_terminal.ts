import { environmentVariable } from "../environment_variable.ts";
import { type ByteSink, readStandardInput } from "../standard_streams.ts";
import { mayUseColour } from "./colour.ts";
import { PlainTerminal } from "./plain_terminal.ts";
import type { Terminal } from "./terminal.ts";

/** Options of {@linkcode openTerminal}. */
export interface OpenTerminalOptions {
  /** Writes replies to standard output, after the text that `stderr` got before. */
  readonly stdout: ByteSink;
  /** Writes to standard error; progress may be dropped if nobody reads it. */
  readonly stderr: (text: string, kind?: "progress") => void;
  /** Whether banner and progress are left out. */
  readonly quiet: boolean;
  /** Called on a Ctrl-C that arrives as a byte, and not as a signal. */
  readonly onInterrupt: () => void;
}

/**
 * Opens the terminal on this process's standard streams. It has editing and a
 * status line if standard input and standard error are terminals, unless
 * `TERM=dumb` or `CI` ask for plain lines. `NO_COLOR` turns colour off
 * (https://no-color.org).
 */
export async function openTerminal(
  options: OpenTerminalOptions,
): Promise<Terminal> {
  const isTerminal = Deno.stdin.isTerminal() && Deno.stderr.isTerminal();
  const isDumb = environmentVariable("TERM") === "dumb";
  const common = {
    ...options,
    stdoutIsTerminal: Deno.stdout.isTerminal(),
    colour: mayUseColour(),
  };
  if (!isTerminal || isDumb || isAutomated()) {
    return new PlainTerminal({
      ...common,
      stdin: readStandardInput(),
      promptSign: isTerminal,
    });
  }
  const [{ EditingTerminal }, { enterKeyMode }] = await Promise.all([
    import("./editing_terminal.ts"),
    import("./key_mode.ts"),
  ]);
  return new EditingTerminal({
    ...common,
    stdin: readStandardInput,
    size: consoleSize,
    keyMode: enterKeyMode,
  });
}

/** Whether `CI` is set: to anything but empty, `0` or `false`. */
function isAutomated(): boolean {
  return !["", "0", "false"].includes(environmentVariable("CI") ?? "");
}

/** Returns the current size of the terminal. */
function consoleSize(): { readonly columns: number; readonly rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    return { columns: 80, rows: 24 }; // no standard stream is a terminal
  }
}
