import { EXIT } from "../exit_codes.ts";
import type { Fate } from "../gateway.ts";

/** A prompt failed, or the creation of its thread; without a fate, not at the service. */
interface Failed {
  readonly fate?: Fate | undefined;
  readonly status?: number | undefined;
}

const NOTHING_STARTED: readonly number[] = [EXIT.notRun, EXIT.keyRejected];

/**
 * The exit code of one call of the program (docs/scripting.md has the table). It is
 * about all prompts of the call, because a script repeats the whole call: as soon as a
 * run was started or may have been, it does not say any more that nothing was.
 */
export class ExitCode {
  #last: number = EXIT.done;
  #mayHaveRun = false;

  get value(): number {
    return this.#mayHaveRun && NOTHING_STARTED.includes(this.#last)
      ? EXIT.mayHaveRun
      : this.#last;
  }

  complete(): void {
    this.#mayHaveRun = true;
  }

  /** Records a failure, by default of a prompt that was dropped or rejected. */
  fail(failure: Failed = {}): void {
    const code = codeOf(failure);
    if (this.value !== EXIT.mayHaveRun) this.#last = code;
    this.#mayHaveRun ||= code === EXIT.mayHaveRun || failure.fate === "failed";
  }
}

/** The code for one prompt that failed, whatever came before. */
export function codeOf({ fate, status }: Failed): number {
  switch (fate) {
    case "not run":
      return EXIT.notRun;
    case "refused":
      return status === 401 || status === 403 ? EXIT.keyRejected : EXIT.failed;
    case "may have run":
    case "may go on":
      return EXIT.mayHaveRun;
    case "failed":
    case undefined:
      return EXIT.failed;
    default:
      return fate satisfies never;
  }
}
