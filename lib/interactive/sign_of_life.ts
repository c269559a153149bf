import { startTimer } from "../io.ts";
import { duration } from "../text.ts";
import type { LineOptions } from "./banner.ts";
import type { Step } from "./view.ts";

/** How long after the last line the first sign comes, in milliseconds. */
const FIRST = 15_000;

/** The time between later signs, in milliseconds. */
const LATER = 60_000;

/**
 * Lines that say that an operation goes on, while it has no other news. Only `--plain`
 * needs them: without it, the status line shows the time.
 */
export class SignOfLife {
  readonly #isOn: boolean;
  readonly #write: (line: string) => void;
  #begunAt = 0;
  #stop = () => {};

  constructor(
    { isPlain, isQuiet }: LineOptions,
    write: (line: string) => void,
  ) {
    this.#isOn = isPlain && !isQuiet;
    this.#write = write;
  }

  /** Takes a step of an operation, which is a sign of life of its own. */
  take({ type }: Step): void {
    this.#stop();
    if (type === "begin") this.#begunAt = performance.now();
    if (this.#isOn && type !== "end") this.#wait(FIRST);
  }

  #wait(milliseconds: number): void {
    this.#stop = startTimer(milliseconds, () => {
      const elapsed = duration(performance.now() - this.#begunAt);
      this.#write(`still waiting after ${elapsed}\n`);
      this.#wait(LATER);
    });
  }
}
