/**
 * A 53-bit hash of a text. The probability that a new text collides with one of
 * 10,000 others is 10^-12.
 */
export function hashText(text: string): number {
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
