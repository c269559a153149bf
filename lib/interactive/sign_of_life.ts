import { startTimeout } from "../io.ts";
import { wholeDuration } from "../text.ts";
import type { Terminal } from "./terminal.ts";
import type { Step } from "./view.ts";

/**
 * Returns a function that takes the steps of operations. When none has come for 15 s, and
 * then each minute, it writes a line. Only `--plain` needs that: without it, the status
 * line shows the time.
 */
export function signsOfLife(
  { isPlain, isQuiet }: Pick<Terminal, "isPlain" | "isQuiet">,
  write: (line: string) => void,
): (step: Step) => void {
  if (!isPlain || isQuiet) return () => {};
  let stop = () => {};
  const wait = (pause: number, total: number) => {
    stop = startTimeout(pause, () => {
      write(`still waiting, no news for ${wholeDuration(total)}\n`);
      wait(60_000, total + 60_000);
    });
  };
  return ({ type }) => {
    stop();
    if (type !== "end") wait(15_000, 15_000);
  };
}
