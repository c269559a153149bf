/**
 * The status of an operation, in one row at the bottom of a terminal.
 *
 * @module
 */

import { cutToWidth } from "../editor.ts";
import type { ProgressEvent } from "../gateway.ts";
import { plainLine, type Style } from "../text.ts";
import { againIn, duration } from "./event_lines.ts";
import type { Step } from "./view.ts";

const HINT = "  Ctrl-C stops";

/** The fewest columns for a label that is cut. The hint is left out if there are fewer. */
const MIN_LABEL_COLUMNS = 24;

/** The most UTF-16 code units of a node's name or status that are used. */
const MAX_LABEL_LENGTH = 1000;

/** How long an operation takes before its row is shown, in milliseconds. */
const DELAY = 500;

/** How long the spinner turns fast, and the time of a frame then, in milliseconds. */
const FAST_TIME = 3_000;
const FAST_FRAME = 100;

/** The time between two frames after that. */
const SLOW_FRAME = 1_000;

/** The signs of a status line, one column each. */
export interface Marks {
  /** The frames of the spinner. */
  readonly spinner: string;
  readonly done: string;
  readonly failed: string;
}

/** The marks of most terminals. */
export const MARKS: Marks = { spinner: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", done: "✓", failed: "✗" };

/** Marks for fonts that lack the others, such as those of the Linux console. */
export const ASCII_MARKS: Marks = { spinner: "|/-\\", done: "+", failed: "x" };

export interface StatusLineOptions {
  readonly style: Style;
  readonly marks: Marks;
  /** Returns the current number of columns of the terminal. */
  readonly columns: () => number;
  /** A clock, in milliseconds. The default is the clock of the process. */
  readonly now?: (() => number) | undefined;
}

/** The state of an operation, as far as the row shows it. */
interface Operation {
  readonly startedAt: number;
  /** The node that the run has reached. */
  node?: { readonly name: string; label: string; readonly reachedAt: number };
  /** The pause before a retry. */
  pause?: { readonly reason: string; readonly until: number };
}

/**
 * A spinner, the run's current node and its status, the time since the operation
 * began, and how to stop it. During a pause before a retry, the reason and the
 * remaining time replace the node. Each finished node becomes a line above, with
 * its duration; so does the run, with its total.
 *
 * It neither draws nor keeps time: callers draw {@linkcode row} as often as they
 * like. All text from the service is cleaned.
 */
export class StatusLine {
  readonly #options: StatusLineOptions;
  readonly #now: () => number;
  #operation: Operation | undefined;

  constructor(options: StatusLineOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * Takes a step of an operation.
   *
   * @returns The lines that stay above the row from now on, each with its line end;
   * often empty.
   */
  take(step: Step): string {
    const now = this.#now();
    if (step.type === "begin") {
      this.#operation = { startedAt: now };
    }
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

  /** The time until the row changes although nothing happens, in milliseconds. */
  get pause(): number {
    const elapsed = this.#now() - (this.#operation?.startedAt ?? 0);
    if (elapsed < DELAY) return DELAY - elapsed;
    return elapsed < FAST_TIME ? FAST_FRAME : SLOW_FRAME - elapsed % SLOW_FRAME;
  }

  /**
   * The current row, cut to a number of columns: text and SGR sequences, none of
   * which is active at the end. Empty if there is no operation, and in its first
   * half second.
   */
  row(columns: number): string {
    if (this.#operation === undefined) return "";
    const { marks, style: { cyan, dim } } = this.#options;
    const { node, pause, startedAt } = this.#operation;
    const now = this.#now();
    const label = pause !== undefined && pause.until > now
      ? `${pause.reason}, ${againIn(pause.until - now)}`
      : node?.label ?? "waiting";
    const milliseconds = now - startedAt;
    if (milliseconds < DELAY) return "";
    const frameTime = milliseconds < FAST_TIME ? FAST_FRAME : SLOW_FRAME;
    const frame = Math.floor(milliseconds / frameTime);
    const spinner = marks.spinner.charAt(frame % marks.spinner.length);
    const elapsed = `  ${duration(milliseconds)}`;
    const room = roomIn(columns) - elapsed.length - HINT.length;
    const hasHint = room >= MIN_LABEL_COLUMNS ||
      room >= 0 && cutToWidth(label, room) === label;
    const hint = hasHint ? HINT : "";
    const text = fit(label, elapsed, columns - hint.length);
    return cyan(spinner) + text + dim(hint);
  }

  /** The line that stays on the screen after a node, or the run, has finished. */
  #finished(label: string, milliseconds: number, completed: boolean): string {
    const { columns, marks, style } = this.#options;
    const sign = completed ? style.green(marks.done) : style.red(marks.failed);
    const elapsed = `  ${duration(milliseconds)}`;
    return `${sign}${style.dim(fit(label, elapsed, columns()))}\n`;
  }
}

/** The columns that are left for text after a sign and a space. */
function roomIn(columns: number): number {
  // The last column stays free: some terminals wrap as soon as it is taken.
  return Math.max(columns - 1 - "✓ ".length, 0);
}

/** The part of a row after the sign: a text, cut to fit, and a time, not cut if possible. */
function fit(text: string, elapsed: string, columns: number): string {
  const room = roomIn(columns);
  if (room === 0) return "";
  const start = cutToWidth(text, Math.max(room - elapsed.length, 0));
  return ` ${cutToWidth(start + elapsed, room)}`;
}

function labelOf({ node, status }: ProgressEvent): string {
  return [node, status]
    .map((text) => plainLine(text.slice(0, MAX_LABEL_LENGTH)).trim())
    .filter((text) => text !== "").join(": ");
}
