/**
 * The status of a run, in one row at the bottom of a terminal.
 *
 * @module
 */

import { unicodeWidth } from "@std/cli/unicode-width";
import { plainLine } from "../plain_text.ts";
import type { ProgressEvent, Wait } from "../gateway.ts";
import { startTimer } from "../timer.ts";
import type { Style } from "./style.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MILLISECONDS = 100;

const HINT = "  Ctrl-C stops";

/** The columns that the hint leaves for the label. With fewer, the hint is left out. */
const MIN_LABEL_COLUMNS = 24;

/** The most UTF-16 code units of a node's name or status that are used. */
const MAX_LABEL_LENGTH = 1000;

/** Options of a {@linkcode StatusLine}. */
export interface StatusLineOptions {
  readonly style: Style;
  /** Returns the current number of columns of the terminal. */
  readonly columns: () => number;
  /**
   * Called when {@linkcode StatusLine.row} has changed and should be drawn.
   *
   * @param above Lines to write above it, each with its line end; often empty.
   */
  readonly onChange: (above: string) => void;
  /** A clock, in milliseconds. The default is the clock of the process. */
  readonly now?: () => number;
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
 * A spinner, the run's current node and its status, the time since the run began,
 * and how to stop it. During a pause before a retry, the reason and the remaining
 * time replace the node. Each finished node becomes a line above, with its
 * duration; so does the run, with its total.
 *
 * It does not draw: it notifies the renderer of changes. All text from the
 * service is cleaned.
 */
export class StatusLine {
  readonly #options: StatusLineOptions;
  readonly #now: () => number;
  /** Stops the timer of the next frame; `undefined` if there is no operation. */
  #stopTimer: (() => void) | undefined;
  #frame = 0;
  #startedAt = 0;
  #changedAt = 0;
  #isRun = false;
  #node: Node | undefined;
  #pause: Pause | undefined;

  constructor(options: StatusLineOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Begins to show an operation and to count its time. */
  start(): void {
    this.stop(false);
    this.#startedAt = this.#now();
    this.#isRun = false;
    this.#awaitFrame();
    this.#change();
  }

  /** Says that the operation is a run, whose total time is shown at its end. */
  run(): void {
    this.#isRun = true;
  }

  /** Shows the run's progress: a new node at once, a new status with the next frame. */
  progress(event: ProgressEvent): void {
    if (this.#stopTimer === undefined) return;
    const isSame = this.#node?.name === event.node;
    const isDue = this.#pause !== undefined ||
      this.#now() - this.#changedAt >= FRAME_MILLISECONDS;
    const above = isSame ? "" : this.#finishedNode(true);
    this.#pause = undefined;
    this.#node = {
      name: event.node,
      label: labelOf(event),
      reachedAt: isSame && this.#node ? this.#node.reachedAt : this.#now(),
    };
    if (isDue || !isSame) this.#change(above);
  }

  /** Shows the reason for a pause, until it is over or there is progress. */
  wait({ reason, milliseconds }: Wait): void {
    if (this.#stopTimer === undefined) return;
    const until = this.#now() + milliseconds;
    this.#pause = { reason: plainLine(reason), until };
    this.#change();
  }

  /** Ends the status. The current node and the run become lines above. */
  stop(completed: boolean): void {
    if (this.#stopTimer === undefined) return;
    this.#stopTimer();
    this.#stopTimer = undefined;
    const total = this.#isRun
      ? this.#finished("total", this.#startedAt, completed)
      : "";
    const above = this.#finishedNode(completed) + total;
    this.#node = undefined;
    this.#pause = undefined;
    this.#change(above);
  }

  /**
   * The current row, cut to a number of columns: text and SGR sequences, none of
   * which is active at the end. Empty if there is no operation.
   */
  row(columns: number): string {
    if (this.#stopTimer === undefined) return "";
    const { cyan, dim } = this.#options.style;
    const label = this.#label();
    const elapsed = this.#elapsedSince(this.#startedAt);
    const room = roomIn(columns) - elapsed.length - HINT.length;
    const hasHint = room >= Math.min(unicodeWidth(label), MIN_LABEL_COLUMNS);
    const hint = hasHint ? HINT : "";
    const text = fit(label, elapsed, columns - hint.length);
    return cyan(FRAMES.charAt(this.#frame)) + text + dim(hint);
  }

  /** The label of the current operation. */
  #label(): string {
    if (this.#pause !== undefined) {
      const left = this.#pause.until - this.#now();
      if (left > 0) {
        return `${this.#pause.reason}, again in ${wholeSeconds(left)}`;
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
    const { columns, style } = this.#options;
    const sign = completed ? style.green("✓") : style.red("✗");
    const text = fit(label, this.#elapsedSince(since), columns());
    return `${sign}${style.dim(text)}\n`;
  }

  #elapsedSince(since: number): string {
    return `  ${duration(this.#now() - since)}`;
  }

  /** Draws the spinner's next frame when it is due. */
  #awaitFrame(): void {
    this.#stopTimer = startTimer(FRAME_MILLISECONDS, () => {
      this.#frame = (this.#frame + 1) % FRAMES.length;
      this.#awaitFrame();
      this.#change();
    });
  }

  #change(above = ""): void {
    this.#changedAt = this.#now();
    this.#options.onChange(above);
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

/** Cuts a text to a number of columns, with an ellipsis where it was cut. */
export function cutToWidth(text: string, columns: number): string {
  if (columns <= 0) return "";
  // A text may be endless, and a column holds only a few characters.
  const start = text.slice(0, columns * 8 + 8);
  if (start === text && unicodeWidth(text) <= columns) return text;
  let cut = "";
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(start)) {
    width += unicodeWidth(segment);
    if (width > columns - 1) break;
    cut += segment;
  }
  return cut + "…";
}

function labelOf({ node, status }: ProgressEvent): string {
  return [node, status]
    .map((text) => plainLine(text.slice(0, MAX_LABEL_LENGTH)).trim())
    .filter((text) => text !== "").join(": ");
}

/** "0.4 s", "12 s", "2 min 5 s" */
function duration(milliseconds: number): string {
  const tenths = Math.floor(milliseconds / 100);
  return tenths < 100
    ? `${(tenths / 10).toFixed(1)} s`
    : wholeSeconds(Math.floor(tenths / 10) * 1000);
}

/** "6 s", "2 min 5 s": rounded up to whole seconds. */
function wholeSeconds(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}
