import { cutToWidth } from "../editor.ts";
import { pauseLabel, type ProgressEvent, type WaitEvent } from "../gateway.ts";
import { startTimeout } from "../io.ts";
import { duration, type Shown, shown, shownLine, type Style } from "../text.ts";
import type { Step } from "./view.ts";

const HINT = "  Ctrl-C stops";

/** How long an operation takes before its row is shown, in milliseconds. */
const DELAY = 500;

/** The time between two frames of the spinner, in milliseconds. */
const SPINNER_PAUSE = 250;

/** The marks of a status line, one column each. */
const MARKS = {
  spinner: [
    "\u280b",
    "\u2819",
    "\u2839",
    "\u2838",
    "\u283c",
    "\u2834",
    "\u2826",
    "\u2827",
    "\u2807",
    "\u280f",
  ],
  done: "\u2713",
  failed: "\u2717",
} as const;

/** Marks for fonts that lack the others, such as those of the Linux console. */
const ASCII_MARKS = {
  spinner: ["|", "/", "-", "\\"],
  done: "+",
  failed: "x",
} as const;

interface StatusLineOptions {
  readonly style: Style;
  /** Whether the font may lack all characters but those of ASCII. */
  readonly isAscii: boolean;
  readonly columns: () => number;
}

/** Statuses of a node that has finished. */
const DONE =
  /^(?:done|completed?|finish(?:ed)?|succe(?:ss|eded)|ok|end(?:ed)?)$/i;

interface Node {
  readonly name: string;
  readonly reachedAt: number;
  label: Shown;
  isDone: boolean;
}

interface RowState {
  readonly startedAt: number;
  node?: Node;
  pause?: { readonly reason: WaitEvent["reason"]; readonly until: number };
}

/**
 * A spinner, the run's current node and its status, the time since the node (or without
 * one, the operation) began, and how to stop it. During a pause before a retry, the
 * reason and the remaining time replace the node. Each finished node becomes a line
 * above, with its duration; so does the run, with its total.
 * Callers draw {@linkcode row} as often as they like.
 */
export class StatusLine {
  readonly #options: StatusLineOptions;
  readonly #marks: typeof MARKS | typeof ASCII_MARKS;
  #shown: RowState | undefined;
  #stopSpinner = () => {};

  constructor(options: StatusLineOptions) {
    this.#options = options;
    this.#marks = options.isAscii ? ASCII_MARKS : MARKS;
  }

  /** Shows a step of an operation. Returns the lines that stay above the row, if any. */
  advance(step: Step): Shown {
    const now = performance.now();
    if (step.type === "begin") this.#shown = { startedAt: now };
    const state = this.#shown;
    if (state === undefined) return "";
    const { node } = state;
    switch (step.type) {
      case "begin":
      case "run":
        return "";
      case "wait": {
        const { reason, milliseconds } = step;
        state.pause = { reason, until: now + milliseconds };
        return "";
      }
      case "progress": {
        delete state.pause;
        const label = labelOf(step);
        const isDone = DONE.test(step.status.trim());
        if (node?.name === step.node) {
          node.label = label;
          node.isDone ||= isDone;
          return "";
        }
        state.node = { name: step.node, label, isDone, reachedAt: now };
        return node ? this.#lineOf(node, true) : "";
      }
      case "end": {
        this.#shown = undefined;
        this.#stopSpinner();
        const { completed, total } = step;
        const last = node ? this.#lineOf(node, completed) : "";
        if (total === undefined) return last;
        const mark = this.#markOf(completed);
        return shown`${last}${this.#finished(mark, shown`total`, total)}`;
      }
      default:
        return step satisfies never;
    }
  }

  /** Calls a function for each frame of the spinner, until the operation ends. */
  spin(draw: () => void): void {
    this.#stopSpinner = startTimeout(SPINNER_PAUSE, () => {
      draw();
      this.spin(draw);
    });
  }

  /** The row, cut to the terminal's width; empty in the first half second. */
  row(): Shown {
    if (this.#shown === undefined) return "";
    const { node, pause, startedAt } = this.#shown;
    const now = performance.now();
    const milliseconds = now - startedAt;
    if (milliseconds < DELAY) return "";
    const sinceNode = now - (node?.reachedAt ?? startedAt);
    const label = pause !== undefined && pause.until > now
      ? shownLine(pauseLabel(pause.reason, pause.until - now))
      : node?.label ?? shown`waiting`;
    const frame = Math.floor(milliseconds / SPINNER_PAUSE) %
      this.#marks.spinner.length;
    const mark = this.#marks.spinner[frame] ?? "";
    const { columns } = this.#options;
    return shown`${mark}${afterMark(label, sinceNode, columns(), HINT)}`;
  }

  /** The line of a node. Without a word that it is done, it has no mark. */
  #lineOf({ label, reachedAt, isDone }: Node, completed: boolean): Shown {
    const mark = isDone || !completed ? this.#markOf(completed) : shown` `;
    return this.#finished(mark, label, performance.now() - reachedAt);
  }

  #markOf(completed: boolean): Shown {
    const { done, failed } = this.#marks;
    const { green, red } = this.#options.style;
    return shown`${completed ? green(done) : red(failed)}`;
  }

  /** The line that stays on the screen after a node, or the run, has finished. */
  #finished(mark: Shown, label: Shown, milliseconds: number): Shown {
    const columns = this.#options.columns();
    return shown`${mark}${afterMark(label, milliseconds, columns)}\n`;
  }
}

/** A label and a time after a mark, and a hint if there is room; the label is cut. */
function afterMark(
  label: Shown,
  milliseconds: number,
  columns: number,
  hint: typeof HINT | "" = "",
): Shown {
  // The last column stays free: some terminals wrap as soon as it is taken.
  const room = Math.max(columns - "✓".length - 1, 0);
  const time = shown`  ${shownLine(duration(milliseconds))}`;
  const whole = shown` ${label}${time}${hint}`;
  if (cutToWidth(whole, room) === whole) return whole;
  const start = cutToWidth(shown` ${label}`, Math.max(room - time.length, 0));
  return cutToWidth(shown`${start}${time}`, room);
}

function labelOf({ node, status }: ProgressEvent): Shown {
  const [first, second] = [node, status].map((text) => shownLine(text));
  if (!first || !second) return first || second || "";
  return shown`${first}: ${second}`;
}
