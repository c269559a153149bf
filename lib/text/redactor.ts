import { shorten } from "./foreign_text.ts";
import { plainLine, plainText } from "./plain_text.ts";

/** The most UTF-16 code units that are shown by default. */
const MAX_LENGTH = 500;

/** How much of a text is looked at, in UTF-16 code units. */
const MAX_SEARCHED = 64 * 1024;

/** The shortest run of a key that is looked for in texts, in characters. */
const MIN_RUN = 8;

/** The shortest key that is looked for as a whole, in characters. */
const MIN_KEY = 6;

/**
 * How much of a run or a key is looked for: a search takes the product of both lengths.
 */
const MAX_SOUGHT = 64;

/** The fewest characters that count at the end of a text that was cut. */
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
 * encoder of JSON, HTML or URLs changes these. Of a key without a run of 8 characters it
 * looks for the key itself, as it is, if that has 6 characters. This guards against
 * echoes; a service that wants to show the key knows it.
 */
export class Redactor {
  /** The whole key; `undefined` if it is too short to be told from other words. */
  readonly #key: string | undefined;
  /** The run, in lower case; `undefined` if the key has none of 8 characters. */
  readonly #run: string | undefined;

  /** @param key Printable ASCII, not empty. */
  constructor(key: string) {
    const [longest = ""] = (key.match(/[\w-]+/g) ?? [])
      .sort((a, b) => b.length - a.length);
    this.#run = longest.length < MIN_RUN
      ? undefined
      : longest.slice(0, MAX_SOUGHT).toLowerCase();
    this.#key = key.length < MIN_KEY ? undefined : key.slice(0, MAX_SOUGHT);
  }

  /** Whether an id contains the key, as it is or as it is shown. */
  isInId(id: string): boolean {
    return this.#isIn(id) || this.#isIn(plainLine(id));
  }

  /** The name of a node or a status: left out only if it contains the whole key. */
  showName(name: string): string {
    if (this.#key === undefined) return name;
    const isLeftOut = name.includes(this.#key) ||
      plainLine(name).includes(this.#key);
    return isLeftOut ? LEFT_OUT : name;
  }

  /**
   * A text of the service, safe to show: clean, on one line of limited length, and
   * left out as a whole if it may contain the key.
   */
  show(
    text: string,
    { isCut = false, maxLength = MAX_LENGTH }: ShowOptions = {},
  ): string {
    // Cleaned first: removing characters within a key could restore the key.
    const start = shorten(text, MAX_SEARCHED);
    const plain = plainText(start.replaceAll(/\s+/g, " ")).trim();
    if (plain === "") return "";
    const mayEndInKey = isCut || start !== text;
    const isLeftOut = this.#isIn(plain) ||
      mayEndInKey && this.#beginsAtEndOf(plain);
    return isLeftOut ? LEFT_OUT : shorten(plain, maxLength);
  }

  #isIn(text: string): boolean {
    if (this.#run !== undefined) return text.toLowerCase().includes(this.#run);
    return this.#key !== undefined && text.includes(this.#key);
  }

  /** Whether a text ends with the first characters of what is looked for. */
  #beginsAtEndOf(text: string): boolean {
    const sought = this.#run ?? this.#key ?? "";
    const end = text.slice(-MAX_SOUGHT);
    const lastPart = this.#run === undefined ? end : end.toLowerCase();
    for (let length = MIN_START; length <= sought.length; length++) {
      if (lastPart.endsWith(sought.slice(0, length))) return true;
    }
    return false;
  }
}
