/**
 * Lets a child go on when Ctrl-Z has stopped it. `deno task` does not stop, so
 * that no shell would get the terminal back.
 */
export function goOnAfterStop(child: Deno.ChildProcess): void {
  Deno.addSignalListener("SIGTSTP", () => {
    try {
      child.kill("SIGCONT");
    } catch {
      // The child has just ended.
    }
  });
}
