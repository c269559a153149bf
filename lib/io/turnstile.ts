/** Lets one holder in at a time, in the order of the calls. */
export class Turnstile {
  /** Resolves when the last holder has left. */
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn, which lasts until it is disposed of. */
  async enter(): Promise<Disposable> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return { [Symbol.dispose]: () => resolve() };
  }
}
