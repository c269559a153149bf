// The grammar of `@std/dotenv` 0.225.6, which is not on npm. The package
// `dotenv` reads other values in a few cases, and would bring file system,
// operating system and cryptography into the bundle.
const ASSIGNMENT =
  /^\s*(?:export\s+)?([^\s=#]+?)\s*=[ \t]*(?:'\r?\n?((?:[^'\r\u2028\u2029]|\r\n)*?)\r?\n?'|"\r?\n?((?:[^"\r\u2028\u2029]|\r\n)*?)\r?\n?"|([^\r\n#]*)).*$/gm;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const ESCAPED: Readonly<Record<string, string>> = {
  "\\n": "\n",
  "\\r": "\r",
  "\\t": "\t",
};

/** Parses the text of a `.env` file, without expanding `$NAME`. */
export function parse(text: string): Record<string, string> {
  const env: Record<string, string> = Object.create(null);
  for (
    const [, name = "", raw, quoted, bare = ""] of text.matchAll(ASSIGNMENT)
  ) {
    if (!NAME.test(name)) continue;
    env[name] = raw ??
      quoted?.replace(/\\[nrt]/g, (s) => ESCAPED[s] ?? s) ??
      bare.trim();
  }
  return env;
}
