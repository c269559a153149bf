/** Wakes everybody who waits for a change. */
export class Signal {
  /** Made when somebody waits: most changes are not waited for. */
  #change: PromiseWithResolvers<void> | undefined;

  /** Resolves at the next {@linkcode send}. */
  get next(): Promise<void> {
    this.#change ??= Promise.withResolvers();
    return this.#change.promise;
  }

  /** Wakes all that wait now. */
  send(): void {
    this.#change?.resolve();
    this.#change = undefined;
  }
}
