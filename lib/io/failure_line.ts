import { KEYLESS, type Redacted, safe } from "../text.ts";
import { StreamError } from "./standard_streams.ts";

const ISSUES = "https://github.com/agent-gateway/agent-gateway/issues";

/**
 * Describes an error that no front end has handled, in one line without a line end. Of
 * an unexpected one only class and place are shown: its message may quote the key.
 */
export function failureLine(error: unknown): Redacted {
  if (
    error instanceof StreamError ||
    // Deno's message names the missing permission flag.
    error instanceof Deno.errors.NotCapable
  ) {
    return KEYLESS.show(error.message);
  }
  const what = error instanceof Error
    ? [error.name, placeOf(error)].join("")
    : typeof error;
  return safe`Internal error (${
    KEYLESS.show(what)
  }): this is a defect, please report it at ${ISSUES}`;
}

function placeOf({ message, stack = "" }: Error): string {
  const frames = stack.slice(stack.indexOf(message) + message.length);
  for (const frame of frames.split("\n").slice(1)) {
    const [, place] = /([^/\\(]+:\d+:\d+)\)?$/.exec(frame.slice(-200)) ?? [];
    if (place !== undefined) return ` at ${place}`;
  }
  return "";
}
