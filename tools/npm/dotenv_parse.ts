// Replaces `@std/dotenv` 0.225.6, which is not on npm, for what the program lets it
// parse: one assignment on one line. (The package `dotenv` would bring file system,
// operating system and cryptography into the bundle.)
const ASSIGNMENT = /^(\w+)=(?:'(.*)'|"(.*)"|(.*))$/;

const ESCAPED: Readonly<Record<string, string>> = {
  "\\n": "\n",
  "\\r": "\r",
  "\\t": "\t",
};

/** Parses an assignment, without expanding `$NAME`. */
export function parse(line: string): Record<string, string> {
  const match = ASSIGNMENT.exec(line);
  if (match === null) throw new Error("This is not one assignment on one line");
  const [, name = "", raw, quoted, bare = ""] = match;
  const text = quoted?.replace(/\\[nrt]/g, (escape) => ESCAPED[escape] ?? "");
  return { [name]: raw ?? text ?? bare.trim() };
}
