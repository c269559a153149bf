import { startTimeout, type TerminalOutput } from "../io.ts";
import { type Frame, NO_FRAME, Painter, type Size } from "./painter.ts";

/** The shortest time between two frames, in milliseconds. */
const FRAME_PAUSE = 10;

/** The pause after a frame, as a multiple of the time that drawing it took. */
const DRAWING_SHARE = 10;

/**
 * The longest pause after a frame, in milliseconds: the process may have been stopped
 * while it was drawn.
 */
const MAX_FRAME_PAUSE = 500;

/** How long the terminal must keep its size before a frame is drawn, in milliseconds. */
const RESIZE_PAUSE = 100;

interface DisplayOptions {
  readonly output: TerminalOutput;
  readonly size: () => Size;
  /** The rows to draw. */
  readonly frame: (size: Size) => Frame;
}

/**
 * The rows at the bottom of a terminal, and the lines that are written above them.
 *
 * It decides when to draw: not more often than the terminal can show, not before the
 * terminal has taken everything else, not while it is being resized, and not while
 * another program has it. Lines are always written at once.
 */
export class Display {
  readonly #options: DisplayOptions;
  readonly #painter: Painter;
  #size: Size;
  #nextFrameAt = -Infinity;
  /** Cancels the next frame; `undefined` if none is due. */
  #stopFrame: (() => void) | undefined;
  /** Stops the timer of the last resize; `undefined` if it has run out. */
  #stopResize: (() => void) | undefined;
  /** `suspended` until the process continues; `closed` for good. */
  #state: "drawn" | "suspended" | "closed" = "drawn";

  constructor(options: DisplayOptions) {
    this.#options = options;
    this.#painter = new Painter((text) => options.output.write(text));
    this.#size = options.size();
  }

  /** Whether the rows are drawn, and can be suspended. */
  get isDrawn(): boolean {
    return this.#state === "drawn";
  }

  /** Draws now if the last frame is old enough, else together with later changes. */
  refresh(): void {
    if (this.#stopFrame !== undefined) return;
    if (!this.#options.output.isWritten) return this.#refreshWhenWritten();
    const pause = this.#nextFrameAt - performance.now();
    if (pause <= 0) this.print();
    else this.#stopFrame = startTimeout(pause, () => this.print());
  }

  /** Draws the rows, and writes lines above them that stay, each with its newline. */
  print(above = ""): void {
    this.#cancelFrame();
    if (!this.isDrawn) {
      if (above !== "") this.#options.output.write(above);
      return;
    }
    const { frame, output } = this.#options;
    this.#compareSize();
    const isResizing = this.#stopResize !== undefined;
    if (isResizing && above === "") return;
    const begun = performance.now();
    const isWritten = output.isWritten;
    this.#painter.draw(isWritten ? frame(this.#size) : NO_FRAME, above);
    if (!isWritten) this.#refreshWhenWritten();
    const end = performance.now();
    const pause = Math.max(FRAME_PAUSE, (end - begun) * DRAWING_SHARE);
    this.#nextFrameAt = end + Math.min(pause, MAX_FRAME_PAUSE);
  }

  /** Erases the rows, and writes lines in their place that stay. */
  replace(lines: string): void {
    this.#painter.draw(NO_FRAME, lines);
  }

  /** Leaves the rows on the terminal, and moves the cursor to the row below them. */
  leave(): void {
    this.#painter.leave();
  }

  /** Clears the screen, and draws the rows at its top. */
  clear(): void {
    this.#painter.clear(this.#options.frame(this.#options.size()));
  }

  /** Draws the rows again when the terminal has kept its size for a moment. */
  resize(): void {
    this.#size = this.#options.size();
    this.#painter.move();
    this.#stopResize?.();
    this.#stopResize = startTimeout(RESIZE_PAUSE, () => {
      this.#stopResize = undefined;
      this.#painter.move();
      this.print();
    });
  }

  /** Moves the cursor below the rows, and draws nothing until {@linkcode resume}. */
  suspend(): void {
    this.#state = "suspended";
    this.#painter.park();
  }

  /**
   * Draws the rows again, unless they were left for good.
   *
   * @param wasStopped Whether another program may have used the terminal. If so, the
   * cursor is assumed to be in an empty row.
   */
  resume(wasStopped: boolean): void {
    if (this.#state === "closed") return;
    this.#state = "drawn";
    if (wasStopped) this.#painter.forget();
    this.print();
  }

  /** Erases the rows for good, and writes lines in their place that stay. */
  close(lines: string): void {
    if (this.isDrawn) this.#painter.draw(NO_FRAME, lines);
    else this.#options.output.write(lines);
    this.#cancelFrame();
    this.#stopResize?.();
    this.#state = "closed";
  }

  #refreshWhenWritten(): void {
    let isStopped = false;
    this.#stopFrame = () => isStopped = true;
    this.#options.output.settle(Infinity).then((isWritten) => {
      if (isStopped || !isWritten) return;
      this.#stopFrame = undefined;
      this.refresh();
    });
  }

  #cancelFrame(): void {
    this.#stopFrame?.();
    this.#stopFrame = undefined;
  }

  /** Handles a new size that no signal has reported yet. */
  #compareSize(): void {
    const { columns, rows } = this.#options.size();
    const { columns: oldColumns, rows: oldRows } = this.#size;
    if (columns !== oldColumns || rows !== oldRows) this.resize();
  }
}
