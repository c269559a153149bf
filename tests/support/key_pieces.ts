/** How many characters in a row a text has of a key, at most, in any case. */
export function longestPiece(text: string, key: string): number {
  const [lowerText, lowerKey] = [text.toLowerCase(), key.toLowerCase()];
  let longest = 0;
  for (let at = 0; at + longest < lowerKey.length; at++) {
    while (
      at + longest < lowerKey.length &&
      lowerText.includes(lowerKey.slice(at, at + longest + 1))
    ) longest++;
  }
  return longest;
}
