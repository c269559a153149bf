import {
  KEYLESS,
  type Redacted,
  type Shown,
  shown,
  shownLine,
} from "../text.ts";

/** Writes a line to a log, with a duration in milliseconds if it has one. */
export type Log = (line: Redacted, milliseconds?: number) => void;

/**
 * Opens the log of `--verbose`. Each line begins with the time, and is clean.
 */
export function openLog(writeLine: (line: Shown) => void): Log {
  return (line, milliseconds) => {
    const time = shownLine(KEYLESS.show(new Date().toISOString()));
    const words = shownLine(line);
    const took = milliseconds === undefined
      ? ""
      : shown`, ${Math.round(milliseconds)} ms`;
    writeLine(shown`agent-gateway ${time} ${words}${took}\n`);
  };
}
