/** Kills all processes of a group, if there are any. */
export function killGroup(id: number): void {
  try {
    // Windows has no groups: the leader alone.
    Deno.kill(Deno.build.os === "windows" ? id : -id, "SIGKILL");
  } catch {
    // They have ended.
  }
}
