import { type ByteSink, readStandardInput } from "../io.ts";
import { COLOURED, PLAIN } from "../text.ts";
import { JsonView } from "./json_view.ts";
import { LineView } from "./line_view.ts";
import {
  consoleSize,
  isAutomated,
  isDumb,
  isLinuxConsole,
  usesColour,
} from "./terminal_abilities.ts";
import { PROMPT_SIGN, type View } from "./view.ts";

// Not a ReadableStream: Deno takes 2 ms to load the first one.
const NO_INPUT: AsyncIterable<Uint8Array> = (async function* () {})();

export interface OpenViewOptions {
  /** Writes to standard output, after everything that went to `stderr` before. */
  readonly stdout: ByteSink;
  /** Writes to standard error; progress may be dropped if nobody reads it. */
  readonly stderr: (text: string, kind?: "progress") => void;
  /**
   * Where prompts come from: standard input line by line, or nowhere, because the
   * command line has them. Then standard input is not touched.
   */
  readonly readsPrompts: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  /** Whether only the prompt is redrawn, while the user types it. */
  readonly plain: boolean;
  readonly color: "auto" | "always" | "never";
  /** Called on a Ctrl-C that arrives as a byte, and not as a signal. */
  readonly onInterrupt: () => void;
  /** The same for Ctrl-\. */
  readonly onQuit: () => void;
}

/**
 * Opens the view on this process's standard streams: JSON Lines, or a screen with
 * a status line (and editing, if prompts are typed), or plain lines where there is
 * no terminal, or where `TERM` or `CI` say that it cannot be drawn on.
 */
export async function openView(options: OpenViewOptions): Promise<View> {
  const { color, json, plain, quiet, readsPrompts, stderr, stdout } = options;
  const stdin = readsPrompts ? readStandardInput : () => NO_INPUT;
  if (json) return new JsonView({ stdin, stdout });

  const isTyped = readsPrompts && Deno.stdin.isTerminal();
  const stderrIsTerminal = Deno.stderr.isTerminal();
  const stdoutIsTerminal = Deno.stdout.isTerminal();
  const isStyled = usesColour(color);
  const isForced = color === "always";
  const common = {
    stdin,
    stdout,
    stderr,
    isQuiet: quiet,
    isPlain: plain,
    cleansReplies: stdoutIsTerminal || isForced,
  };
  const isScreen = stderrIsTerminal && !isDumb() && !isAutomated() &&
    (isTyped || !readsPrompts && !plain);
  if (!isScreen) {
    return new LineView({
      ...common,
      hasColour: isStyled,
      stylesErrors: isForced,
      isTyped,
      stderrIsTerminal,
    });
  }
  const [{ Editor, enterKeyMode }, { ScreenView }, { ASCII_MARKS, MARKS }] =
    await Promise.all([
      import("../editor.ts"),
      import("./screen_view.ts"),
      import("./status_line.ts"),
    ]);
  const editor = new Editor({
    write: stderr,
    size: consoleSize,
    style: isStyled ? COLOURED : PLAIN,
    sign: PROMPT_SIGN,
    keyboard: isTyped
      ? {
        input: readStandardInput,
        // Standard output is written after standard error, so this waits for both.
        written: () => stdout.write(new Uint8Array()),
        keyMode: enterKeyMode,
        onInterrupt: options.onInterrupt,
        onQuit: options.onQuit,
      }
      : undefined,
  });
  return new ScreenView({
    ...common,
    editor,
    isTyped,
    stdoutIsTerminal,
    hasColour: isStyled,
    marks: isLinuxConsole() ? ASCII_MARKS : MARKS,
    size: consoleSize,
  });
}
