/**
 * The status of an operation, in one row at the bottom of a terminal.
 *
 * @module
 */

import { cutToWidth } from "../editor.ts";
import type { ProgressEvent } from "../gateway.ts";
import { plainLine, type Style } from "../text.ts";
import { againIn, duration } from "./notes.ts";
import type { Step } from "./view.ts";

const HINT = "  Ctrl-C stops";

/** The columns that the hint leaves for a longer label, or the hint is left out. */
const MIN_LABEL_COLUMNS = 24;

/** The most UTF-16 code units of a node's name or status that are used. */
const MAX_LABEL_LENGTH = 1000;

/** The time between two frames of the spinner, in milliseconds. */
export const SPINNER_MILLISECONDS = 100;

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

/** A node that a run has reached. */
interface Node {
  readonly name: string;
  readonly label: string;
  readonly reachedAt: number;
}

/** A pause before a retry. */
interface Pause {
  readonly reason: string;
  readonly until: number;
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
  #startedAt: number | undefined; // undefined if there is no operation
  #isRun = false;
  #node: Node | undefined;
  #pause: Pause | undefined;

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
    switch (step.type) {
      case "begin":
        this.#startedAt = this.#now();
        this.#isRun = false;
        this.#node = undefined;
        this.#pause = undefined;
        return "";
      case "run":
        this.#isRun = true;
        return "";
      case "wait":
        this.#pause = {
          reason: plainLine(step.reason),
          until: this.#now() + step.milliseconds,
        };
        return "";
      case "progress":
        return this.#progress(step);
      case "end":
        return this.#end(step.completed);
      default:
        return step satisfies never;
    }
  }

  /**
   * The current row, cut to a number of columns: text and SGR sequences, none of
   * which is active at the end. Empty if there is no operation.
   */
  row(columns: number): string {
    if (this.#startedAt === undefined) return "";
    const { marks, style: { cyan, dim } } = this.#options;
    const label = this.#label();
    const milliseconds = this.#now() - this.#startedAt;
    const frame = Math.floor(milliseconds / SPINNER_MILLISECONDS);
    const spinner = marks.spinner.charAt(frame % marks.spinner.length);
    const elapsed = `  ${duration(milliseconds)}`;
    const room = roomIn(columns) - elapsed.length - HINT.length;
    const hasHint = room >= MIN_LABEL_COLUMNS ||
      cutToWidth(label, room) === label;
    const hint = hasHint ? HINT : "";
    const text = fit(label, elapsed, columns - hint.length);
    return cyan(spinner) + text + dim(hint);
  }

  #progress(event: ProgressEvent): string {
    const isSame = this.#node?.name === event.node;
    const above = isSame ? "" : this.#finishedNode(true);
    this.#pause = undefined;
    this.#node = {
      name: event.node,
      label: labelOf(event),
      reachedAt: isSame && this.#node ? this.#node.reachedAt : this.#now(),
    };
    return above;
  }

  /** Ends the operation. The current node and the run become lines above. */
  #end(completed: boolean): string {
    const total = this.#isRun && this.#startedAt !== undefined
      ? this.#finished("total", this.#startedAt, completed)
      : "";
    const above = this.#finishedNode(completed) + total;
    this.#startedAt = undefined;
    this.#node = undefined;
    return above;
  }

  /** The label of the current operation. */
  #label(): string {
    if (this.#pause !== undefined) {
      const left = this.#pause.until - this.#now();
      if (left > 0) {
        return `${this.#pause.reason}, ${againIn(left)}`;
      }
    }
    return this.#node?.label ?? "waiting";
  }

  #finishedNode(completed: boolean): string {
    if (this.#node === undefined) return "";
    const { label, reachedAt } = this.#node;
    return this.#finished(label, reachedAt, completed);
  }

  /** The line that stays on the screen after a node, or the run, has finished. */
  #finished(label: string, since: number, completed: boolean): string {
    const { columns, marks, style } = this.#options;
    const sign = completed ? style.green(marks.done) : style.red(marks.failed);
    const elapsed = `  ${duration(this.#now() - since)}`;
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
