import {
  isServiceId,
  type Redacted,
  Redactor,
  type ServiceId,
  type Shown,
  shownReply,
  unchanged,
} from "../../lib/text.ts";

/** A text that is safe to show, for a key that no text contains. */
export function redacted(text: string): Redacted {
  return new Redactor("").showName(text);
}

/** The id of a thread or a run. */
export function serviceId(id: string): ServiceId {
  if (!isServiceId(id)) throw new Error(`no id: ${id}`);
  return id;
}

/** A text for a terminal. */
export function shownText(text: string): Shown {
  return shownReply(unchanged(text));
}
