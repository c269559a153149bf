import { plainLine, shorten } from "../text.ts";

/** Writes a line to a log, with a duration in milliseconds if it has one. */
export type Log = (text: string, milliseconds?: number) => void;

const MAX_LENGTH = 500;

/**
 * Opens the log of `--verbose`. Each line begins with the time, and is clean and short.
 */
export function openLog(writeLine: (line: string) => void): Log {
  return (text, milliseconds) => {
    const time = new Date().toISOString();
    const shown = plainLine(shorten(text, MAX_LENGTH));
    const took = milliseconds === undefined
      ? ""
      : `, ${milliseconds.toFixed(0)} ms`;
    writeLine(`agent-gateway ${time} ${shown}${took}\n`);
  };
}
