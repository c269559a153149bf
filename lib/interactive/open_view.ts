import { type ByteSink, readStandardInput, type StreamKind } from "../io.ts";
import { COLOURED, PLAIN } from "../text.ts";
import { DUMB_KEYS, PIPE_KEYS } from "./line_options.ts";
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
import { type ReplyWriter, writeReply } from "./write_reply.ts";

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
  readonly streams: Readonly<Record<"stdin" | "stdout" | "stderr", StreamKind>>;
  readonly json: boolean;
  readonly quiet: boolean;
  /** Whether only the prompt is redrawn, while the user types it. */
  readonly plain: boolean;
  readonly color: "auto" | "always" | "never";
  /** Called on a Ctrl-C that arrives as a byte, and not as a signal. */
  readonly onInterrupt: () => void;
  readonly onQuit: () => void;
}

/**
 * Opens the view on this process's standard streams: JSON Lines, or a screen with
 * a status line (and editing, if prompts are typed), or plain lines where there is
 * no terminal, or where `TERM` or `CI` say that it cannot be drawn on.
 */
export async function openView(options: OpenViewOptions): Promise<View> {
  const { color, json, readsPrompts, stderr, stdout, streams } = options;
  const { plain: isPlain, quiet: isQuiet } = options;
  const stdin = () => readsPrompts ? readStandardInput() : NO_INPUT;
  if (json) return new JsonView(stdin(), stdout);

  const isTyped = readsPrompts && streams.stdin !== "data";
  const isForced = color === "always";
  const isShown = streams.stdout !== "data" || isForced;
  const isStyled = usesColour(color, isPlain);
  const form = !isShown ? "unchanged" : isStyled ? "styled" : "clean";
  const reply: ReplyWriter = (text, signal) =>
    writeReply({ stdout, form }, text, signal);
  const isScreen = streams.stderr === "terminal" && !isDumb() &&
    !isAutomated() &&
    (readsPrompts ? streams.stdin === "terminal" : !isPlain);
  if (!isScreen) {
    const style = isForced ? COLOURED : PLAIN;
    return new LineView({
      ...{ stdin: stdin(), stderr, reply, isTyped },
      lines: { style, isQuiet, isPlain, isScript: !isTyped },
      keys: isTyped && streams.stderr !== "data"
        ? streams.stdin === "lines" ? PIPE_KEYS : DUMB_KEYS
        : undefined,
    });
  }
  const [{ Editor, enterKeyMode }, { ScreenView }, { ASCII_MARKS, MARKS }] =
    await Promise.all([
      import("../editor.ts"),
      import("./screen_view.ts"),
      import("./status_line.ts"),
    ]);
  const style = isStyled ? COLOURED : PLAIN;
  const editor = new Editor({
    write: stderr,
    size: consoleSize,
    style,
    sign: PROMPT_SIGN,
    keyboard: isTyped
      ? {
        input: () => readStandardInput(true),
        keyMode: (actions) =>
          enterKeyMode({
            ...actions,
            write: stderr,
            // Standard output is written after standard error, so this waits for both.
            written: () => stdout.write(new Uint8Array()),
          }),
        onInterrupt: options.onInterrupt,
        onQuit: options.onQuit,
        isLossy: Deno.build.os === "windows",
      }
      : undefined,
  });
  return new ScreenView({
    ...{ editor, reply, isTyped },
    lines: { style, isQuiet, isPlain, isScript: !isTyped },
    separatesReplies: streams.stdout !== "data" && (isTyped || !isQuiet),
    marks: isLinuxConsole() ? ASCII_MARKS : MARKS,
    size: consoleSize,
  });
}
