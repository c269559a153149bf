import { startTimer } from "../io.ts";

/**
 * How long after a request to stop the process takes it for refused, in
 * milliseconds.
 */
const STOP_TIMEOUT = 100;

/** Bracketed paste, which shells switch on again for themselves. */
const ON = "\x1b[?2004h";
const OFF = "\x1b[?2004l";

export interface KeyModeActions {
  /**
   * Called when the terminal is in key mode again.
   *
   * @param wasStopped Whether another program may have used it meanwhile.
   */
  readonly onResume: (wasStopped: boolean) => void;
  readonly onResize: () => void;
}

export interface KeyModeOptions extends KeyModeActions {
  readonly write: (text: string) => void;
  /**
   * Resolves when everything is written, before another program takes the
   * terminal over.
   */
  readonly written: () => Promise<unknown>;
}

/** A terminal in key mode. Disposing of it switches the terminal back. */
export interface KeyMode extends Disposable {
  /**
   * Switches the terminal back and stops the process, as Ctrl-Z does in other
   * programs. `onResume` is called when it is continued, or if it was not stopped.
   */
  stop(): Promise<void>;
}

/**
 * Switches the terminal of standard input to key mode, in which all keys are
 * bytes, Ctrl-C, Ctrl-\ and Ctrl-Z included.
 */
export function enterKeyMode(
  { write, written, onResume, onResize }: KeyModeOptions,
): KeyMode {
  let isOver = false;
  let stopTimer = () => {};
  const enter = () => {
    Deno.stdin.setRaw(true);
    write(ON);
  };
  const resume = (wasStopped: boolean) => {
    stopTimer();
    enter();
    onResume(wasStopped);
  };
  const goOn = () => resume(true);
  const hasSignals = Deno.build.os !== "windows";
  enter();
  if (hasSignals) {
    Deno.addSignalListener("SIGCONT", goOn);
    Deno.addSignalListener("SIGWINCH", onResize);
  }
  return {
    async stop() {
      write(OFF);
      await written();
      if (isOver) return;
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
      isOver = true;
      stopTimer();
      if (hasSignals) {
        Deno.removeSignalListener("SIGCONT", goOn);
        Deno.removeSignalListener("SIGWINCH", onResize);
      }
      write(OFF);
      Deno.stdin.setRaw(false);
    },
  };
}
