import { plainText } from "./plain_text.ts";

/** The most UTF-16 code units that are shown by default. */
const MAX_LENGTH = 500;

/** How much of a text is looked at, in UTF-16 code units. */
const MAX_SEARCHED = 64 * 1024;

/** The shortest run of a key that is looked for in texts, in characters. */
const MIN_RUN = 8;

/** How much of a run is looked for: the search takes the product of both lengths. */
const MAX_RUN = 64;

/** The fewest characters of the run that count at the end of a text that was cut. */
const MIN_START = 4;

/** What is shown in place of a text that may contain the key. */
const LEFT_OUT = "left out, because it may contain the API key";

export interface ShowOptions {
  /** Whether the text was cut at its end, where the key may have begun. */
  readonly isCut?: boolean;
  readonly maxLength?: number;
}

/**
 * Shows texts of the service without the API key.
 *
 * It looks for the key's longest run of letters, digits, `-` and `_`, in any case: no
 * encoder of JSON, HTML or URLs changes these. This guards against echoes; a service
 * that wants to show the key knows it.
 */
export class Redactor {
  readonly #key: string;
  /** The run, in lower case; `undefined` if the key has none of 8 characters. */
  readonly #run: string | undefined;

  /** @param key Printable ASCII, not empty. */
  constructor(key: string) {
    this.#key = key.toLowerCase();
    const [longest = ""] = (this.#key.match(/[\w-]+/g) ?? [])
      .sort((a, b) => b.length - a.length);
    this.#run = longest.length < MIN_RUN
      ? undefined
      : longest.slice(0, MAX_RUN);
  }

  /** Whether the key, or its run if it has one, occurs in a text. */
  isIn(text: string): boolean {
    return text.toLowerCase().includes(this.#run ?? this.#key);
  }

  /**
   * A text of the service, safe to show: clean, on one line of limited length, and
   * left out as a whole if it may contain the key. If the key has no run of 8
   * characters, every text may.
   */
  show(
    text: string,
    { isCut = false, maxLength = MAX_LENGTH }: ShowOptions = {},
  ): string {
    // Cleaned first: removing characters within a key could restore the key.
    const start = text.slice(0, MAX_SEARCHED);
    const plain = plainText(start.replaceAll(/\s+/g, " ")).trim();
    if (plain === "") return "";
    const isLeftOut = this.#run === undefined || this.isIn(plain) ||
      (isCut || start !== text) && endsWithStart(plain, this.#run);
    return isLeftOut ? LEFT_OUT : plain.slice(0, maxLength).toWellFormed();
  }
}

/** Whether a text ends with the first characters of a run, at least 4 of them. */
function endsWithStart(text: string, run: string): boolean {
  const end = text.slice(-run.length).toLowerCase();
  for (let length = MIN_START; length <= run.length; length++) {
    if (end.endsWith(run.slice(0, length))) return true;
  }
  return false;
}
