/**
 * The lines that a view shows besides replies, and the words for durations in any
 * line.
 *
 * @module
 */

import { plainLine, type Style } from "../text.ts";
import type { EventOf, ViewEvent } from "./view.ts";

/** The keys and the ways out, on a dumb terminal. */
export const DUMB_KEYS = "Ctrl-C: stop, Ctrl-D or exit: leave";

/** The same where texts are edited. */
export const EDITOR_KEYS = `Ctrl-J: new line, ${DUMB_KEYS}`;

/** How to have less drawn, where more than the prompt is. */
export const PLAIN_HINT = "; screen readers: --plain";

export interface NoteOptions {
  readonly style: Style;
  /** Whether the banner is left out. */
  readonly isQuiet: boolean;
  /** Whether the total of each run is a line. */
  readonly isPlain: boolean;
  /** The width of the terminal, if there is one. */
  readonly columns?: number | undefined;
}

/** The lines that an event is shown as, each with its line end; empty if it needs none. */
export function noteOn(
  event: Exclude<ViewEvent, EventOf<"ctrl-c">>,
  options: NoteOptions,
): string {
  const { isPlain, isQuiet, style } = options;
  switch (event.type) {
    case "begin":
    case "run":
      return "";
    case "wait":
      return isQuiet
        ? ""
        : `${plainLine(event.reason)}, ${againIn(event.milliseconds)}\n`;
    case "progress":
      return isQuiet ? "" : plainLine(`${event.node}: ${event.status}`) + "\n";
    case "end":
      return isQuiet || !isPlain || event.total === undefined
        ? ""
        : `total ${duration(event.total)}\n`;
    case "banner":
      return banner(event.text, options);
    case "thread":
      return banner(`thread ${event.threadId}`, options);
    case "dropped":
      return event.what === "thread"
        ? ""
        : broken(droppedLine(event.what, event.prompts), options)
          .map((line) => `${line}\n`).join("");
    case "reply":
      return event.note === undefined
        ? ""
        : style.red(`Note: ${plainLine(event.note)}`) + "\n";
    case "error":
      return style.red(`Error: ${plainLine(event.message)}`) + "\n";
    case "farewell":
      return event.threadId === undefined
        ? ""
        : banner(continuation(event.threadId), options);
    default:
      return event satisfies never;
  }
}

/** A line of the banner, broken between words; empty if quiet. */
export function banner(text: string, options: NoteOptions): string {
  if (options.isQuiet) return "";
  return broken(text, options)
    .map((line) => `${options.style.dim(line)}\n`).join("");
}

/** A text without control characters, in lines that are broken between words. */
function broken(
  text: string,
  { columns = Infinity }: NoteOptions,
): readonly string[] {
  const lines: string[] = [];
  for (const word of plainLine(text).split(" ")) {
    const line = `${lines.at(-1)} ${word}`;
    if (lines.length === 0 || line.length > columns) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

/** The command that continues a thread, with the id quoted for a POSIX shell. */
function continuation(threadId: string): string {
  const id = plainLine(threadId);
  const word = /^[\w.:@%+,/-]+$/.test(id)
    ? id
    : `'${id.replaceAll("'", "'\\''")}'`;
  const option = id.startsWith("-") ? `--thread=${word}` : `--thread ${word}`;
  return `agent-gateway ${option}`;
}

function droppedLine(what: "run" | "reply", prompts: number): string {
  const waiting = prompts === 1 ? "prompt" : "prompts";
  const also = prompts === 0 ? "" : `, and ${prompts} waiting ${waiting}`;
  return what === "run"
    ? `Run dropped${also}; the run may still go on at the service`
    : `Rest of the reply dropped${also}`;
}

/** "0.4 s", "12 s", "2 min 5 s" */
export function duration(milliseconds: number): string {
  const tenths = Math.floor(milliseconds / 100);
  return tenths < 100
    ? `${(tenths / 10).toFixed(1)} s`
    : wholeSeconds(Math.floor(tenths / 10) * 1000);
}

/** "again in 6 s", "again in 2 min 5 s": rounded up to whole seconds. */
export function againIn(milliseconds: number): string {
  return `again in ${wholeSeconds(milliseconds)}`;
}

function wholeSeconds(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}
