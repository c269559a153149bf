import type { Editor, Keyboard, Size } from "../editor.ts";
import { type ByteSink, type ErrorOutput, readStandardInput } from "../io.ts";
import { shown } from "../text.ts";
import { ChatView } from "./chat_view.ts";
import { JsonView } from "./json_view.ts";
import { PlainLines } from "./plain_lines.ts";
import { PromptLines } from "./stdin_prompts.ts";
import type { Terminal } from "./terminal.ts";
import type { View } from "./view.ts";

const PROMPT_SIGN = shown`> `;

interface OpenViewOptions {
  /** Writes to standard output, after everything that went to `stderr` before. */
  readonly stdout: ByteSink;
  readonly stderr: ErrorOutput;
  readonly json: boolean;
  /** What some keys call. */
  readonly keys: Omit<Keyboard, "input" | "keyMode" | "isWindowsConsole">;
}

/**
 * Opens the view on this process's standard streams: JSON Lines, or a screen with
 * a status line (and editing, if prompts are typed), or plain lines.
 */
export async function openView(
  terminal: Terminal,
  options: OpenViewOptions,
): Promise<View> {
  const { json, stderr, stdout } = options;
  const readLines = () => new PromptLines(INPUT, !json && terminal.isTyped);
  if (json) return new JsonView(readLines(), stdout);

  if (!terminal.isScreen) {
    const sign = terminal.keys === undefined ? "" : PROMPT_SIGN;
    const surface = new PlainLines({ prompts: readLines(), stderr, sign });
    return new ChatView({ surface, stdout, terminal });
  }
  const [surface, { StatusLine }] = await Promise.all([
    openEditor(terminal, options),
    import("./status_line.ts"),
  ]);
  const { isAscii, isPlain, isQuiet, style } = terminal;
  const columns = () => consoleSize().columns;
  const status = isPlain || isQuiet
    ? undefined
    : new StatusLine({ style, isAscii, columns });
  return new ChatView({ surface, stdout, terminal, status });
}

/** Opened when a line is read: where the command line has the prompts, none is. */
const INPUT = {
  [Symbol.asyncIterator]: () => readStandardInput()[Symbol.asyncIterator](),
};

/** Opens an editor, which takes the terminal over. */
async function openEditor(
  { isPlain, style }: Terminal,
  { stderr, keys }: OpenViewOptions,
): Promise<Editor> {
  const { Editor, enterKeyMode } = await import("../editor.ts");
  const keyboard = {
    ...keys,
    input: () => readStandardInput(true),
    keyMode: enterKeyMode,
    isWindowsConsole: Deno.build.os === "windows",
  };
  return new Editor({
    output: stderr,
    isPlain,
    size: consoleSize,
    style,
    sign: PROMPT_SIGN,
    keyboard,
  });
}

/** The size of the terminal; 80 columns and 24 rows if it is unknown. */
export function consoleSize(): Size {
  try {
    const { columns, rows } = Deno.consoleSize();
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    return { columns: 80, rows: 24 }; // no standard stream is a terminal
  }
}
