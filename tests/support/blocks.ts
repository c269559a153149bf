/**
 * Texts by what comes of them: each block is a line, and below it the texts, indented by
 * two spaces. All have JSON's escapes, so a raw template without backticks and `${` can
 * hold any.
 *
 * @example
 * ```ts
 * blocksOf("even\n  2\n  4\nodd\n  1"); // [["even", ["2", "4"]], ["odd", ["1"]]]
 * ```
 */
export function blocksOf(
  table: string,
): readonly (readonly [string, readonly string[]])[] {
  const unescape = (text: string): string =>
    JSON.parse(`"${text.replaceAll('"', '\\"')}"`);
  return table.trim().split(/\n(?! )/).map((block) => {
    const [outcome = "", ...texts] = block.split(/\n {2}/).map(unescape);
    return [outcome, texts];
  });
}
