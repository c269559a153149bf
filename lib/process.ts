/**
 * The process: its standard error, the signals that it gets, and how it ends. The only
 * place that exits.
 *
 * @module
 */

import { EXIT } from "./exit_codes.ts";
import {
  environmentVariable,
  ErrorOutput,
  errorSink,
  failureLine,
  isShown,
  startTimeout,
} from "./io.ts";
import { type Redacted, shown, shownLine } from "./text.ts";

/** Comes first in each message, because standard error is shared with other programs. */
const NAME = "agent-gateway";

/** How long the process waits for standard error at its end, in milliseconds. */
const END_LIMIT = 1000;

/**
 * The same limit after a signal, which has to end the process within a second.
 * Before that, a front end that is left gets as much time.
 */
const SIGNAL_LIMIT = 400;

/** How long a signal of the process to itself may take to arrive, in milliseconds. */
const DELIVERY_LIMIT = 400;

/** How the process ends: by a signal, or with an exit code. */
type ProcessEnd = Deno.Signal | number;

const hasSignals = Deno.build.os !== "windows";

/** The signals that end the process, and the exit codes in their place. */
const SIGNALS: Readonly<Partial<Record<Deno.Signal, number>>> = hasSignals
  ? {
    SIGINT: EXIT.interrupted,
    SIGHUP: EXIT.hangup,
    SIGQUIT: EXIT.quit,
    SIGTERM: EXIT.terminated,
  }
  : { SIGINT: EXIT.interrupted, SIGBREAK: EXIT.terminated };

/** What uses the terminal. It is left before the process ends. */
interface FrontEnd {
  /** Handles a Ctrl-C. Returns whether the program continues. */
  interrupt(): boolean;
  /** Gives the terminal back, within about `limit` milliseconds. */
  leave(limit: number): Promise<void>;
}

/** The process of the program. There is one. */
export class Process {
  readonly standardError: ErrorOutput;
  /** Left before the process ends. */
  frontEnd: FrontEnd | undefined;
  /** Whether prompts are read from a terminal. */
  readsTerminal = false;
  readonly #stopListening = new Map<ProcessEnd, () => void>();
  #isEnding = false;

  constructor() {
    const hasRunner = ["GITHUB_ACTIONS", "TF_BUILD"].some((name) =>
      environmentVariable(name) !== undefined
    );
    this.standardError = new ErrorOutput(errorSink(), hasRunner);
  }

  /** Writes a message to standard error. */
  report(kind: "error" | "warning", message: Redacted): void {
    const line = shown`${NAME}: ${kind}: ${shownLine(message)}\n`;
    this.standardError.write(line);
  }

  /** Runs the program, and ends as it says, or after an error that it does not handle. */
  async run(program: () => Promise<number>): Promise<void> {
    addEventListener("error", (event) => {
      event.preventDefault();
      this.#fail(event.error);
    });
    addEventListener("unhandledrejection", (event) => {
      event.preventDefault();
      this.#fail(event.reason);
    });
    // Without a listener, Deno 2.9.2 and later open a debugger that has no password.
    if (hasSignals) {
      const refuse = () => this.leave(EXIT.debugRefused);
      Deno.addSignalListener("SIGUSR1", refuse);
    }
    try {
      await this.#end(await program());
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** Listens for the signals that end a process, and for Ctrl-C. */
  listen(): void {
    for (const signal of Object.keys(SIGNALS) as Deno.Signal[]) {
      const listener = () =>
        signal === "SIGINT" ? this.interrupt() : this.leave(signal);
      Deno.addSignalListener(signal, listener);
      this.#stopListening.set(
        signal,
        () => Deno.removeSignalListener(signal, listener),
      );
    }
  }

  /** Handles a Ctrl-C: the front end drops what it does, or is left. */
  interrupt(): void {
    if (!this.frontEnd?.interrupt()) this.leave("SIGINT");
  }

  /** Leaves the front end, and ends the process. The second time, it does not wait. */
  async leave(ending: ProcessEnd): Promise<void> {
    if (this.#isEnding) return this.exit(ending);
    this.#isEnding = true;
    await this.frontEnd?.leave(SIGNAL_LIMIT).catch(() => {});
    await this.#exitWhenWritten(ending, SIGNAL_LIMIT);
  }

  /** Ends the process, unless it ends already. */
  async #end(ending: ProcessEnd): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    await this.#exitWhenWritten(ending, END_LIMIT);
  }

  /**
   * Ends the process now, after a signal by that signal: a shell then ends its loop, and
   * systemd takes the end for clean. It exits with the code on Windows, as PID 1, which
   * its own signals do not reach, and after SIGQUIT, which would write a core.
   */
  exit(ending: ProcessEnd): void {
    if (typeof ending === "number") Deno.exit(ending);
    const code = SIGNALS[ending] ?? 1;
    if (!hasSignals || ending === "SIGQUIT" || Deno.pid === 1) Deno.exit(code);
    this.#stopListening.get(ending)?.();
    try {
      Deno.kill(Deno.pid, ending);
    } catch {
      Deno.exit(code); // Deno before 2.9 does not allow it.
    }
    startTimeout(DELIVERY_LIMIT, () => Deno.exit(code)); // It was not delivered.
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    // The error that came first is the one to report.
    await this.frontEnd?.leave(0).catch(() => {});
    this.report("error", failureLine(error));
    await this.#exitWhenWritten(1, END_LIMIT);
  }

  /** Ends the process after standard error is written, or after `limit` milliseconds. */
  async #exitWhenWritten(ending: ProcessEnd, limit: number): Promise<void> {
    await this.standardError.flush(limit);
    // A closed window may end the input before its SIGHUP comes.
    const isClosed = this.readsTerminal && !isShown("stdin");
    this.exit(isClosed ? "SIGHUP" : ending);
  }
}
