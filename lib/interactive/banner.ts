import { plainLine } from "../text.ts";
import type { LineOptions } from "./event_lines.ts";

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
