/**
 * One row at the bottom of a terminal that tells what a run is doing.
 *
 * @module
 */

import { unicodeWidth } from "@std/cli/unicode-width";
import { plainLine } from "../plain_text.ts";
import type { ProgressEvent, Wait } from "../gateway.ts";
import type { Style } from "./style.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MILLISECONDS = 100;

const HINT = "  Ctrl-C stops";

/** How many columns of a longer label the hint leaves; with fewer, it is left out. */
const MIN_LABEL_COLUMNS = 24;

/** How much of a node's name, and of its status, is looked at, in UTF-16 code units. */
const MAX_LABEL_LENGTH = 1000;

/** Options of a {@linkcode StatusLine}. */
export interface StatusLineOptions {
  readonly style: Style;
  /** How many columns the terminal has at this moment. */
  readonly columns: () => number;
  /**
   * Called when {@linkcode StatusLine.row} is to be drawn again.
   *
   * @param above Lines to write above it, each with its line end; often empty.
   */
  readonly onChange: (above: string) => void;
  /** A clock, in milliseconds; that of the process unless told. */
  readonly now?: () => number;
}

/** A node that a run has reached. */
interface Node {
  readonly name: string;
  readonly label: string;
  readonly reachedAt: number;
}

/** A pause before a request is repeated. */
interface Pause {
  readonly reason: string;
  readonly until: number;
}

/**
 * A spinner, the node that a run is at, its status, the time since the run began,
 * and how to stop it. While a request waits to be repeated, why and for how long
 * stands in place of the node. Each node that is finished becomes a line above,
 * with its own duration; so does the run, with its total.
 *
 * It draws nothing: a renderer does, when it is told that something changed. All
 * text of the service is cleaned.
 */
export class StatusLine {
  readonly #options: StatusLineOptions;
  readonly #now: () => number;
  #timer: ReturnType<typeof setInterval> | undefined;
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

  /** Begins to tell what is going on, and to count its time. */
  start(): void {
    this.stop(false);
    this.#startedAt = this.#now();
    this.#isRun = false;
    this.#timer = setInterval(() => {
      this.#frame = (this.#frame + 1) % FRAMES.length;
      this.#change();
    }, FRAME_MILLISECONDS);
    this.#change();
  }

  /** Says that it is a run that is going on: its total will be told. */
  run(): void {
    this.#isRun = true;
  }

  /** Tells where the run is: a new node at once, a new status with the next frame at the latest. */
  progress(event: ProgressEvent): void {
    if (this.#timer === undefined) return;
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

  /** Tells what is waited for, until the pause is over or there is progress. */
  wait({ reason, milliseconds }: Wait): void {
    if (this.#timer === undefined) return;
    const until = this.#now() + milliseconds;
    this.#pause = { reason: plainLine(reason), until };
    this.#change();
  }

  /** Ends. The node that the run was at and the run become lines above. */
  stop(completed: boolean): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    const total = this.#isRun
      ? this.#finished("total", this.#startedAt, completed)
      : "";
    const above = this.#finishedNode(completed) + total;
    this.#node = undefined;
    this.#pause = undefined;
    this.#change(above);
  }

  /**
   * What to draw at this moment, in one row of so many columns: text and SGR
   * sequences, none of which is on at the end. Empty if nothing is going on.
   */
  row(columns: number): string {
    if (this.#timer === undefined) return "";
    const { cyan, dim } = this.#options.style;
    const label = this.#label();
    const elapsed = this.#elapsedSince(this.#startedAt);
    const room = roomIn(columns) - elapsed.length - HINT.length;
    const hasHint = room >= Math.min(unicodeWidth(label), MIN_LABEL_COLUMNS);
    const hint = hasHint ? HINT : "";
    const text = fit(label, elapsed, columns - hint.length);
    return cyan(FRAMES.charAt(this.#frame)) + text + dim(hint);
  }

  /** What is going on. */
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

  /** The line that stays of something when it is over. */
  #finished(label: string, since: number, completed: boolean): string {
    const { columns, style } = this.#options;
    const sign = completed ? style.green("✓") : style.red("✗");
    const text = fit(label, this.#elapsedSince(since), columns());
    return `${sign}${style.dim(text)}\n`;
  }

  #elapsedSince(since: number): string {
    return `  ${duration(this.#now() - since)}`;
  }

  #change(above = ""): void {
    this.#changedAt = this.#now();
    this.#options.onChange(above);
  }
}

/** How many columns of a row are left for text after a sign and a space. */
function roomIn(columns: number): number {
  // The last column stays free: some terminals wrap as soon as it is taken.
  return Math.max(columns - 1 - "✓ ".length, 0);
}

/** What comes after the sign in a row: a text that is cut, and a time that is not, if possible. */
function fit(text: string, elapsed: string, columns: number): string {
  const room = roomIn(columns);
  if (room === 0) return "";
  const start = cutToWidth(text, Math.max(room - elapsed.length, 0));
  return ` ${cutToWidth(start + elapsed, room)}`;
}

/** Cuts a text so that it takes at most so many columns, with an ellipsis where it was cut. */
export function cutToWidth(text: string, columns: number): string {
  if (columns <= 0) return "";
  // No column holds more than a few characters, and a text may be endless.
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

/** "6 s", "2 min 5 s"; what has begun of a second counts as one. */
function wholeSeconds(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}
