import { startTimeout } from "../io.ts";
import { type Key, press } from "./key.ts";
import { KeyParser } from "./key_parser.ts";

/** The longest wait for the rest of a sequence after an Escape, in milliseconds. */
const ESCAPE_TIMEOUT = 50;

/** How long an Escape changes the meaning of the next key, in milliseconds. */
const ESCAPE_LIMIT = 1_000;

/** A Ctrl-C that comes alone after so many milliseconds ends a paste without an end. */
const PASTE_TIMEOUT = 1_000;

interface TimedKeysOptions {
  readonly onKey: (key: Key) => void;
  /** Called after the keys of each read. */
  readonly onPause: () => void;
  /**
   * Whether the terminal marks pastes. If not, an Enter with text after it in one read
   * is taken for a line of a paste.
   */
  readonly marksPastes: boolean;
}

/** Text that was typed, or a paste, which more of the same kind may follow. */
interface Gathered {
  readonly first: Exclude<Key, { readonly kind: "press" }>;
  readonly parts: string[];
}

/**
 * The keys in what a terminal sends, where time decides what they are:
 *
 * - An Escape that nothing follows for 50 ms is the Escape key.
 * - Within a second after it, Enter is `alt-enter`, and a second Escape is
 *   `escape-escape`, until {@linkcode forgetEscape} is called.
 * - A Ctrl-C that comes alone, a second after anything else, ends a paste whose end
 *   was lost.
 *
 * Text of several reads is one key, so that a large paste is one change.
 */
export class TimedKeys {
  readonly #options: TimedKeysOptions;
  #parser = new KeyParser();
  #gathered: Gathered | undefined;
  #stopEscape = () => {};
  /** When the last key was pressed, if it was Escape. */
  #escapedAt = -Infinity;
  #readAt = -Infinity;

  constructor(options: TimedKeysOptions) {
    this.#options = options;
  }

  read(bytes: Uint8Array): void {
    this.#stopEscape();
    const now = performance.now();
    const isAfterPause = now - this.#readAt >= PASTE_TIMEOUT;
    if (isAfterPause && isCtrlC(bytes)) this.#parser = new KeyParser();
    this.#readAt = now;
    this.#handle(this.#joined(this.#parser.feed(bytes)));
    if (this.#parser.isAmbiguous) {
      this.#stopEscape = startTimeout(ESCAPE_TIMEOUT, () => {
        this.#handle(this.#parser.flush());
        this.#options.onPause();
      });
    }
    this.#options.onPause();
  }

  /** Hands over the text that was read last. */
  flush(): void {
    if (this.#gathered === undefined) return;
    const { first, parts } = this.#gathered;
    this.#gathered = undefined;
    this.#escapedAt = -Infinity;
    this.#options.onKey({ ...first, text: parts.join("") });
  }

  /** Called after an Escape that had an effect: the next key keeps its own meaning. */
  forgetEscape(): void {
    this.#escapedAt = -Infinity;
  }

  /** From now on, keys come only from a {@linkcode read}. */
  stop(): void {
    this.#stopEscape();
  }

  /** The keys of one read, in which an Enter with text after it may be pasted. */
  #joined(keys: readonly Key[]): readonly Key[] {
    if (this.#options.marksPastes) return keys;
    const end = keys.findLastIndex(({ kind }) => kind === "text");
    return keys.map((key, i) => i < end && isEnter(key) ? NEW_LINE : key);
  }

  #handle(keys: readonly Key[]): void {
    for (const key of keys) {
      if (key.kind === "press") {
        this.flush();
        this.#press(key.name);
      } else {
        this.#gather(key);
      }
    }
  }

  #gather(key: Gathered["first"]): void {
    const isNext = key.kind === this.#gathered?.first.kind &&
      (key.kind === "text" || key.isContinued);
    if (!isNext) this.flush();
    this.#gathered ??= { first: key, parts: [] };
    this.#gathered.parts.push(key.text);
  }

  #press(name: string): void {
    const now = performance.now();
    const isAfterEscape = now - this.#escapedAt < ESCAPE_LIMIT;
    this.#escapedAt = name === "escape" ? now : -Infinity;
    const meaning = isAfterEscape ? AFTER_ESCAPE[name] ?? name : name;
    this.#options.onKey(press(meaning));
  }
}

const NEW_LINE = press("ctrl-j");

function isEnter(key: Key): boolean {
  return key.kind === "press" && key.name === "enter";
}

/** The most bytes that any terminal sends for a Ctrl-C. */
const MAX_CTRL_C_BYTES = 32;

/** Whether the bytes of a read are Ctrl-C and nothing else. */
function isCtrlC(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_CTRL_C_BYTES) return false;
  const [key, ...others] = new KeyParser().feed(bytes);
  const isPressed = key?.kind === "press" && key.name === "ctrl-c";
  return isPressed && others.length === 0;
}

/** What keys are within a second after Escape. */
const AFTER_ESCAPE: Readonly<Record<string, string>> = {
  enter: "alt-enter",
  escape: "escape-escape",
};
