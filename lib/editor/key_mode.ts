/**
 * Key mode: the terminal of this process sends each key as it is pressed.
 *
 * @module
 */

/** Callbacks for changes of the terminal. */
export interface KeyModeEvents {
  /** The process is about to stop (Ctrl-Z). It stops when the promise resolves. */
  suspend(): Promise<void>;
  /** The process was continued (`fg`). */
  resume(): void;
  /** The size of the terminal changed. */
  resize(): void;
}

/**
 * Switches the terminal of standard input to key mode. Ctrl-C and Ctrl-Z stay
 * signals where there are signals: they reach all processes of the job.
 *
 * @returns A resource whose disposal switches the terminal back.
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
    // The listener was removed, so this signal stops the process.
    Deno.kill(Deno.pid, "SIGTSTP");
  };
  const canStop = canSignalItself(Deno.version.deno);
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
 * Whether this process may send signals to itself: from Deno 2.9 on. Before, that
 * needs `--allow-run`, and Ctrl-Z stops at once, wherever the cursor is. (An
 * attempt would tell too, but takes 2 ms.)
 */
function canSignalItself(denoVersion: string): boolean {
  const [major = 0, minor = 0] = denoVersion.split(".", 2)
    .map((part) => Number.parseInt(part));
  return major > 2 || major === 2 && minor >= 9;
}
