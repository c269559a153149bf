import { cutToWidth } from "../editor.ts";
import { pauseLabel, type ProgressEvent, type WaitEvent } from "../gateway.ts";
import { startTimeout } from "../io.ts";
import { duration, plainLine, shorten, type Style } from "../text.ts";
import type { Step } from "./view.ts";

const HINT = "  Ctrl-C stops";

/** The most UTF-16 code units of a node's name or status that are used. */
const MAX_LABEL_LENGTH = 1000;

/** How long an operation takes before its row is shown, in milliseconds. */
const DELAY = 500;

/** The time between two frames of the spinner, in milliseconds. */
const SPINNER_PAUSE = 250;

/** The marks of a status line, one column each. */
interface Marks {
  readonly spinner: string;
  readonly done: string;
  readonly failed: string;
}

const MARKS: Marks = { spinner: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", done: "✓", failed: "✗" };

/** Marks for fonts that lack the others, such as those of the Linux console. */
const ASCII_MARKS: Marks = { spinner: "|/-\\", done: "+", failed: "x" };

export interface StatusLineOptions {
  readonly style: Style;
  /** Whether the font may lack all characters but those of ASCII. */
  readonly isAscii: boolean;
  readonly columns: () => number;
  readonly now?: (() => number) | undefined;
}

/** A status that says that a node is done. */
const DONE =
  /^(?:done|completed?|finish(?:ed)?|succe(?:ss|eded)|ok|end(?:ed)?)$/i;

interface Node {
  readonly name: string;
  readonly reachedAt: number;
  label: string;
  isDone: boolean;
}

interface Shown {
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
  readonly #now: () => number;
  readonly #marks: Marks;
  #shown: Shown | undefined;
  #stopSpinner = () => {};

  constructor(options: StatusLineOptions) {
    this.#options = options;
    this.#marks = options.isAscii ? ASCII_MARKS : MARKS;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Shows a step of an operation. Returns the lines that stay above the row, if any. */
  advance(step: Step): string {
    const now = this.#now();
    if (step.type === "begin") this.#shown = { startedAt: now };
    const shown = this.#shown;
    if (shown === undefined) return "";
    const { node } = shown;
    switch (step.type) {
      case "begin":
      case "run":
        return "";
      case "wait": {
        const { reason, milliseconds } = step;
        shown.pause = { reason, until: now + milliseconds };
        return "";
      }
      case "progress": {
        delete shown.pause;
        const label = labelOf(step);
        const isDone = DONE.test(step.status.trim());
        if (node?.name === step.node) {
          node.label = label;
          node.isDone ||= isDone;
          return "";
        }
        shown.node = { name: step.node, label, isDone, reachedAt: now };
        return node ? this.#lineOf(node, true) : "";
      }
      case "end": {
        this.#shown = undefined;
        this.#stopSpinner();
        const { completed, total } = step;
        const last = node ? this.#lineOf(node, completed) : "";
        if (total === undefined) return last;
        return last + this.#finished("total", total, completed);
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

  /** The row, cut to a number of columns; empty in the first half second. */
  row(columns: number): string {
    if (this.#shown === undefined) return "";
    const { node, pause, startedAt } = this.#shown;
    const now = this.#now();
    const milliseconds = now - startedAt;
    if (milliseconds < DELAY) return "";
    const sinceNode = now - (node?.reachedAt ?? startedAt);
    const label = pause !== undefined && pause.until > now
      ? pauseLabel(pause.reason, pause.until - now)
      : node?.label ?? "waiting";
    const frame = Math.floor(milliseconds / SPINNER_PAUSE) %
      this.#marks.spinner.length;
    return this.#marks.spinner.charAt(frame) +
      afterMark(label, sinceNode, columns, HINT);
  }

  /** The line of a node. Without a word that it is done, it has no mark. */
  #lineOf({ label, reachedAt, isDone }: Node, completed: boolean): string {
    const isMarked = isDone || !completed;
    return this.#finished(
      label,
      this.#now() - reachedAt,
      isMarked ? completed : undefined,
    );
  }

  /** The line that stays on the screen after a node, or the run, has finished. */
  #finished(
    label: string,
    milliseconds: number,
    completed: boolean | undefined,
  ): string {
    const { columns, style } = this.#options;
    const { done, failed } = this.#marks;
    let mark = " ";
    if (completed !== undefined) {
      mark = completed ? style.green(done) : style.red(failed);
    }
    return mark + afterMark(label, milliseconds, columns()) + "\n";
  }
}

/** A label and a time after a mark, and a hint if there is room; the label is cut. */
function afterMark(
  label: string,
  milliseconds: number,
  columns: number,
  hint = "",
): string {
  // The last column stays free: some terminals wrap as soon as it is taken.
  const room = Math.max(columns - "✓".length - 1, 0);
  const time = `  ${duration(milliseconds)}`;
  const whole = ` ${label}${time}${hint}`;
  if (cutToWidth(whole, room) === whole) return whole;
  const start = cutToWidth(` ${label}`, Math.max(room - time.length, 0));
  return cutToWidth(start + time, room);
}

function labelOf({ node, status }: ProgressEvent): string {
  return [node, status]
    .map((text) => plainLine(shorten(text, MAX_LABEL_LENGTH)).trim())
    .filter((text) => text !== "").join(": ");
}
