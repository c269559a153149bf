import { environmentVariable, type StreamKind } from "../io.ts";
import { COLOURED, PLAIN, type Redacted, safe, type Style } from "../text.ts";

/** What the user asked for, as far as it says how things look. */
export interface Wishes {
  readonly color: "auto" | "always" | "never";
  readonly plain: boolean;
  readonly quiet: boolean;
}

type StreamKinds = Readonly<
  Record<"stdin" | "stdout" | "stderr", StreamKind>
>;

/** The terminal as it was found at the start, and how it is used. */
export interface Terminal {
  /** Whether a person types the prompts. */
  readonly isTyped: boolean;
  /**
   * Whether rows are drawn again on standard error: where a person types prompts. A
   * script shows lines, as its terminal may be somebody else's.
   */
  readonly isScreen: boolean;
  /** Whether its fonts may lack all characters but those of ASCII. */
  readonly isAscii: boolean;
  readonly isQuiet: boolean;
  /** Whether nothing but the prompt is redrawn, and the time of each run is a line. */
  readonly isPlain: boolean;
  /** The style of what is written to standard error. */
  readonly style: Style;
  /** `clean`: safe to show on a terminal. `styled`: with its Markdown styled, too. */
  readonly replies: "unchanged" | "clean" | "styled";
  /** Whether replies appear between the lines of standard error. */
  readonly mixesReplies: boolean;
  /**
   * Whether no progress is shown after the first reply: a script's replies go to another
   * program, such as a pager, which may draw on the terminal from then on.
   */
  readonly endsProgress: boolean;
  /** The line about keys; `undefined` where nobody would see it. */
  readonly keys: Redacted | undefined;
}

/** How to stop a run and how to leave, one way each, on a dumb terminal. */
const DUMB_KEYS = safe`Ctrl-C: stop, command: exit`;

/** The same where a terminal gives the program a pipe, as mintty does on Windows. */
const PIPE_KEYS =
  safe`${DUMB_KEYS}; no keys arrive: use winpty or Windows Terminal`;

/** The same for a terminal on which prompts can be edited. */
const EDITOR_KEYS = safe`Ctrl-J: new line, ${DUMB_KEYS}`;

/** Added to the keys where more than the prompt is redrawn. */
const PLAIN_HINT = safe`; screen readers: --plain`;

/**
 * Describes the terminal. It is a screen if a person types prompts on it, unless `TERM`
 * or `CI` say that it cannot be drawn on.
 *
 * @param readsPrompts Whether prompts come from standard input, line by line.
 */
export function describeTerminal(
  streams: StreamKinds,
  readsPrompts: boolean,
  wishes: Wishes,
): Terminal {
  const { plain: isPlain, quiet: isQuiet } = wishes;
  const isTyped = readsPrompts && streams.stdin !== "data";
  const areRepliesShown = streams.stdout !== "data";
  const canDraw = streams.stderr === "terminal" && !isDumb() && !isAutomated();
  const isScreen = canDraw && isTyped && streams.stdin === "terminal";
  return {
    isTyped,
    isScreen,
    isAscii: environmentVariable("TERM") === "linux", // its console
    isQuiet,
    isPlain,
    style: styleOf(canDraw, wishes),
    replies: repliesOf(areRepliesShown, wishes),
    mixesReplies: isScreen && areRepliesShown,
    endsProgress: !readsPrompts && !areRepliesShown,
    keys: isTyped && streams.stderr !== "data"
      ? keysLine(streams, isScreen, isPlain)
      : undefined,
  };
}

function styleOf(canDraw: boolean, wishes: Wishes): Style {
  const isStyled = wishes.color === "always" || canDraw && usesColour(wishes);
  return isStyled ? COLOURED : PLAIN;
}

function repliesOf(areShown: boolean, wishes: Wishes): Terminal["replies"] {
  if (!areShown && wishes.color !== "always") return "unchanged";
  return usesColour(wishes) ? "styled" : "clean";
}

function keysLine(
  streams: StreamKinds,
  isScreen: boolean,
  isPlain: boolean,
): Redacted {
  if (isScreen) return safe`${EDITOR_KEYS}${isPlain ? "" : PLAIN_HINT}`;
  return streams.stdin === "lines" ? PIPE_KEYS : DUMB_KEYS;
}

/**
 * Whether text on a terminal is styled. `auto` styles it unless `NO_COLOR` is set
 * (https://no-color.org), the terminal is dumb, or a screen reader may read it: it would
 * break the text at each change of style.
 */
function usesColour({ color, plain }: Wishes): boolean {
  if (color !== "auto") return color === "always";
  return !plain && !isDumb() &&
    (environmentVariable("NO_COLOR") ?? "") === "";
}

/**
 * Whether `TERM` says that the terminal cannot be drawn on. The Windows console has no
 * `TERM`.
 */
function isDumb(): boolean {
  const term = environmentVariable("TERM") ?? "";
  return term === "dumb" || term === "" && Deno.build.os !== "windows";
}

/** Whether `CI` is set: to anything but empty, `0` or `false`. */
function isAutomated(): boolean {
  return !["", "0", "false"].includes(environmentVariable("CI") ?? "");
}
