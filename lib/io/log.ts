import { plainLine, type Redacted, shorten } from "../text.ts";

/** Writes a line to a log, with a duration in milliseconds if it has one. */
export type Log = (line: Redacted, milliseconds?: number) => void;

const MAX_LENGTH = 500;

/**
 * Opens the log of `--verbose`. Each line begins with the time, and is clean and short.
 */
export function openLog(writeLine: (line: string) => void): Log {
  return (line, milliseconds) => {
    const time = new Date().toISOString();
    const shown = plainLine(shorten(line, MAX_LENGTH));
    const took = milliseconds === undefined
      ? ""
      : `, ${milliseconds.toFixed(0)} ms`;
    writeLine(`agent-gateway ${time} ${shown}${took}\n`);
  };
}
