import type {
  ParsedData,
  Reply,
  ServiceError,
  StreamObserver,
} from "../gateway.ts";
import { isJsonObject, parseJson, type Redactor } from "../text.ts";
import type { Line } from "./report.ts";

/** Events that arrive within this time count as one lump, in milliseconds. */
const TOGETHER = 100;

/** A shorter run does not show whether its events were held back, in milliseconds. */
const LONG_ENOUGH = 2_000;

/** After a silence of this length, a proxy may close the connection, in milliseconds. */
const LONG_SILENCE = 15_000;

const MAX_IDS = 10_000;

/** The longest text of the service in a line, in UTF-16 code units. */
const MAX_LENGTH = 100;

/** The lines of a stream that are not ignored: fields, comments and blank lines. */
const FIELDS = /^(?:$|data:|id:|event:|retry:|:)/;

type Fact = Omit<Line, "name">;

/**
 * Notes what a stream brings, over all of its connections. It keeps no event, however
 * long the run is. Times are milliseconds since the stream was requested.
 */
export class StreamFacts implements StreamObserver {
  readonly #show: (text: string) => string;
  readonly #onLine: (line: string) => void;
  readonly #askedAt = performance.now();
  #startedAt = this.#askedAt;
  #headers: Headers | undefined;
  readonly #openedAt: number[] = [];
  #known = 0;
  #unknown = 0;
  #firstAt = 0;
  #lastAt = 0;
  #ids = new Set<string>();
  #hasId = false;
  #hasRepeatedId = false;
  #hasEventField = false;
  #comments = 0;
  #lastLineAt = 0;
  #silence = 0;
  #junk = 0;
  #junkSample = "";
  #reply: Reply | undefined;
  /** The id after which a stream that is lost just before the reply is resumed. */
  lastEventId: string | undefined;

  /** Begins when the run is requested. `onLine` gets each line, clean, without the key. */
  constructor(redactor: Redactor, onLine: (line: string) => void = () => {}) {
    this.#show = (text) => redactor.show(text, { maxLength: MAX_LENGTH });
    this.#onLine = (line) =>
      onLine(redactor.show(line, { maxLength: Infinity }));
  }

  /** Begins to count the time: the stream is requested now. */
  begin(): void {
    this.#startedAt = performance.now();
  }

  get isOpen(): boolean {
    return this.#headers !== undefined;
  }

  open(headers: Headers): void {
    this.#headers = headers;
    this.#openedAt.push(this.#now());
    this.#ids.clear(); // A service may start over.
    this.#lastLineAt = this.#now(); // The client's own pause is no silence.
  }

