/**
 * Key mode: the terminal of this process sends each key as it is pressed.
 *
 * @module
 */

import { startTimer } from "../io.ts";

/**
 * How long after a request to stop the process takes it for refused, in
 * milliseconds.
 */
const STOP_TIMEOUT = 100;

/** Callbacks for changes of the terminal. */
export interface KeyModeEvents {
  /**
   * The terminal is in key mode again.
   *
   * @param wasStopped Whether another program may have used it meanwhile.
   */
  resume(wasStopped: boolean): void;
  /** The size of the terminal changed. */
  resize(): void;
}

/** A terminal in key mode. Disposing of it switches the terminal back. */
export interface KeyMode extends Disposable {
  /**
   * Switches the terminal back and stops the process, as Ctrl-Z does in other
   * programs. `resume` is called when it is continued, or if it was not stopped.
   */
  stop(): void;
}

/**
 * Switches the terminal of standard input to key mode, in which all keys are
 * bytes, Ctrl-C, Ctrl-\ and Ctrl-Z included.
 */
export function enterKeyMode(events: KeyModeEvents): KeyMode {
  let stopTimer = () => {};
  const resume = (wasStopped: boolean) => {
    stopTimer();
    Deno.stdin.setRaw(true);
    events.resume(wasStopped);
  };
  const goOn = () => resume(true);
  const resize = () => events.resize();
  const hasSignals = Deno.build.os !== "windows";
  Deno.stdin.setRaw(true);
  if (hasSignals) {
    Deno.addSignalListener("SIGCONT", goOn);
    Deno.addSignalListener("SIGWINCH", resize);
  }
  return {
    stop() {
      Deno.stdin.setRaw(false);
      try {
        // Nothing ever listens to this signal, so the kernel decides: it discards
        // the signal where no shell could continue the process.
        if (hasSignals) Deno.kill(Deno.pid, "SIGTSTP");
      } catch {
        // Deno before 2.9 does not allow it: Ctrl-Z has no effect there.
      }
      stopTimer = startTimer(STOP_TIMEOUT, () => resume(false));
    },
    [Symbol.dispose]() {
      stopTimer();
      if (hasSignals) {
        Deno.removeSignalListener("SIGCONT", goOn);
        Deno.removeSignalListener("SIGWINCH", resize);
      }
      Deno.stdin.setRaw(false);
    },
  };
}
