import { type Redacted, safe } from "../../text.ts";
import type { Failure } from "../failure/failure.ts";
import type { NotUnderstood } from "./not_understood.ts";
import type { StreamCursor } from "./stream_cursor.ts";

/** What the service said about a failure of the run. */
interface SaidFailure {
  /** The service's words; empty if it gave none. */
  readonly words: Redacted;
  /** Whether an event of the run came after them: then it continued. */
  readonly isOutdated: boolean;
}

/** What the stream of a run has held, over all of its connections. */
export class StreamRecord {
  readonly cursor: StreamCursor = {
    firstId: undefined,
    lastEventId: undefined,
  };
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

  /**
   * Why the run cannot be followed any more, from why its last connection ended: the run
   * has failed, if the service's last words say so.
   *
   * @param isLate Whether the call takes too long: then nobody has heard the run's end.
   */
  failureAfter(failure: Failure, isLate: boolean): Failure {
    const { failure: said, notUnderstood } = this;
    if (failure.stage === "failed") return failure;
    if (said?.isOutdated === false && !isLate) {
      const reason = safe`The run failed`;
      return { stage: "failed", reason, detail: said.words };
    }
    const detail = notUnderstood?.words;
    return { ...failure, detail, earlier: said?.words };
  }
}
