import { readStandardInput } from "../standard_streams.ts";
import { mayUseColour } from "./colour.ts";
import { JsonLines } from "./json_lines.ts";
import { PlainTerminal } from "./plain_terminal.ts";
import type { Terminal, TerminalOptions } from "./terminal.ts";

/** Options of {@linkcode openScript}. */
export interface OpenScriptOptions
  extends Pick<TerminalOptions, "stdout" | "stderr" | "quiet"> {
  /** Whether standard output is JSON Lines. */
  readonly json: boolean;
  /** Whether prompts are read from standard input, line by line. */
  readonly readsLines: boolean;
}

/**
 * Opens the standard streams of this process for a script: JSON Lines, or plain
 * lines. Standard input is not touched if no prompts are read from it.
 */
export function openScript(options: OpenScriptOptions): Terminal {
  const stdin = options.readsLines ? readStandardInput() : NO_INPUT;
  if (options.json) return new JsonLines({ ...options, stdin });
  return new PlainTerminal({
    ...options,
    stdin,
    stdoutIsTerminal: Deno.stdout.isTerminal(),
    colour: mayUseColour(),
    promptSign: false,
  });
}

const NO_INPUT: AsyncIterable<Uint8Array> = (async function* () {})();
