import { FrameLayout, Painter, type Size } from "../editor.ts";
import { PLAIN } from "../text.ts";
import type { Screen } from "./screen_view.ts";

export interface StatusScreenOptions {
  /** Writes to the terminal. */
  readonly write: (text: string) => void;
  /** Returns the current size of the terminal. */
  readonly size: () => Size;
}

/** A status row at the bottom of a terminal from which nothing is read. */
export class StatusScreen implements Screen {
  readonly #size: () => Size;
  readonly #painter: Painter;
  readonly #layout = new FrameLayout("", PLAIN);
  #drawnSize: Size;
  #status: ((columns: number) => string) | undefined;

  constructor({ write, size }: StatusScreenOptions) {
    this.#size = size;
    this.#drawnSize = size();
    this.#painter = new Painter(write);
  }

  print(lines: string): void {
    const size = this.#size();
    const isResized = size.columns !== this.#drawnSize.columns ||
      size.rows !== this.#drawnSize.rows;
    if (isResized) {
      this.#drawnSize = size;
      this.#painter.move();
      if (lines === "") return; // drawn next time, if the size rests
    }
    const status = this.#status?.(size.columns) ?? "";
    const content = { status, waiting: [], editor: undefined };
    this.#painter.draw(this.#layout.frame(content, size), lines);
  }

  setStatus(status: ((columns: number) => string) | undefined): void {
    this.#status = status;
  }

  refresh(): void {
    this.print("");
  }

  [Symbol.dispose](): void {
    this.#status = undefined;
    this.refresh();
  }
}
