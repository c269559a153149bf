/**
 * Masks the API key for display (interface 5.5): only its first and last four
 * characters are shown. A key of eight characters or fewer becomes `****`, and an
 * empty one the word `undefined`.
 */
export function maskKey(key: string): string {
  if (key === "") return "undefined";
  if (key.length <= 8) return "****";
  return `${key.slice(0, 4)}...${key.slice(-4)}`;
}
