/** Notifies tasks that wait for a change. A change that nobody waits for is not kept. */
export class Notifier {
  /** Created by the first task that waits: most changes have none. */
  #change: PromiseWithResolvers<void> | undefined;

  /** Resolves at the next {@linkcode notify}. */
  get next(): Promise<void> {
    this.#change ??= Promise.withResolvers();
    return this.#change.promise;
  }

  /** Wakes the tasks that are waiting. */
  notify(): void {
    this.#change?.resolve();
    this.#change = undefined;
  }
}
