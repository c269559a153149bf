import type {
  ReplyEvent,
  ServiceError,
  TurnEvent,
  WaitEvent,
} from "../gateway.ts";
import type { ReportLine } from "./report.ts";
import { joinSafe, type Redacted, safe, seconds } from "../text.ts";

/** Events that arrive within this time arrived at once, in milliseconds. */
const TOGETHER = 100;

/** A shorter run does not show whether its events were held back, in milliseconds. */
const LONG_ENOUGH = 2_000;

/**
 * What the events of a run show about its service. No progress event is kept, however
 * long the run is. Times are milliseconds since the run was accepted.
 */
export class RunReport {
  readonly #acceptedAt = performance.now();
  /** The number of progress events. */
  #steps = 0;
  #firstStepAt: number | undefined;
  #lastStepAt = 0;
  #reply: { readonly event: ReplyEvent; readonly at: number } | undefined;
  /** Why the client paused before it resumed the stream: once for each pause. */
  readonly #pauses: WaitEvent["reason"][] = [];

  /** Sees each event of the turn, in order. */
  add(event: TurnEvent): void {
    const at = this.#now();
    switch (event.type) {
      case "run":
        break;
      case "wait":
        this.#pauses.push(event.reason);
        break;
      case "progress":
        this.#steps++;
        this.#firstStepAt ??= at;
        this.#lastStepAt = at;
        break;
      case "reply":
        this.#reply = { event, at };
        break;
      default:
        event satisfies never;
    }
  }

  /** The lines of the report, when the turn has ended, with this error if it failed. */
  lines(error: ServiceError | undefined): readonly ReportLine[] {
    return [this.#eventsLine(), this.#liveLine(), this.#replyLine(error)];
  }

  #now(): number {
    return performance.now() - this.#acceptedAt;
  }

  #eventsLine(): ReportLine {
    const name = "events";
    const remarks = this.#remarks();
    const state = remarks === "" ? undefined : "note";
    if (this.#firstStepAt === undefined) {
      const text = safe`no progress event came${remarks}`;
      return { state: state ?? "-", name, text };
    }
    const first = seconds(this.#firstStepAt);
    const last = seconds(this.#lastStepAt);
    const text =
      safe`progress: ${this.#steps}, the first after ${first}, the last after ${last}${remarks}`;
    return { state: state ?? "ok", name, at: this.#lastStepAt, text };
  }

  /** What is to be improved although a reply came; without one, its line says so. */
  #remarks(): Redacted {
    if (this.#reply === undefined) return "";
    const { isNotice, notUnderstood } = this.#reply.event;
    const count = this.#pauses.length;
    const remarks: Redacted[] = [];
    const [first] = this.#pauses;
    if (first !== undefined) {
      remarks.push(
        safe`the stream was interrupted (${count}, first: ${first})`,
      );
    }
    if (!isNotice && notUnderstood !== undefined) remarks.push(notUnderstood);
    if (remarks.length === 0) return "";
    return safe`; ${joinSafe(remarks, "; ")}; see docs/service.md`;
  }

  #liveLine(): ReportLine {
    const name = "live";
    const at = this.#firstStepAt;
    const end = this.#reply?.at ?? this.#lastStepAt;
    const isSeveral = this.#steps > (this.#reply === undefined ? 1 : 0);
    if (at !== undefined && isSeveral && end - at > TOGETHER) {
      const text = safe`events arrived as they happened`;
      return { state: "ok", name, at, text };
    }
    if (!isSeveral || end <= LONG_ENOUGH) {
      const text = safe`not tested: needs a run of several events, over 2 s`;
      return { state: "-", name, at, text };
    }
    const text = safe`all events arrived at once after ${
      seconds(end)
    }: buffered, most likely by the service (flush after each event), or by a reverse proxy; see docs/service.md`;
    return { state: "note", name, at, text };
  }

  #replyLine(error: ServiceError | undefined): ReportLine {
    const name = "reply";
    if (this.#reply === undefined) {
      const at = this.#now();
      const text = error?.message ?? safe`The run ended without a reply`;
      return { state: "failed", name, at, text, error };
    }
    const { event, at } = this.#reply;
    if (!event.isNotice) {
      return { state: "ok", name, at, text: safe`came after ${seconds(at)}` };
    }
    const { notUnderstood = safe`no reply found` } = event;
    const text =
      safe`${notUnderstood}, so users see "Run completed."; put the reply into instructorState.explanation`;
    return { state: "note", name, at, text };
  }
}
