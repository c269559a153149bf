/**
 * One line at the bottom of a terminal that tells what a run is doing.
 *
 * @module
 */

import { unicodeWidth } from "@std/cli/unicode-width";
import { plainLine } from "./plain_text.ts";
import type { ProgressEvent } from "./run_events.ts";
import type { Style } from "./style.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MILLISECONDS = 100;
const ERASE_LINE = "\r\x1b[K";

/** Options of a {@linkcode StatusLine}. */
export interface StatusLineOptions {
  /** Writes to the terminal at once. */
  readonly write: (text: string) => void;
  /** How many columns the terminal has at this moment. */
  readonly columns: () => number;
  readonly style: Style;
}

/**
 * A spinner, the node that a run is at, its status and the time since the run
 * began. Each node that is finished stays above it, with its duration.
 */
export class StatusLine {
  readonly #options: StatusLineOptions;
  #timer: ReturnType<typeof setInterval> | undefined;
  #began = 0;
  #frame = 0;
  #event: ProgressEvent | undefined;
  #reached = 0; // the event's node
  #width = 0; // of what is drawn, in columns

  constructor(options: StatusLineOptions) {
    this.#options = options;
  }

  /** Shows the line, with a text until there is progress to show. */
  start(): void {
    this.stop(false);
    this.#began = performance.now();
    this.#timer = setInterval(() => {
      this.#frame = (this.#frame + 1) % FRAMES.length;
      this.#draw();
    }, FRAME_MILLISECONDS);
    this.#draw();
  }

  /** Shows where the run is. */
  progress(event: ProgressEvent): void {
    const isNew = this.#event?.node !== event.node;
    const above = isNew ? this.#left("✓") : "";
    if (isNew) this.#reached = performance.now();
    this.#event = event;
    this.#draw(above);
  }

  /** Draws the line again, after the terminal's width has changed. */
  resized(): void {
    if (this.#timer === undefined) return;
    // What was drawn is wrapped by now, and the cursor is at its end.
    const rows = Math.ceil(this.#width / this.#options.columns()) - 1;
    this.#options.write(`${rows > 0 ? `\x1b[${rows}A` : ""}\r\x1b[J`);
    this.#draw();
  }

  /** Erases the line; the node that the run was at stays. */
  stop(completed: boolean): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#options.write(ERASE_LINE + this.#left(completed ? "✓" : "✗"));
    this.#event = undefined;
    this.#width = 0;
  }

  /** The line that stays of a node when the run has left it. */
  #left(sign: string): string {
    if (this.#event === undefined) return "";
    const line = this.#fit(
      `${sign} ${label(this.#event)}`,
      `  ${seconds(this.#reached)}`,
    );
    return this.#options.style.dim(line) + "\n";
  }

  /** Draws in one piece, so that nothing flickers. */
  #draw(above = ""): void {
    const text = this.#event === undefined ? "waiting" : label(this.#event);
    const line = this.#fit(
      `${FRAMES[this.#frame]} ${text}`,
      `  ${seconds(this.#began)}`,
    );
    this.#width = unicodeWidth(line);
    this.#options.write(ERASE_LINE + above + line);
  }

  /** A text and what has to stand behind it, cut to one row of the terminal. */
  #fit(text: string, end: string): string {
    // The last column stays free: some terminals wrap as soon as it is taken.
    const room = this.#options.columns() - 1 - unicodeWidth(end);
    return cutToWidth(text, Math.max(room, 0)) + end;
  }
}

/** Cuts a text so that it takes at most so many columns, with an ellipsis where it was cut. */
export function cutToWidth(text: string, columns: number): string {
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
  return columns > 0 ? cut + "…" : "";
}

function label({ node, status }: ProgressEvent): string {
  return [node, status].map((text) => plainLine(text.slice(0, 1000)).trim())
    .filter((text) => text !== "").join(": ");
}

function seconds(since: number): string {
  const elapsed = (performance.now() - since) / 1000;
  return elapsed < 10 ? `${elapsed.toFixed(1)} s` : `${elapsed.toFixed(0)} s`;
}
