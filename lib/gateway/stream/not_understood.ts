import {
  counted,
  isJsonObject,
  joinSafe,
  parseJson,
  type Redacted,
  type Redactor,
  safe,
} from "../../text.ts";

/** The most characters that are quoted of a line. */
const MAX_QUOTED = 80;

/** The most names of events that are quoted. */
const MAX_NAMES = 3;

/** The longest text that is searched for what was meant, in UTF-16 code units. */
const MAX_SEARCHED = 64 * 1024;

/**
 * For each kind: the noun that is counted (empty if nothing is), its verb, and the fault;
 * the fault's plural comes last where it differs.
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
  "no object": ["data: line", "was", "no JSON object"],
  "no data": ["line", "had", 'no "data:" before it', 'no "data:" before them'],
  "no node": ["progress event", "had", "no string as node or status"],
} as const;

type Kind = keyof typeof WORDS;

function wordsAbout(kind: Kind, count: number): Redacted {
  const [noun, verb, one, several = one] = WORDS[kind];
  if (noun === "") return safe`${one}`;
  const predicate = verb === "was" && count > 1 ? "were" : verb;
  const rest = count > 1 ? several : one;
  return safe`${counted(count, noun)} ${predicate} ${rest}`;
}

interface Tally {
  count: number;
  /** The start of the first line, or names, safe to show, by what they were. */
  readonly quotations: Map<string, Redacted>;
}

/**
 * What came on one connection of a stream and was not understood: how many lines of
 * what kind, and how the first of each begins. None of it changes what is read.
 */
export class NotUnderstood {
  readonly #redactor: Redactor;
  readonly #found = new Map<Kind, Tally>();
  /** Lines of a block that may be the JSON of one object, each with a newline. */
  #block = "";

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  get isEmpty(): boolean {
    return this.#found.size === 0;
  }

  /** What came, without the service's own words: nothing of a prompt or a reply. */
  get summary(): Redacted {
    const words = Array.from(
      this.#found,
      ([kind, { count }]) => wordsAbout(kind, count),
    );
    return joinSafe(words, "; ");
  }

  /** What came, with how it begins: `2 events were not known: "completed"`. */
  get words(): Redacted {
    const words = Array.from(this.#found, ([kind, { count, quotations }]) => {
      const quoted = joinSafe([...quotations.values()], ", ");
      const isFirst = quoted !== "" && count > 1 && kind !== "unknown name";
      const which = isFirst ? ", the first" : "";
      const about = safe`${wordsAbout(kind, count)}${which}`;
      return joinSafe([about, quoted], ": ");
    });
    return joinSafe(words, "; ");
  }

  /** Takes note of something, by what is to be quoted of it. */
  add(kind: Kind, quotation: string): void {
    const found = this.#found.get(kind) ??
      { count: 0, quotations: new Map() };
    this.#found.set(kind, found);
    found.count++;
    const { quotations } = found;
    const isName = kind === "unknown name";
    const most = isName ? MAX_NAMES : 1;
    if (quotations.size === most || quotations.has(quotation)) return;
    const start = this.#redactor.show(quotation, MAX_QUOTED);
    const shown = isName ? safe`"${start}"` : start;
    // A long text is not kept.
    quotations.set(quotation.length > MAX_QUOTED ? shown : quotation, shown);
  }

  /** A line `data:` that is no event of a run, and its value if it is JSON. */
  data(text: string, value: unknown): void {
    if (text.trim() === "") return; // Some services keep streams alive so.
    const name = isJsonObject(value) && value.event;
    if (typeof name === "string") return this.add("unknown name", name);
    const kind = kindOf(text, value);
    const mayBeSplit = kind === "no object" &&
      (this.#block !== "" || /^\s*\{/.test(text));
    if (!mayBeSplit) return this.add(kind, text);
    this.#block += `${text}\n`;
    if (this.#block.length > MAX_SEARCHED) this.endBlock();
  }

  /** A whole body that is a JSON object in place of a stream. */
  body(text: string): void {
    this.#found.clear();
    this.add("body", text);
  }

  endBlock(): void {
    const block = this.#block;
    if (block === "") return;
    this.#block = "";
    if (isJsonObject(parseJson(block))) return this.add("split", block);
    for (const line of block.trimEnd().split("\n")) this.add("no object", line);
  }
}

function kindOf(text: string, value: unknown): Kind {
  if (isJsonObject(value)) return "no name";
  if (typeof value === "string" && value.trimStart().startsWith("{")) {
    return "encoded twice";
  }
  if (value !== undefined || text.length > MAX_SEARCHED) return "no object";
  const withNull = text.replace(
    /("(?:[^"\\]|\\.)*"?)|-?\b(?:NaN|Infinity)\b/g,
    (_, string?: string) => string ?? "null",
  );
  const isMeant = withNull !== text && isJsonObject(parseJson(withNull));
  return isMeant ? "NaN" : "no object";
}
