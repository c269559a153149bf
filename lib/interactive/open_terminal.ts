import { environmentVariable } from "../environment_variable.ts";
import { type ByteSink, readStandardInput } from "../standard_streams.ts";
import { mayUseColour } from "./colour.ts";
import { PlainTerminal } from "./plain_terminal.ts";
import type { Terminal } from "./terminal.ts";

/** Options of {@linkcode openTerminal}. */
export interface OpenTerminalOptions {
  /** Writes replies to standard output, after what `stderr` was given before. */
  readonly stdout: ByteSink;
  /** Writes to standard error; progress may be dropped if nobody reads it. */
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

/** `CI` says that no person types, unless it is empty or says no. */
function isAutomated(): boolean {
  return !["", "0", "false"].includes(environmentVariable("CI") ?? "");
}

/** The size of the terminal at this moment. */
function consoleSize(): { readonly columns: number; readonly rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    return { columns: 80, rows: 24 }; // none of the standard streams tells
  }
}
