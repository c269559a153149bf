import {
  counted,
  isJsonObject,
  joinSafe,
  type JsonObject,
  parseJson,
  type Redacted,
  type Redactor,
  safe,
} from "../../text.ts";

/** The most characters that are quoted of a line. */
const MAX_QUOTED = 80;

/** The most names of events that are quoted. */
const MAX_NAMES = 3;

/** The most kinds of lines that a message is about. */
const MAX_KINDS = 3;

/** Longer lines are not looked into for what was meant, in UTF-16 code units. */
const MAX_SEARCHED = 64 * 1024;

/**
 * What is said about lines of each kind: what is counted, if anything, a verb, and the
 * rest. The most useful words come first.
 */
const WORDS = {
  "no text": ["message", "had", "no text that can be read"],
  "other fields": ["", "", "complete had no reply, but these fields"],
  "body": ["", "", 'the body was one JSON object without "data:" before it'],
  "unknown name": ["event", "was", "not known"],
  "no name": ["JSON object", "had", 'no "event"'],
  "split": ["event", "was", "split over several data: lines (write it on one)"],
  "encoded twice": [
    "data: line",
    "was",
    "encoded as JSON twice (encode it once)",
  ],
  "NaN": [
    "data: line",
    "had",
    "NaN or Infinity, which is not JSON (write null)",
  ],
  "single quotes": [
    "data: line",
    "had",
    "single quotes (JSON needs double quotes)",
  ],
  "CR": ["data: line", "had", "CR as line end (use LF or CRLF)"],
  "no object": ["data: line", "was", "no JSON object"],
  "no JSON": ["data: line", "was", "not JSON"],
  "cut off": ["", "", "the last data: line was cut off"],
  "no data": ["line", "had", 'no "data:" before it'],
  "no node": ["progress event", "had", "no string as node or status"],
} as const;

export type Kind = keyof typeof WORDS;

function wordsAbout(kind: Kind, count: number): Redacted {
  const [noun, verb, rest] = WORDS[kind];
  if (noun === "") return safe`${rest}`;
  const predicate = verb === "was" && count > 1 ? "were" : verb;
  return safe`${counted(count, noun)} ${predicate} ${rest}`;
}

interface Tally {
  count: number;
  /** The start of the first line, or names, safe to show, by what they were. */
  readonly quotations: Map<string, Redacted>;
}

/** A line `data:` whose block has not ended. */
interface PendingLine {
  readonly kind: Kind;
  readonly text: string;
  readonly quotation: string;
}

/**
 * What came on one connection of a stream and was not understood: how many lines of
 * what kind, and how the first of each begins. None of it changes what is read.
 */
export class NotUnderstood {
  readonly #redactor: Redactor;
  readonly #found = new Map<Kind, Tally>();
  /** The lines of a block whose JSON may be split over them. */
  #block: PendingLine[] = [];
  /** The length of these lines, in UTF-16 code units. */
  #blockLength = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  get isEmpty(): boolean {
    return this.#found.size === 0;
  }

  /** What came, without the service's own words: nothing of a prompt or a reply. */
  get summary(): Redacted {
    const words = this.#kinds.map(([kind, { count }]) =>
      wordsAbout(kind, count)
    );
    return joinSafe(words, "; ");
  }

  /** What came, with how it begins: `2 events were not known: "completed"`. */
  get words(): Redacted {
    const words = this.#kinds.map(([kind, { count, quotations }]) =>
      safe`${wordsAbout(kind, count)}: ${
        joinSafe([...quotations.values()], ", ")
      }`
    );
    return joinSafe(words, "; ");
  }

  get #kinds(): readonly [Kind, Tally][] {
    const order = Object.keys(WORDS);
    return [...this.#found]
      .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
      .slice(0, MAX_KINDS);
  }

  /** Takes note of something, by what is to be quoted of it. */
  add(kind: Kind, quotation: string): void {
    const found = this.#found.get(kind) ??
      { count: 0, quotations: new Map() };
    this.#found.set(kind, found);
    found.count++;
    const { quotations } = found;
    const most = kind === "unknown name" ? MAX_NAMES : 1;
    if (quotations.size === most || quotations.has(quotation)) return;
    const start = this.#redactor.show(quotation, MAX_QUOTED);
    const shown = kind === "unknown name" ? safe`"${start}"` : start;
    // A long text is not kept.
    quotations.set(quotation.length > MAX_QUOTED ? shown : quotation, shown);
  }

  /** A line `data:` with an object that is no event of a run. */
  object(text: string, { event }: JsonObject): void {
    if (typeof event === "string") this.#line("unknown name", text, event);
    else this.#line("no name", text);
  }

  /**
   * A line `data:` that is not a JSON object, and its value if it is JSON.
   *
   * @param isUnfinished Whether the connection ended within it.
   */
  text(text: string, value: unknown, isUnfinished: boolean): void {
    if (text.trim() === "") return; // Some services keep streams alive so.
    const kind = kindOf(text, value);
    if (isUnfinished && kind === "no JSON") this.add("cut off", text);
    else this.#line(kind, text);
  }

  /** A whole body that is a JSON object in place of a stream. */
  body(text: string): void {
    this.#found.clear();
    this.add("body", text);
  }

  endBlock(): void {
    const block = this.#block;
    if (block.length === 0) return;
    this.#block = [];
    this.#blockLength = 0;
    const joined = block.map(({ text }) => text).join("\n");
    const mayBeJson = joined.length <= 2 * MAX_SEARCHED;
    if (mayBeJson && isJsonObject(parseJson(joined))) {
      return this.add("split", joined);
    }
    for (const { kind, quotation } of block) this.add(kind, quotation);
  }

  #line(kind: Kind, text: string, quotation = text): void {
    const mayBegin = kind === "no JSON" && /^\s*\{/.test(text);
    if (this.#block.length === 0 && !mayBegin) return this.add(kind, quotation);
    this.#block.push({ kind, text, quotation });
    this.#blockLength += text.length;
    if (this.#blockLength > MAX_SEARCHED) this.endBlock();
  }
}

/** What was written in place of a JSON object. */
function kindOf(text: string, value: unknown): Kind {
  if (typeof value === "string" && value.trimStart().startsWith("{")) {
    return "encoded twice";
  }
  if (value !== undefined) return "no object";
  if (text.length > MAX_SEARCHED) return "no JSON";
  if (text.includes("\r")) return "CR";
  if (/^\s*\{\s*'/.test(text)) return "single quotes";
  const withNull = text.replace(
    /("(?:[^"\\]|\\.)*"?)|-?\b(?:NaN|Infinity)\b/g,
    (_, string?: string) => string ?? "null",
  );
  const isMeant = withNull !== text && isJsonObject(parseJson(withNull));
  return isMeant ? "NaN" : "no JSON";
}
