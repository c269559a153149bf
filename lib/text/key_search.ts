/**
 * Finds the API key in text from outside.
 *
 * A service may echo the key escaped for JSON, HTML or a URL, partly or wholly,
 * and escaped several times. All escapes in the text and in the key are decoded
 * until none is left; then every spelling of the key has the same characters.
 *
 * @module
 */

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&excl;": "!",
  "&num;": "#",
  "&dollar;": "$",
  "&percnt;": "%",
  "&lpar;": "(",
  "&rpar;": ")",
  "&ast;": "*",
  "&plus;": "+",
  "&comma;": ",",
  "&period;": ".",
  "&sol;": "/",
  "&colon;": ":",
  "&semi;": ";",
  "&equals;": "=",
  "&quest;": "?",
  "&commat;": "@",
  "&lsqb;": "[",
  "&lbrack;": "[",
  "&bsol;": "\\",
  "&rsqb;": "]",
  "&rbrack;": "]",
  "&hat;": "^",
  "&lowbar;": "_",
  "&grave;": "`",
  "&lcub;": "{",
  "&lbrace;": "{",
  "&verbar;": "|",
  "&vert;": "|",
  "&rcub;": "}",
  "&rbrace;": "}",
};

/** The length of the longest escape: `&#x00027;`. */
const MAX_ESCAPE_LENGTH = 9;

/** The beginning of every escape. A backslash alone counts as an escape, too. */
const ESCAPE_START = /[%&\\]|u00/;

const ESCAPE_AT_END =
  /(?:%([\da-f]{2})|u00([\da-f]{2})|&#x([\da-f]{1,5});|&#(\d{1,6});|(&[a-z]{2,6};))$/;

/**
 * Whether the key occurs in a text: in plain, or partly or wholly escaped for
 * JSON, HTML or a URL, in upper or lower case. Takes linear time in the length of
 * the text and of the key, whatever they hold.
 *
 * @param text Any text.
 * @param key Printable ASCII, not empty.
 */
export function holdsKey(text: string, key: string): boolean {
  const [plain, sought] = [text.toLowerCase(), key.toLowerCase()];
  // The plain text is searched too: characters next to the key can look like an escape.
  if (contains(plain.split(""), sought.split(""))) return true;
  const isEscaped = ESCAPE_START.test(plain) || ESCAPE_START.test(sought);
  return isEscaped && contains(decode(plain), decode(sought));
}

/**
 * The characters of a text in lower case, without backslashes and with every
 * escape of printable ASCII decoded, including escapes that appear by decoding.
 * The order of decoding does not matter, because no two escapes overlap.
 */
function decode(text: string): readonly string[] {
  const characters: string[] = [];
  for (const unit of text.split("")) {
    let next: string | undefined = unit;
    while (next !== undefined && next !== "\\") {
      characters.push(next);
      next = takeEscape(characters);
    }
  }
  return characters;
}

/** Removes an escape from the end of the characters and returns what it encodes. */
function takeEscape(characters: string[]): string | undefined {
  if (!/[\da-f;]/.test(characters.at(-1) ?? "")) return undefined;
  const match = ESCAPE_AT_END.exec(
    characters.slice(-MAX_ESCAPE_LENGTH).join(""),
  );
  if (match === null) return undefined;
  const [{ length }, url, json, hex, decimal, entity] = match;
  const digits = url ?? json ?? hex;
  const character = entity !== undefined
    ? ENTITIES[entity]
    : printable(Number.parseInt(digits ?? decimal ?? "", digits ? 16 : 10));
  if (character !== undefined) characters.length -= length;
  return character;
}

/** The character with this code in lower case, if it can occur in a key. */
function printable(code: number): string | undefined {
  if (code <= 0x20 || code >= 0x7f) return undefined;
  return String.fromCharCode(code).toLowerCase();
}

/** Whether a pattern occurs in a text (Knuth-Morris-Pratt: `includes()` is not linear). */
function contains(
  text: readonly string[],
  pattern: readonly string[],
): boolean {
  if (pattern.length === 0) return false;
  // For each prefix of the pattern, its longest proper prefix that is also its suffix.
  const borders = [0];
  const advance = (matched: number, value: string | undefined) => {
    let length = matched;
    while (length > 0 && pattern[length] !== value) {
      length = borders[length - 1] ?? 0;
    }
    return pattern[length] === value ? length + 1 : 0;
  };
  for (let index = 1; index < pattern.length; index++) {
    borders.push(advance(borders[index - 1] ?? 0, pattern[index]));
  }
  let matched = 0;
  for (const value of text) {
    matched = advance(matched, value);
    if (matched === pattern.length) return true;
  }
  return false;
}
