/**
 * Which events of a run were delivered, by their ids.
 *
 * @module
 */

/** How many ids are remembered. */
const LIMIT = 10_000;

/** The hashes that space is set aside for at first: most runs have few events. */
const CAPACITY = 64;

/**
 * Remembers the last 10,000 ids that were delivered on earlier connections, in at
 * most 80 KB until it is asked about one.
 */
export class DeliveredIds {
  #hashes = new Float64Array(CAPACITY);
  #count = 0; // of all that were ever added
  #earlier: Set<number> | undefined; // made when it is needed: few streams break

  /** Begins a connection: what was added so far is of an earlier one. */
  connect(): void {
    this.#earlier = undefined;
  }

  /** Adds an id, and forgets the one 10,000 before. */
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
   * Whether an id was delivered on an earlier connection. To be asked about each id
   * of a connection before it is added.
   *
   * Those of the same connection are left out: when a service sends more than
   * 10,000 events again, each one that was forgotten would make it forget another.
   */
  has(id: string): boolean {
    this.#earlier ??= new Set(this.#hashes.subarray(0, this.#count));
    return this.#earlier.has(hashOf(id));
  }
}

/**
 * 53 bits of a text: of 10,000 ids, one more looks like one of them with a
 * probability of 10^-12.
 */
function hashOf(text: string): number {
  // Two FNV-1a hashes with different primes. The low bits of a product depend on
  // the low bits of its factors alone, so the second one gives its high bits.
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b);
  }
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}
