/**
 * The mode of this process's terminal in which each key arrives as it is pressed.
 *
 * @module
 */

/** What is told about the terminal. */
export interface KeyModeEvents {
  /** The process is about to stop (Ctrl-Z). It does when the promise resolves. */
  suspend(): Promise<void>;
  /** The process goes on (`fg`). */
  resume(): void;
  /** The terminal has another size. */
  resize(): void;
}

/**
 * Switches the terminal of standard input to keys. Ctrl-C and Ctrl-Z stay signals
 * where there are signals: they reach all processes of the job.
 *
 * @returns What switches it back.
 */
export function enterKeyMode(events: KeyModeEvents): Disposable {
  if (Deno.build.os === "windows") {
    Deno.stdin.setRaw(true);
    return { [Symbol.dispose]: () => Deno.stdin.setRaw(false) };
  }
  const stop = async () => {
    await events.suspend();
    Deno.stdin.setRaw(false);
    Deno.removeSignalListener("SIGTSTP", stop);
    // Nobody listens any more: this stops the process.
    Deno.kill(Deno.pid, "SIGTSTP");
  };
  const canStop = canSignalItself();
  const listenForStop = () => {
    if (canStop) Deno.addSignalListener("SIGTSTP", stop);
  };
  const goOn = () => {
    if (canStop) Deno.removeSignalListener("SIGTSTP", stop);
    listenForStop();
    Deno.stdin.setRaw(true, { cbreak: true });
    events.resume();
  };
  const resize = () => events.resize();
  Deno.stdin.setRaw(true, { cbreak: true });
  listenForStop();
  Deno.addSignalListener("SIGCONT", goOn);
  Deno.addSignalListener("SIGWINCH", resize);
  return {
    [Symbol.dispose]: () => {
      if (canStop) Deno.removeSignalListener("SIGTSTP", stop);
      Deno.removeSignalListener("SIGCONT", goOn);
      Deno.removeSignalListener("SIGWINCH", resize);
      Deno.stdin.setRaw(false);
    },
  };
}

/**
 * Whether this process may send signals to itself. Older releases of Deno ask for
 * `--allow-run`; there Ctrl-Z stops at once, wherever the cursor is.
 */
function canSignalItself(): boolean {
  try {
    Deno.kill(Deno.pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
}
