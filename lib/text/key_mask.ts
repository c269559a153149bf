/**
 * Masks the key for display (interface 5.5): the first and the last four
 * characters; `****` for a key of eight characters or fewer, `undefined` for an
 * empty one.
 */
export function maskKey(key: string): string {
  if (key === "") return "undefined";
  if (key.length <= 8) return "****";
  return `${key.slice(0, 4)}...${key.slice(-4)}`;
}
