import { pauseLabel } from "../gateway.ts";
import { counted, duration, plainLine, type ServiceId } from "../text.ts";
import type { Terminal } from "./terminal.ts";
import type { Dropped, Step, ViewEvent } from "./view.ts";

/** How lines look. */
export type LineLook = Pick<
  Terminal,
  "isTyped" | "isPlain" | "isQuiet" | "style"
>;

/** The events that may be shown as lines. */
export type LineEvent = Step | Extract<ViewEvent, { readonly type: LineType }>;

type LineType =
  | "banner"
  | "thread"
  | "dropped"
  | "reply"
  | "error"
  | "ctrl-c"
  | "farewell";

/** The lines that an event is shown as, each with its newline; empty if it needs none. */
export function linesAbout(event: LineEvent, look: LineLook): string {
  switch (event.type) {
    case "begin":
    case "run":
      return "";
    case "wait":
      return line(pauseLabel(event.reason, event.milliseconds), look);
    case "progress":
      return line(`${event.node}: ${event.status}`, look);
    case "end":
      return totalLine(event.total, look);
    case "banner":
      return line(event.text, look);
    case "thread":
      return line(`thread ${event.threadId}`, look);
    case "dropped":
      return droppedLine(event);
    case "reply":
      return noteLine(event.note, look);
    case "error": {
      const text = plainLine(event.message);
      return `${programOf(look)}${look.style.red("error:")} ${text}\n`;
    }
    case "ctrl-c":
      return event.isFirst ? "Ctrl-C again leaves\n" : "";
    case "farewell":
      return farewellLine(event.threadId, look);
    default:
      return event satisfies never;
  }
}

/** A line that `-q` leaves out. */
export function line(text: string, { isQuiet }: LineLook): string {
  return isQuiet ? "" : `${plainLine(text)}\n`;
}

/** Where nobody types, the program's name begins what is wrong. */
function programOf({ isTyped }: LineLook): string {
  return isTyped ? "" : "agent-gateway: ";
}

/** How long a run took, which `--plain` tells a person. */
function totalLine(total: number | undefined, look: LineLook): string {
  const isShown = total !== undefined && look.isPlain && look.isTyped;
  return isShown ? line(`total ${duration(total)}`, look) : "";
}

function noteLine(note: string | undefined, look: LineLook): string {
  if (note === undefined) return "";
  return `${programOf(look)}${look.style.bold("warning:")} ${
    plainLine(note)
  }\n`;
}

function farewellLine(threadId: ServiceId | undefined, look: LineLook): string {
  return threadId === undefined ? "" : line(continuation(threadId), look);
}

/** The command that continues a thread, with the id quoted for a POSIX shell. */
function continuation(threadId: ServiceId): string {
  const id = plainLine(threadId);
  const word = /^[\w.:@%+,/-]+$/.test(id)
    ? id
    : `'${id.replaceAll("'", "'\\''")}'`;
  const option = id.startsWith("-") ? `--thread=${word}` : `--thread ${word}`;
  return `agent-gateway ${option}`;
}

function droppedLine({ what, prompts }: Dropped): string {
  const queued = counted(prompts, "queued prompt");
  switch (what) {
    case "thread":
      return "";
    case "prompt": {
      const also = prompts === 0 ? "" : `, and ${queued}`;
      return `Dropped the prompt before it was sent${also}. It did not run.\n`;
    }
    case "reply": {
      const also = prompts === 0 ? "" : ` and ${queued}`;
      return `Dropped the rest of the reply${also}.\n`;
    }
    case "run": {
      const also = prompts === 0 ? "" : `, and dropped ${queued}`;
      return `Stopped following the run${also}. ` +
        "The run may continue on the service.\n";
    }
    default:
      return what satisfies never;
  }
}
