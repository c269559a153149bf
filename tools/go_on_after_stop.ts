/**
 * Continues a child that Ctrl-Z has stopped. `deno task` itself does not stop, so
 * the shell would not get the terminal back.
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
