import type { Redacted } from "../../text.ts";
import type { NotUnderstood } from "./not_understood.ts";
import { StreamCursor } from "./stream_cursor.ts";

/** What the service said about a failure of the run. */
export interface SaidFailure {
  /** The service's words; empty if it gave none. */
  readonly words: Redacted;
  /** Whether an event of the run came after them: then it continued. */
  readonly isOutdated: boolean;
}

/** What the stream of a run has held, over all of its connections. */
export class StreamRecord {
  readonly cursor: StreamCursor = new StreamCursor();
  failure: SaidFailure | undefined;
  /** The least pause before the stream is resumed, in milliseconds: a field `retry:`. */
  retry = 0;
  comments = 0;
  /** How many whole lines `data:` have come. */
  dataLines = 0;
  /** Whether a JSON object has come, which may be an event that is not known. */
  hasObjects = false;
  /** What was not understood, of the last connection that had something of it. */
  notUnderstood: NotUnderstood | undefined;
}
