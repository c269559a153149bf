import { startTimeout, type TerminalOutput } from "../io.ts";

/** How long after a request to stop it counts as refused, in milliseconds. */
const STOP_TIMEOUT = 100;

/**
 * How long the terminal may accept nothing before the program stops waiting for it, in
 * milliseconds. Then its modes stay as they are: switching them back would wait for ever.
 */
export const SETTLE_LIMIT = 800;

// Bracketed paste, which shells expect to be off when a program ends.
const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";

export interface KeyModeOptions {
  readonly output: TerminalOutput;
  /** Called in key mode again; another program may have used the terminal meanwhile. */
  readonly onResume: (wasStopped: boolean) => void;
  readonly onResize: () => void;
}

/** A terminal in key mode. */
export interface KeyMode {
  /** Protects pastes again: another program may have switched the protection off. */
  renew(): void;
  /**
   * Switches the terminal back and stops the process, as Ctrl-Z does in other
   * programs. `onResume` is called when it is continued, or if it was not stopped.
   */
  stop(): Promise<void>;
  /**
   * Switches the terminal back when it has accepted all output. If it accepts no more,
   * its modes are not touched.
   */
  leave(): Promise<void>;
}

/**
 * Switches standard input to key mode: Ctrl-C, Ctrl-\ and Ctrl-Z become bytes, too, and
 * pastes are marked as such.
 */
export function enterKeyMode(
  { output, onResume, onResize }: KeyModeOptions,
): KeyMode {
  let isOver = false;
  let isOn = false;
  let stopTimer = () => {};
  const enter = () => {
    Deno.stdin.setRaw(true);
    output.write(PASTE_ON);
    isOn = true;
  };
  const resume = (wasStopped: boolean) => {
    stopTimer();
    enter();
    onResume(wasStopped);
  };
  const goOn = () => resume(true);
  const hasSignals = Deno.build.os !== "windows";
  enter();
  if (hasSignals) Deno.addSignalListener("SIGCONT", goOn);
  let hasResizing = true;
  try {
    Deno.addSignalListener("SIGWINCH", onResize);
  } catch {
    hasResizing = false; // Deno before 2.7.10 has none on Windows.
  }
  return {
    renew: () => output.write(PASTE_ON),
    async stop() {
      output.write(PASTE_OFF);
      isOn = false;
      await output.settle(Infinity);
      if (isOver) return;
      Deno.stdin.setRaw(false);
      try {
        // Nothing ever listens to this signal, so the kernel decides: it discards
        // the signal where no shell could continue the process.
        if (hasSignals) Deno.kill(Deno.pid, "SIGTSTP");
      } catch {
        // Deno before 2.9 does not allow it: Ctrl-Z has no effect there.
      }
      stopTimer = startTimeout(STOP_TIMEOUT, () => resume(false));
    },
    async leave() {
      isOver = true;
      stopTimer();
      if (hasSignals) Deno.removeSignalListener("SIGCONT", goOn);
      if (hasResizing) Deno.removeSignalListener("SIGWINCH", onResize);
      if (isOn) output.write(PASTE_OFF);
      if (await output.settle(SETTLE_LIMIT)) Deno.stdin.setRaw(false);
    },
  };
}
