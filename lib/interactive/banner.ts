import { plainLine, type Style } from "../text.ts";

export interface LineOptions {
  readonly style: Style;
  /** Whether banner and progress are left out. */
  readonly isQuiet: boolean;
  /** Whether nothing but the prompt is redrawn, and the time of each run is a line. */
  readonly isPlain: boolean;
}

/** The keys and words that stop a run or leave, on a dumb terminal. */
export const DUMB_KEYS = "Ctrl-C: stop, Ctrl-D or exit: leave";

/** The same for a terminal on which prompts can be edited. */
export const EDITOR_KEYS = `Ctrl-J: new line, ${DUMB_KEYS}`;

/** Added to the keys where more than the prompt is redrawn. */
export const PLAIN_HINT = "; screen readers: --plain";

/** A text as a line of the banner; empty with `-q`, which leaves the banner out. */
export function banner(
  text: string,
  { isQuiet, style }: Pick<LineOptions, "isQuiet" | "style">,
): string {
  return isQuiet ? "" : `${style.dim(plainLine(text))}\n`;
}
