import type { Style } from "../text.ts";

export interface LineOptions {
  readonly style: Style;
  /** Whether nobody types prompts: then errors begin with the program's name. */
  readonly isScript: boolean;
  readonly isQuiet: boolean;
  /** Whether nothing but the prompt is redrawn, and the time of each run is a line. */
  readonly isPlain: boolean;
}

/** How to stop a run and how to leave, one way each, on a dumb terminal. */
export const DUMB_KEYS = "Ctrl-C: stop, only command: exit";

/** The same where a terminal gives the program a pipe, as mintty does on Windows. */
export const PIPE_KEYS =
  `${DUMB_KEYS}; no keys arrive: use winpty or Windows Terminal`;

/** The same for a terminal on which prompts can be edited. */
export const EDITOR_KEYS = `Ctrl-J: new line, ${DUMB_KEYS}`;

/** Added to the keys where more than the prompt is redrawn. */
export const PLAIN_HINT = "; screen readers: --plain";
