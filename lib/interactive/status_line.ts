import { cutToWidth } from "../editor.ts";
import type { ProgressEvent } from "../gateway.ts";
import { duration, plainLine, type Style } from "../text.ts";
import { retryIn } from "./event_lines.ts";
import type { Step } from "./view.ts";

const HINT = "  Ctrl-C stops";

/** The most UTF-16 code units of a node's name or status that are used. */
const MAX_LABEL_LENGTH = 1000;

/** How long an operation takes before its row is shown, in milliseconds. */
const DELAY = 500;

/** The time between two frames of the spinner, in milliseconds. */
export const SPINNER_PAUSE = 250;

/** The signs of a status line, one column each. */
export interface Marks {
  readonly spinner: string;
  readonly done: string;
  readonly failed: string;
}

export const MARKS: Marks = { spinner: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", done: "✓", failed: "✗" };

/** Marks for fonts that lack the others, such as those of the Linux console. */
export const ASCII_MARKS: Marks = { spinner: "|/-\\", done: "+", failed: "x" };

export interface StatusLineOptions {
  readonly style: Style;
  readonly marks: Marks;
  readonly columns: () => number;
  readonly now?: (() => number) | undefined;
}

interface Operation {
  readonly startedAt: number;
  node?: { readonly name: string; label: string; readonly reachedAt: number };
  pause?: { readonly reason: string; readonly until: number };
}

/**
 * A spinner, the run's current node and its status, the time since the operation
 * began, and how to stop it. During a pause before a retry, the reason and the
 * remaining time replace the node. Each finished node becomes a line above, with
 * its duration; so does the run, with its total.
 * Callers draw {@linkcode row} as often as they like.
 */
export class StatusLine {
  readonly #options: StatusLineOptions;
  readonly #now: () => number;
  #operation: Operation | undefined;

  constructor(options: StatusLineOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Takes a step of an operation. Returns the lines that stay above the row, if any. */
  take(step: Step): string {
    const now = this.#now();
    if (step.type === "begin") this.#operation = { startedAt: now };
    const operation = this.#operation;
    if (operation === undefined) return "";
    const { node } = operation;
    switch (step.type) {
      case "begin":
      case "run":
        return "";
      case "wait": {
        const until = now + step.milliseconds;
        operation.pause = { reason: plainLine(step.reason), until };
        return "";
      }
      case "progress": {
        delete operation.pause;
        const label = labelOf(step);
        const isSame = node?.name === step.node;
        if (isSame) node.label = label;
        else operation.node = { name: step.node, label, reachedAt: now };
        return node && !isSame
          ? this.#finished(node.label, now - node.reachedAt, true)
          : "";
      }
      case "end": {
        this.#operation = undefined;
        const { completed, total } = step;
        const last = node
          ? this.#finished(node.label, now - node.reachedAt, completed)
          : "";
        if (total === undefined) return last;
        return last + this.#finished("total", total, completed);
      }
      default:
        return step satisfies never;
    }
  }

  /** The row, cut to a number of columns; empty in the first half second. */
  row(columns: number): string {
    if (this.#operation === undefined) return "";
    const { marks } = this.#options;
    const { node, pause, startedAt } = this.#operation;
    const now = this.#now();
    const milliseconds = now - startedAt;
    if (milliseconds < DELAY) return "";
    const label = pause !== undefined && pause.until > now
      ? `${pause.reason}, ${retryIn(pause.until - now)}`
      : node?.label ?? "waiting";
    const frame = Math.floor(milliseconds / SPINNER_PAUSE) %
      marks.spinner.length;
    return marks.spinner.charAt(frame) +
      afterMark(label, milliseconds, columns, HINT);
  }

  /** The line that stays on the screen after a node, or the run, has finished. */
  #finished(label: string, milliseconds: number, completed: boolean): string {
    const { columns, marks, style } = this.#options;
    const sign = completed ? style.green(marks.done) : style.red(marks.failed);
    return sign + afterMark(label, milliseconds, columns()) + "\n";
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
    .map((text) => plainLine(text.slice(0, MAX_LABEL_LENGTH)).trim())
    .filter((text) => text !== "").join(": ");
}
