// The grammar of `@std/dotenv`. The package `dotenv` reads the same files, but
// would bring file system, operating system and cryptography into the bundle.
const ASSIGNMENT =
  /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=[ \t]*(?:'\r?\n?([^']*?)\r?\n?'|"\r?\n?([^"]*?)\r?\n?"|([^\r\n#]*)).*$/gm;

const ESCAPED: Readonly<Record<string, string>> = {
  "\\n": "\n",
  "\\r": "\r",
  "\\t": "\t",
};

/** Parses the text of a `.env` file, without expanding `$NAME`. */
export function parse(text: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (
    const [, name = "", raw, quoted, bare = ""] of text.matchAll(ASSIGNMENT)
  ) {
    env[name] = raw ??
      (quoted ?? bare.trim()).replace(/\\[nrt]/g, (s) => ESCAPED[s] ?? s);
  }
  return env;
}
