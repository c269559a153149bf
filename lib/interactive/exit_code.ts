import type { Fate } from "../gateway.ts";

/** A prompt failed at the service, or the creation of its thread. */
interface Failed {
  readonly fate: Fate;
  readonly status?: number | undefined;
}

/** Something may have run: asking again could run it a second time. */
const MAY_HAVE_RUN = 5;

const NOTHING_STARTED: readonly number[] = [3, 4];

/**
 * The exit code of one call of the program (docs/command-line.md has the table). It is
 * about all prompts of the call, because a script repeats the whole call: as soon as a
 * run was started or may have been, it does not say any more that nothing was.
 */
export class ExitCode {
  #last = 0;
  #mayHaveRun = false;

  get value(): number {
    return this.#mayHaveRun && NOTHING_STARTED.includes(this.#last)
      ? MAY_HAVE_RUN
      : this.#last;
  }

  complete(): void {
    this.#mayHaveRun = true;
  }

  /** Takes a failure; none if a prompt was dropped or could not be taken. */
  fail(failure?: Failed): void {
    const code = codeOf(failure);
    if (this.value !== MAY_HAVE_RUN) this.#last = code;
    this.#mayHaveRun ||= code === MAY_HAVE_RUN || failure?.fate === "failed";
  }
}

function codeOf({ fate, status }: Partial<Failed> = {}): number {
  switch (fate) {
    case "not run":
      return 3;
    case "refused":
      return status === 401 || status === 403 ? 4 : 1;
    case "may have run":
    case "may go on":
      return MAY_HAVE_RUN;
    case "failed":
    case undefined:
      return 1;
    default:
      return fate satisfies never;
  }
}
