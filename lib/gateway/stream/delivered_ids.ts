/**
 * The ids of the events of a run that were delivered.
 *
 * @module
 */

/** How many ids are remembered. */
const LIMIT = 10_000;

/** The initial capacity: most runs have few events. */
const CAPACITY = 64;

/**
 * Remembers the last 10,000 ids that were delivered on earlier connections. It
 * takes at most 80 KB until the first lookup.
 */
export class DeliveredIds {
  #hashes = new Float64Array(CAPACITY);
  #count = 0; // of all ids that were ever added
  #earlier: Set<number> | undefined; // created at the first lookup: few streams break

  /** Begins a connection: all ids added so far belong to earlier ones. */
  connect(): void {
    this.#earlier = undefined;
  }

  /** Adds an id, and forgets the id that was added 10,000 ids earlier. */
  add(id: string): void {
    const place = this.#count++ % LIMIT;
    if (place === this.#hashes.length) {
      const more = new Float64Array(Math.min(2 * place, LIMIT));
      more.set(this.#hashes);
      this.#hashes = more;
    }
    this.#hashes[place] = hashOf(id);
  }

  /**
   * Whether an id was delivered on an earlier connection. Call it for each id of
   * a connection before adding the id.
   *
   * Ids of the current connection do not count. If they did, a service that
   * repeats more than 10,000 events would push out ids that are still to come.
   */
  has(id: string): boolean {
    this.#earlier ??= new Set(this.#hashes.subarray(0, this.#count));
    return this.#earlier.has(hashOf(id));
  }
}

/**
 * A 53-bit hash of a text. The probability that a new id collides with one of
 * 10,000 others is 10^-12.
 */
function hashOf(text: string): number {
  // Two FNV-1a hashes with different primes. The low bits of a product depend on
  // the low bits of its factors alone, so the high bits of the second hash are
  // used.
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b);
  }
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}