  line(line: string): void {
    this.#hear();
    this.#onLine(line);
    if (line.startsWith(":")) {
      this.#comments++;
    } else if (/^id: ?\S/.test(line)) {
      this.#hasId = true;
      this.#hasRepeatedId ||= this.#ids.has(line);
      if (this.#ids.size < MAX_IDS) this.#ids.add(line);
    } else if (line.startsWith("event:")) this.#hasEventField = true;
    else if (!FIELDS.test(line)) this.#ignore(line);
  }

  data(json: string, parsed: ParsedData, lastEventId?: string): void {
    if (parsed.kind === "failure") return;
    if (parsed.kind === "text") return this.#ignore(json);
    if (parsed.kind === "unknown") this.#unknown++;
    else this.#known++;
    this.#lastAt = this.#now();
    this.#firstAt ||= this.#lastAt;
    if (parsed.kind !== "reply") return;
    this.#reply = parsed.reply;
    this.lastEventId = lastEventId;
  }

  /** The lines of a run that may have failed, by way of the user's proxy if any. */
  lines(error: ServiceError | undefined, proxy?: string): readonly Line[] {
    const facts = [
      ["stream", this.#stream()],
      ["events", this.#events()],
      ["live", this.#live(proxy)],
      ["ids", this.#idFact()],
      ["silence", this.#silenceFact()],
      ["lines", this.#junkFact()],
      ["end", this.#end(error)],
      ["reply", replyFact(this.#reply)],
    ] as const;
    return facts.map(([name, fact]) => ({ name, ...fact }));
  }

  #now(): number {
    return performance.now() - this.#startedAt;
  }

  #hear(): void {
    const now = this.#now();
    this.#silence = Math.max(this.#silence, now - this.#lastLineAt);
    this.#lastLineAt = now;
  }

  #ignore(text: string): void {
    if (this.#junk++ === 0) this.#junkSample = text;
  }

  #servers(): readonly string[] {
    return ["server", "via"].map((name) => this.#headers?.get(name) ?? "")
      .map(this.#show).filter((value) => value !== "");
  }

  #stream(): Fact {
    const type = this.#headers?.get("content-type") ?? "no content type";
    const isStream = /^\s*text\/event-stream\s*(?:;|$)/i.test(type);
    const advice = isStream
      ? ""
      : "; answer with Content-Type: text/event-stream";
    const text = [this.#show(type), ...this.#servers()].join(", ");
    return {
      state: isStream ? "ok" : "note",
      milliseconds: this.#openedAt[0],
      text: text + advice,
    };
  }

  #events(): Fact {
    const [first, last] = [this.#firstAt, this.#lastAt].map(seconds);
    const counts = `${this.#known} known, ${this.#unknown} unknown`;
    if (this.#known > 0) {
      const text =
        `${counts}, the first after ${first}, the last after ${last}`;
      return { state: "ok", at: this.#lastAt, text };
    }
    const text =
      `${counts};${this.#mistake()} send each as one line data: {"event":"progress",...}, and the reply as data: {"event":"complete",...}`;
    return { state: "failed", text };
  }

  /** What is wrong with events of which none is known; empty if that is not clear. */
  #mistake(): string {
    const value = parseJson(this.#junkSample);
    if (isJsonObject(value)) return " the events are without data:";
    if (typeof value === "string") return " the events are JSON encoded twice:";
    if (/^\s*\{/.test(this.#junkSample)) {
      return " the events are JSON over several lines:";
    }
    if (!this.#hasEventField || this.#unknown === 0) return "";
    return " the events are named outside of their JSON:";
  }

  #live(proxy: string | undefined): Fact {
    const at = this.#firstAt || undefined;
    if (this.#lastAt - this.#firstAt > TOGETHER) {
      return { state: "ok", at, text: "events arrived as they happened" };
    }
    const waited = this.#startedAt - this.#askedAt + this.#firstAt;
    if (this.#known + this.#unknown < 2 || waited <= LONG_ENOUGH) {
      const text = "not tested: needs a run of several events, over 2 s";
      return { state: "-", at, text };
    }
    const others = [...this.#servers(), ...proxy ? [`your proxy ${proxy}`] : []]
      .map((other) => `, or by ${other}`).join("");
    const text = `all events arrived at once after ${seconds(waited)}: ` +
      `buffered, most likely by the service (flush after each event)${others}; see docs/service.md`;
    return { state: "note", at, text };
  }

  #idFact(): Fact {
    if (this.#hasRepeatedId) {
      const text =
        "some repeat, so a dropped connection may resume at the wrong event; give each event its own";
      return { state: "note", text };
    }
    if (this.#hasId) return { state: "ok", text: "all are different" };
    if (this.#known + this.#unknown < 2) {
      return { state: "-", text: "no event came before the reply" };
    }
    const text =
      "none, so a dropped connection loses the reply; send id: lines and honour Last-Event-ID";
    return { state: "note", text };
  }

  #silenceFact(): Fact {
    const came = `${this.#comments} comments`;
    if (this.#silence >= LONG_SILENCE) {
      const text = `nothing came for ${seconds(this.#silence)}, with ${came} ` +
        "in all; send a comment (a line that begins with a colon) every 15 s";
      return { state: "note", milliseconds: this.#silence, text };
    }
    return this.#comments > 0
      ? { state: "ok", text: `${came} came` }
      : { state: "-", text: "not tested: needs a pause of 15 s" };
  }

  #junkFact(): Fact {
    if (this.#junk === 0) {
      return { state: "ok", text: "each data: contains a JSON object" };
    }
    const found = `${this.#junk}; the first: ${this.#show(this.#junkSample)}`;
    const text = `neither events nor comments, ignored: ${found}`;
    return { state: this.#known > 0 ? "note" : "-", text };
  }

  #end(error: ServiceError | undefined): Fact {
    const at = this.#lastLineAt;
    if (this.#reply === undefined) {
      const failure = error?.failure;
      const { reason = INCOMPLETE, detail } = failure ?? {};
      const text = detail ? `${reason}: ${detail}` : reason;
      return { state: "failed", at, text, failure };
    }
    const [, ...resumed] = this.#openedAt.map(seconds);
    const text = `the run was complete after ${seconds(at)}`;
    if (resumed.length === 0) return { state: "ok", at, text };
    const times = resumed.slice(0, 3).join(", ");
    const cuts =
      `cuts in its stream: ${resumed.length}, resumed after ${times}`;
    return { state: "note", at, text: `${text}; ${cuts}` };
  }
}

const INCOMPLETE = "the run was not complete";

function replyFact(reply: Reply | undefined): Fact {
  if (reply === undefined) return { state: "-", text: INCOMPLETE };
  const { text: shown, source } = reply;
  const advice =
    `so users see "${shown}"; put the reply into instructorState.explanation`;
  switch (source.kind) {
    case "explanation":
      return { state: "ok", text: "in instructorState.explanation" };
    case "message": {
      const { index, count, isAssistant } = source;
      const whose = isAssistant ? "from an assistant" : "without a role";
      return {
        state: "ok",
        text: `in messages[${index}] of ${count}, ${whose}`,
      };
    }
    case "nothing":
      return { state: "note", text: `none found, ${advice}` };
    case "unread": {
      const found = `no text found in messages (entries: ${source.count})`;
      return { state: "failed", text: `${found}, ${advice}` };
    }
    default:
      return source satisfies never;
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
