import type { Redacted } from "../text.ts";

/** A text, which may have several lines, or one that cannot be used, and why. */
export type Entry =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refused"; readonly reason: Redacted };

/** An entry, or the end of the input, which Ctrl-D is, too. */
export type Input = Entry | { readonly kind: "end" };

/**
 * What a user has entered ahead: entries wait here, in order, until a reader asks for
 * the next one.
 */
export class InputQueue {
  readonly #waiting: Entry[] = [];
  /** The reader that waits for the next input. */
  #reader: PromiseWithResolvers<Input> | undefined;
  /** Set when no entry can be added any more: by the user, or for good. */
  #end: "user" | "final" | undefined;
  /** Why the input ended for good, if it failed. */
  #error: unknown;

  get waiting(): readonly Entry[] {
    return this.#waiting;
  }

  /** Whether a reader waits for the next input. */
  get isAwaited(): boolean {
    return this.#reader !== undefined;
  }

  /** Whether it was ended by {@linkcode end}. */
  get isEnding(): boolean {
    return this.#end === "user";
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Delivers an entry to the reader that waits, or else to the next one. */
  add(entry: Entry): void {
    if (this.hasEnded) return;
    if (this.isAwaited) this.#settle(entry);
    else this.#waiting.push(entry);
  }

  /** Ends the input as a user does: {@linkcode dropWaiting} drops this end, too. */
  end(): void {
    this.#endAs("user");
  }

  /** Ends the input for good. */
  close(): void {
    this.#endAs("final");
  }

  /** Ends the input for good. Readers get the error after the entries that wait. */
  fail(error: unknown): void {
    this.#error = error;
    this.#endAs("final");
  }

  /** Asks for the next input. After the end, it is the end again. */
  next(): Promise<Input> {
    this.#reader ??= Promise.withResolvers();
    const { promise } = this.#reader;
    const entry = this.#waiting.shift();
    if (entry !== undefined || this.hasEnded) this.#settle(entry);
    return promise;
  }

  /** Takes back the end of {@linkcode end}: entries can be added again. */
  reopen(): void {
    if (this.isEnding) this.#end = undefined;
  }

  /** Removes the entry that was added last, if it waits. */
  takeLast(): Entry | undefined {
    return this.#waiting.pop();
  }

  /** Drops the entries that wait, and returns their number. */
  dropWaiting(): number {
    const count = this.#waiting.length;
    this.#waiting.length = 0;
    this.reopen();
    return count;
  }

  #endAs(end: "user" | "final"): void {
    if (this.#end === "final") return;
    this.#end = end;
    this.#settle();
  }

  /** Gives the reader an entry, or the end. */
  #settle(entry?: Entry): void {
    const failed = entry === undefined && this.#error !== undefined;
    if (failed) this.#reader?.reject(this.#error);
    else this.#reader?.resolve(entry ?? { kind: "end" });
    this.#reader = undefined;
  }
}
