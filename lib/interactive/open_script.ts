import { readChunks, sink } from "../standard_streams.ts";
import { JsonLines } from "./json_lines.ts";
import { PlainTerminal } from "./plain_terminal.ts";
import type { Terminal, TerminalOptions } from "./terminal.ts";

/** Options of {@linkcode openScript}. */
export interface OpenScriptOptions
  extends Pick<TerminalOptions, "stderr" | "quiet"> {
  /** Whether standard output takes JSON Lines. */
  readonly json: boolean;
  /** Whether prompts are read from standard input, line by line. */
  readonly readsLines: boolean;
}

/**
 * Opens the standard streams of this process for a script: JSON Lines, or plain
 * lines. Standard input is left alone if no prompts are read.
 */
export function openScript(options: OpenScriptOptions): Terminal {
  const stdin = options.readsLines ? readChunks(Deno.stdin) : NO_INPUT;
  const stdout = sink(Deno.stdout);
  if (options.json) return new JsonLines({ stdin, stdout });
  return new PlainTerminal({
    ...options,
    stdin,
    stdout,
    stdoutIsTerminal: Deno.stdout.isTerminal(),
    promptSign: false,
  });
}

const NO_INPUT: AsyncIterable<Uint8Array> = (async function* () {})();
