import { plainLine } from "../text.ts";
import { againIn, duration } from "./notes.ts";
import type { Step, ViewOptions } from "./view.ts";

/** The progress of operations as plain lines, which are never redrawn. */
export class PlainProgress {
  readonly #options: Pick<ViewOptions, "isPlain" | "isQuiet">;
  readonly #now: () => number;
  #startedAt = 0;
  #isRun = false;

  constructor(options: Pick<ViewOptions, "isPlain" | "isQuiet" | "now">) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** The line that shows a step, with its line end; empty if it needs none. */
  take(step: Step): string {
    const { isPlain, isQuiet } = this.#options;
    if (isQuiet) return "";
    switch (step.type) {
      case "begin":
        this.#startedAt = this.#now();
        this.#isRun = false;
        return "";
      case "run":
        this.#isRun = true;
        return "";
      case "wait":
        return `${plainLine(step.reason)}, ${againIn(step.milliseconds)}\n`;
      case "progress":
        return plainLine(`${step.node}: ${step.status}`) + "\n";
      case "end":
        return isPlain && this.#isRun
          ? `total ${duration(this.#now() - this.#startedAt)}\n`
          : "";
      default:
        return step satisfies never;
    }
  }
}
