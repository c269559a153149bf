import { pauseLabel } from "../gateway.ts";
import {
  counted,
  duration,
  quotedForShell,
  type Redacted,
  safe,
  type ServiceId,
  type Shown,
  shown,
  shownLine,
} from "../text.ts";
import type { Terminal } from "./terminal.ts";
import type { Dropped, ViewEvent } from "./view.ts";

/** How lines look. */
export type LineLook = Pick<
  Terminal,
  "isTyped" | "isPlain" | "isQuiet" | "style" | "keys"
>;

/** The lines that an event is shown as, each with its newline; empty if it needs none. */
export function linesAbout(event: ViewEvent, look: LineLook): Shown {
  switch (event.type) {
    case "begin":
    case "run":
      return "";
    case "wait":
      return line(pauseLabel(event.reason, event.milliseconds), look);
    case "progress":
      return line(safe`${event.node}: ${event.status}`, look);
    case "end":
      return totalLine(event.total, look);
    case "banner":
      return line(event.text, look);
    case "thread":
      return shown`${line(safe`thread ${event.threadId}`, look)}${
        keysLine(look)
      }`;
    case "dropped":
      return droppedLine(event);
    case "reply":
      return noteLine(event.note, look);
    case "error": {
      const text = shownLine(event.message);
      return shown`${programOf(look)}${look.style.red("error:")} ${text}\n`;
    }
    case "ctrl-c":
      return event.isFirst ? shown`Ctrl-C again leaves\n` : "";
    case "farewell":
      return farewellLine(event.threadId, look);
    default:
      return event satisfies never;
  }
}

/** A line that `-q` leaves out. */
export function line(text: Redacted, { isQuiet }: LineLook): Shown {
  return isQuiet ? "" : shown`${shownLine(text)}\n`;
}

/** How to stop and to leave, once, after the banner. */
function keysLine(look: LineLook): Shown {
  return look.keys === undefined ? "" : line(look.keys, look);
}

/** Where nobody types, the program's name begins what is wrong. */
function programOf({ isTyped }: LineLook): Shown {
  return isTyped ? "" : shown`agent-gateway: `;
}

/** How long a run took, which `--plain` shows where prompts are typed. */
function totalLine(total: number | undefined, look: LineLook): Shown {
  const isShown = total !== undefined && look.isPlain && look.isTyped;
  return isShown ? line(safe`total ${duration(total)}`, look) : "";
}

/** A script with `-q` gets no line without a failure. */
function noteLine(note: Redacted | undefined, look: LineLook): Shown {
  const isHidden = look.isQuiet && !look.isTyped;
  if (note === undefined || isHidden) return "";
  return shown`${programOf(look)}${look.style.bold("warning:")} ${
    shownLine(note)
  }\n`;
}

/** How to continue, where somebody sees the keys, too. */
function farewellLine(
  threadId: ServiceId | undefined,
  { isQuiet, keys }: LineLook,
): Shown {
  if (threadId === undefined || isQuiet || keys === undefined) return "";
  return shown`${continuation(threadId)}\n`;
}

/** The command that continues a thread, with the id quoted for a POSIX shell. */
function continuation(threadId: ServiceId): Shown {
  const id = shownLine(threadId);
  const word = /^[\w.:@%+,/-]+$/.test(id) ? id : quotedForShell(id);
  return id.startsWith("-")
    ? shown`agent-gateway --thread=${word}`
    : shown`agent-gateway --thread ${word}`;
}

function droppedLine({ what, prompts }: Dropped): Shown {
  const queued = shownLine(counted(prompts, "queued prompt"));
  const also = prompts === 0 ? "" : shown`, and dropped ${queued}`;
  switch (what) {
    case "thread":
      return "";
    case "prompt":
      return shown`Stopped waiting for the service${also}. The prompt did not run.\n`;
    case "unanswered prompt":
      return shown`Stopped waiting for an answer${also}. The run may have started.\n`;
    case "run":
      return shown`Stopped following the run${also}. The run may continue on the service.\n`;
    case "reply": {
      const rest = prompts === 0 ? "" : shown` and ${queued}`;
      return shown`Dropped the rest of the reply${rest}.\n`;
    }
    default:
      return what satisfies never;
  }
}
