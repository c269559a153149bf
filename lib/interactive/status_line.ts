/**
 * One line at the bottom of a terminal that tells what a run is doing.
 *
 * @module
 */

import { unicodeWidth } from "@std/cli/unicode-width";
import { plainLine } from "../plain_text.ts";
import type { ProgressEvent } from "../gateway.ts";
import type { Style } from "./style.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MILLISECONDS = 100;
// A character that is wider than Unicode says must not make the line wrap.
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const ERASE_TO_END_OF_LINE = "\x1b[K";
const ERASE_BELOW = "\x1b[J";

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
  #drawn = 0;
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

  /** Shows where the run is: a new node at once, a new status with the next frame at the latest. */
  progress(event: ProgressEvent): void {
    const isNew = this.#event?.node !== event.node;
    const above = isNew ? this.#left(true) : "";
    if (isNew) this.#reached = performance.now();
    this.#event = event;
    const isDue = performance.now() - this.#drawn >= FRAME_MILLISECONDS;
    if (isNew || isDue) this.#draw(above);
  }

  /** Erases the line; the node that the run was at stays. */
  stop(completed: boolean): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#options.write(this.#back() + this.#left(completed) + ERASE_BELOW);
    this.#event = undefined;
    this.#width = 0;
  }

  /** The line that stays of a node when the run has left it. */
  #left(completed: boolean): string {
    if (this.#event === undefined) return "";
    const { dim, green, red } = this.#options.style;
    const text = this.#fit(label(this.#event), this.#reached);
    const sign = completed ? green("✓") : red("✗");
    return `${NO_WRAP}${sign} ${dim(text)}${ERASE_TO_END_OF_LINE}${WRAP}\n`;
  }

  /** Draws over what was drawn, in one piece, so that nothing flickers. */
  #draw(above = ""): void {
    const sign = FRAMES[this.#frame] ?? "";
    const event = this.#event === undefined ? "waiting" : label(this.#event);
    const text = this.#fit(event, this.#began);
    const line = `${this.#options.style.cyan(sign)} ${text}`;
    const back = this.#back();
    this.#options.write(back + above + NO_WRAP + line + ERASE_BELOW + WRAP);
    this.#width = "⠋ ".length + unicodeWidth(text);
    this.#drawn = performance.now();
  }

  /** Goes to the start of the line, which wraps when the terminal becomes narrower. */
  #back(): string {
    const rows = Math.ceil(this.#width / this.#options.columns()) - 1;
    return (rows > 0 ? `\x1b[${rows}A` : "") + "\r";
  }

  /** A text and the time since, cut to what a row holds behind a sign. */
  #fit(text: string, since: number): string {
    const elapsed = `  ${seconds(since)}`;
    // The last column stays free: some terminals wrap as soon as it is taken.
    const room = Math.max(this.#options.columns() - 1 - "✓ ".length, 0);
    const start = cutToWidth(text, Math.max(room - elapsed.length, 0));
    return cutToWidth(start + elapsed, room);
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
