import { startTimeout } from "../io.ts";
import { duration, safe, type Shown } from "../text.ts";
import { line, type LineLook, linesAbout } from "./event_lines.ts";
import type { Step } from "./view.ts";

/** The first silence that is reported, in milliseconds; the next are twice as long. */
const FIRST_SILENCE = 10_000;

/** How the line about a silence begins, by the last step before it. */
const WAITS_FOR = {
  begin: "The service has not answered for",
  wait: "waiting,",
  run: "running,",
  progress: "running,",
  end: "",
} as const satisfies Record<Step["type"], string>;

interface PlainProgressOptions {
  readonly look: LineLook;
  /** Writes a line about a silence. */
  readonly write: (line: Shown) => void;
}

/**
 * Progress where no row is drawn: a line for each wait, and for each other step unless it
 * equals the line before it. After a silence of 10 s, and then of 20, 40, 80 s and so on,
 * a line says what is waited for.
 */
export class PlainProgress {
  readonly #options: PlainProgressOptions;
  #lastLine: Shown = "";
  #writtenAt = 0;
  /** The silence that is reported next, in milliseconds. */
  #silence = FIRST_SILENCE;
  #lastStep: Step["type"] = "end";
  #stopTimer: (() => void) | undefined;

  constructor(options: PlainProgressOptions) {
    this.#options = options;
  }

  /** Returns the lines that show a step, or nothing. */
  advance(step: Step): Shown {
    const { look } = this.#options;
    const lines = linesAbout(step, look);
    const isNew = lines !== "" &&
      (lines !== this.#lastLine || step.type === "wait");
    if (isNew || step.type === "begin") {
      // The timer may be about a longer silence.
      if (this.#silence > FIRST_SILENCE) this.#endTimer();
      this.#lastLine = lines;
      this.#writtenAt = performance.now();
      this.#silence = FIRST_SILENCE;
    }
    this.#lastStep = step.type;
    if (step.type === "end") {
      this.#endTimer();
    } else if (!look.isQuiet) {
      this.#stopTimer ??= this.#startTimer();
    }
    return isNew ? lines : "";
  }

  #endTimer(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** One timer at a time, because many steps may come in a second. */
  #startTimer(): () => void {
    const left = this.#writtenAt + this.#silence - performance.now();
    return startTimeout(left, () => {
      const silence = performance.now() - this.#writtenAt;
      if (silence >= this.#silence) {
        const { look, write } = this.#options;
        this.#lastLine = line(
          safe`${WAITS_FOR[this.#lastStep]} ${duration(silence)}`,
          look,
        );
        write(this.#lastLine);
        this.#silence = 2 * silence;
      }
      this.#stopTimer = this.#startTimer();
    });
  }
}
