/**
 * Which events of a run were delivered, by their ids.
 *
 * @module
 */

/** How many ids are remembered. */
const LIMIT = 10_000;

/** The hashes that space is set aside for at first: most runs have few events. */
const CAPACITY = 64;

/** Remembers the last 10,000 ids, in at most 80 KB until it is asked about one. */
export class DeliveredIds {
  #hashes = new Float64Array(CAPACITY);
  #count = 0; // of all that were ever added
  #remembered: Set<number> | undefined; // made when it is needed: few streams break

  /** Remembers an id, and forgets the one 10,000 before. */
  add(id: string): void {
    const hash = hashOf(id);
    const place = this.#count % LIMIT;
    this.#count++;
    if (place === this.#hashes.length) {
      const more = new Float64Array(Math.min(2 * place, LIMIT));
      more.set(this.#hashes);
      this.#hashes = more;
    }
    if (this.#remembered !== undefined) {
      if (this.#count > LIMIT) {
        this.#remembered.delete(this.#hashes[place] ?? 0);
      }
      this.#remembered.add(hash);
    }
    this.#hashes[place] = hash;
  }

  /** Whether an id is remembered. */
  has(id: string): boolean {
    this.#remembered ??= new Set(this.#hashes.subarray(0, this.#count));
    return this.#remembered.has(hashOf(id));
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
