/**
 * The source text of a value within JSON, for numbers that `JSON.parse()` rounds.
 *
 * @module
 */

/** A bracket, a comma, the start of a string, or a number or literal. */
const TOKEN = /[{}[\],"]|[^\s{}[\],":]+/g;

/**
 * Finds a number or literal in a JSON object by the keys that lead to it, in
 * linear time and without recursion.
 *
 * @param json A valid JSON object.
 * @param path The keys, from the outermost object inwards.
 * @returns The source text of the value; `undefined` if there is none. If a key
 * occurs twice, the last one counts, as for `JSON.parse()`.
 */
export function sourceAt(
  json: string,
  path: readonly string[],
): string | undefined {
  const token = new RegExp(TOKEN);
  let found: string | undefined;
  let depth = 0; // of the open brackets
  let matched = 0; // how many of the open brackets are objects on the path
  let key: string | undefined; // the current key of the innermost object on the path
  for (;;) {
    const match = token.exec(json);
    if (match === null) return found;
    const [word] = match;
    const isHere = depth === matched; // directly in an object on the path
    const isValue = word !== "," && word !== "}" && word !== "]";
    const isMeant = isHere && isValue &&
      (depth === 0 || key === path[depth - 1]);
    if (isMeant) found = undefined; // an earlier value does not count
    if (word === '"') {
      const end = endOfString(json, match.index);
      if (isHere && key === undefined) {
        key = JSON.parse(json.slice(match.index, end));
      }
      token.lastIndex = end;
    } else if (word === "{" || word === "[") {
      if (isMeant && word === "{" && depth < path.length) {
        matched++;
        key = undefined;
      }
      depth++;
    } else if (word === "}" || word === "]") {
      depth--;
      matched = Math.min(matched, depth);
    } else if (word === ",") {
      if (isHere) key = undefined;
    } else if (isMeant && depth === path.length) {
      found = word;
    }
  }
}

/** The position after the string that starts at a position. */
function endOfString(json: string, start: number): number {
  for (let end = start;;) {
    end = json.indexOf('"', end + 1);
    let backslashes = 0;
    while (json[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
}
