/**
 * Masks the API key, and finds it in text from outside.
 *
 * A service may echo the key escaped for a programming language, HTML or a URL,
 * partly or wholly, several times over, and with white space in between. The text
 * and the key are decoded until nothing changes; then every spelling of the key
 * has the same characters.
 *
 * @module
 */

/**
 * Characters that a key may hold, each with its names in HTML, in lower case. Under the
 * empty character are the names of white space and invisible characters.
 */
const NAMES = {
  ...{ "!": "excl", '"': "quot", "#": "num", "$": "dollar", "%": "percnt" },
  ...{ "&": "amp", "'": "apos", "(": "lpar", ")": "rpar", "*": "ast midast" },
  ...{ "+": "plus", ",": "comma", ".": "period", "/": "sol", ":": "colon" },
  ...{ ";": "semi", "<": "lt", "=": "equals", ">": "gt", "?": "quest" },
  ...{ "@": "commat", "[": "lsqb lbrack", "\\": "bsol", "]": "rsqb rbrack" },
  ...{ "^": "hat", "_": "lowbar underbar", "`": "grave diacriticalgrave" },
  ...{ "{": "lcub lbrace", "|": "verbar vert verticalline", fj: "fjlig" },
  "}": "rcub rbrace",
  "": "tab newline nobreak shy lrm rlm zwj zwnj nbsp nonbreakingspace ensp " +
    "emsp emsp13 emsp14 numsp puncsp thinsp thinspace hairsp verythinspace " +
    "mediumspace thickspace zerowidthspace negativethinspace " +
    "negativemediumspace negativethickspace negativeverythinspace",
};

/** White space, and characters that are invisible. */
const GAPS = /[\s\p{Default_Ignorable_Code_Point}]+/gu;

const NEXT = String.raw`%[89ab][\da-f]`; // a further byte of a character
const URL_ESCAPE = String
  .raw`(?<utf8>%(?:[cd][\da-f]|e[\da-f]${NEXT}|f[\da-f]${NEXT}${NEXT})${NEXT})|%(?<hex>[\da-f]{2})`;
const HEX = String
  .raw`(?:u(?<hex>[\da-f]{4})|u\{(?<hex>[\da-f]+)\}|x(?<hex>[\da-f]{2}))`;

/**
 * The characters by their names in HTML, and two patterns of escapes. A text is decoded
 * once with each. The first pattern finds the key in every mixture of spellings: its
 * escapes cannot overlap, and it drops backslashes. The second one has escapes that can
 * overlap: references without a semicolon, octal numbers, and `U` with eight digits.
 */
function makeTables() {
  const characters = new Map(
    Object.entries(NAMES).flatMap(([character, names]) =>
      names.split(" ").map((name) => [name, character] as const)
    ),
  );
  const names = [...characters.keys()].sort((a, b) => b.length - a.length);
  const name = `(?<name>${names.join("|")})`;
  const html = String
    .raw`&(?:#(?<decimal>\d+)|#x(?<hex>[\da-f]+)|${name})`;
  const escapes = [
    String.raw`\\+|${URL_ESCAPE}|${HEX}|${html};`,
    String
      .raw`\\+(?:U(?<hex>[\da-f]{8})|${HEX}|(?<octal>[0-7]{1,3}))?|${URL_ESCAPE}|${html};?`,
  ].map((source) => new RegExp(source, "gi"));
  return { characters, escapes };
}

/** Made when they are needed, not at the start. */
let tables: ReturnType<typeof makeTables> | undefined;

/**
 * Decoding does not change a text without a match, such as most ids and keys. This
 * saves 1 ms at the first id: that long the patterns of escapes take to compile.
 */
