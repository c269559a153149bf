import { counted, duration, plainLine, wholeDuration } from "../text.ts";
import type { LineOptions } from "./line_options.ts";
import type { ViewEvent } from "./view.ts";

/** The lines that an event is shown as, each with its line end; empty if it needs none. */
export function linesAbout(event: ViewEvent, options: LineOptions): string {
  const { isPlain, isQuiet, isScript, style } = options;
  const line = (text: string) => isQuiet ? "" : `${plainLine(text)}\n`;
  const program = isScript ? "agent-gateway: " : "";
  switch (event.type) {
    case "begin":
    case "run":
      return "";
    case "wait":
      return line(`${event.reason}, ${retryIn(event.milliseconds)}`);
    case "progress":
      return line(`${event.node}: ${event.status}`);
    case "end":
      return isPlain && event.total !== undefined
        ? line(`total ${duration(event.total)}`)
        : "";
    case "banner":
      return line(event.text);
    case "thread":
      return line(`thread ${event.threadId}`);
    case "dropped":
      return event.what === "thread"
        ? ""
        : `${droppedLine(event.what, event.prompts)}\n`;
    case "reply":
      return event.note === undefined
        ? ""
        : `${program}${style.bold("warning:")} ${plainLine(event.note)}\n`;
    case "error":
      return `${program}${style.red("error:")} ${plainLine(event.message)}\n`;
    case "ctrl-c":
      return event.isFirst ? "Ctrl-C again leaves\n" : "";
    case "farewell":
      return event.threadId === undefined
        ? ""
        : line(continuation(event.threadId));
    default:
      return event satisfies never;
  }
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
  const also = prompts === 0 ? "" : ` and ${counted(prompts, "queued prompt")}`;
  if (what === "reply") return `Dropped the rest of the reply${also}.`;
  const dropped = also.replace(" and", ", and dropped");
  return `Stopped following the run${dropped}. The run may continue on the service.`;
}

/** "retry in 6 s", "retry in 2 min 5 s" */
export function retryIn(milliseconds: number): string {
  return `retry in ${wholeDuration(milliseconds)}`;
}