const MAY_CHANGE = /[^\x21-\x7e]|[%&\\]|x[\da-f]{2}|u(?:[\da-f]{4}|\{)/i;

/** How often a text is decoded at most. One that still changes then is not shown. */
const MAX_LEVELS = 8;

/** The fewest characters of the key that count at the end of a text that was cut. */
const MIN_START = 4;

/** The beginning of an escape at the end of a text that was cut. */
const CUT_ESCAPE = /(?:%[\da-f]?|&#?\w{0,32}|\\+[\w{]{0,9})$/i;

/** The longest beginning of an escape, in UTF-16 code units. */
const CUT_LENGTH = 64;

/**
 * Whether the key occurs in a text: in plain, or partly or wholly escaped for
 * JSON, JavaScript, C, HTML or a URL, in upper or lower case, with white space or
 * invisible characters in between. Takes linear time in the length of the text
 * and of the key, whatever they hold.
 *
 * @param text Any text.
 * @param key Printable ASCII, not empty.
 * @param isCut Whether the text was cut at its end, where four characters of the
 * key or more count, too.
 */
export function holdsKey(text: string, key: string, isCut = false): boolean {
  const whole = isCut
    ? text.slice(0, -CUT_LENGTH) +
      text.slice(-CUT_LENGTH).replace(CUT_ESCAPE, "")
    : text;
  if (contains(text, key, isCut) || contains(whole, key, isCut)) return true;
  if (![whole, key].some((text) => MAY_CHANGE.test(text))) return false;
  tables ??= makeTables();
  return tables.escapes.some((escape) => {
    const [decoded, sought] = [decode(whole, escape), decode(key, escape)];
    return decoded === undefined || contains(decoded, sought ?? key, isCut);
  });
}

/** What is shown in place of a text that holds the key. */
const LEFT_OUT = "left out, because it holds the API key";

/** Replaces a text as a whole by a note, if {@linkcode holdsKey} finds the key in it. */
export function withoutKey(text: string, key: string, isCut: boolean): string {
  return holdsKey(text, key, isCut) ? LEFT_OUT : text;
}

/** Decodes escapes until nothing changes; `undefined` if that takes too often. */
function decode(text: string, escape: RegExp): string | undefined {
  let decoded = text.replace(GAPS, "");
  for (let level = 0; level < MAX_LEVELS; level++) {
    const before = decoded;
    decoded = before.replace(escape, decodeOne).replace(GAPS, "");
    if (decoded === before) return decoded;
  }
  return undefined;
}

/** The character of a key that an escape stands for; the escape for others. */
function decodeOne(escape: string, ...rest: unknown[]): string {
  const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
  const { name, decimal, octal, hex, utf8 } = groups;
  if (utf8 !== undefined) return isGap(decodeUtf8(utf8)) ? "" : escape;
  if (name !== undefined) {
    return tables?.characters.get(name.toLowerCase()) ?? escape;
  }
  const digits = decimal ?? octal ?? hex;
  if (digits === undefined) return ""; // a backslash
  const radix = decimal !== undefined ? 10 : octal !== undefined ? 8 : 16;
  const code = Number.parseInt(digits, radix);
  if (code > 0x20 && code < 0x7f) return String.fromCharCode(code);
  return code <= 0x10ffff && isGap(String.fromCodePoint(code)) ? "" : escape;
}

function isGap(text: string): boolean {
  return text.replace(GAPS, "") === "";
}

/** Decodes the bytes of one character; returns the escape if they are not UTF-8. */
function decodeUtf8(escape: string): string {
  try {
    return decodeURIComponent(escape);
  } catch {
    return escape;
  }
}

/** Whether a key occurs in a text (Knuth-Morris-Pratt: `includes()` is not linear). */
function contains(text: string, key: string, isCut: boolean): boolean {
  const pattern = key.toLowerCase();
  if (pattern === "") return false;
  // For each prefix of the pattern, its longest proper prefix that is also its suffix.
  const borders = [0];
  const advance = (matched: number, character: string | undefined) => {
    let length = matched;
    while (length > 0 && pattern[length] !== character) {
      length = borders[length - 1] ?? 0;
    }
    return pattern[length] === character ? length + 1 : 0;
  };
  for (let index = 1; index < pattern.length; index++) {
    borders.push(advance(borders[index - 1] ?? 0, pattern[index]));
  }
  let matched = 0;
  for (const character of text.toLowerCase()) {
    matched = advance(matched, character);
    if (matched === pattern.length) return true;
  }
  return isCut && matched >= MIN_START;
}

/**
 * Masks the key for display (interface 5.5): only its first and last four characters
 * are shown. A key of eight characters or fewer becomes `****`, and an empty one the
 * word `undefined`.
 */
export function maskKey(key: string): string {
  if (key === "") return "undefined";
  if (key.length <= 8) return "****";
  return `${key.slice(0, 4)}...${key.slice(-4)}`;
}
