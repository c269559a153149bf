import { assertEquals } from "@std/assert";
import { styleMarkdown } from "../../lib/markdown.ts";
import fc, { anyCodePoint } from "../support/generated.ts";

/** The sequences that may be added, with their letters in this test. */
const LETTERS: Readonly<Record<string, string>> = {
  "\x1b[1m": "{b:", // bold
  "\x1b[3m": "{i:", // italic
  "\x1b[22m": "}",
  "\x1b[23m": "}",
};

const SGR = RegExp("\x1b\\[(?:[13]|22|23)m", "g");

/** A styled text, in which `{b:...}` is bold text. */
function show(markdown: string): string {
  return Array.from(styleMarkdown(markdown)).join("")
    .replace(SGR, (sequence) => LETTERS[sequence] ?? "");
}

/** Texts and how they are shown, by subject. */
const STYLES: Readonly<Record<string, readonly (readonly [string, string])[]>> =
  {
    "headings": [
      ["# One\n  ###### Six *a*", "{b:# One}\n{b:  ###### Six *a*}"],
      ["#\n#hashtag\n####### seven", "{b:#}\n#hashtag\n####### seven"],
    ],
    "bold text and italics": [
      ["**a b** *c*", "{b:**a b**} {i:*c*}"],
      ["(**a**), *b*.", "({b:**a**}), {i:*b*}."],
      ["**a**b *日本*", "{b:**a**}b {i:*日本*}"],
      ["**`a`**: *b `c* d`", "{b:**`a`**}: *b {b:`}c* d{b:`}"],
      ["2 * 3 * 4*5*6 2**3 ** a **", "2 * 3 * 4*5*6 2**3 ** a **"],
      ["\\*a\\* \\**b* ****c**** *a\nb*", "\\*a\\* \\**b* ****c**** *a\nb*"],
    ],
    "the markers of code spans": [
      ["`a *b*` ``c``", "{b:`}a *b*{b:`} {b:``}c{b:``}"],
      ["`C:\\` `a", "{b:`}C:\\{b:`} `a"],
    ],
    "the markers of quotes and lists": [
      [
        "- a\n  1. b\n* c\n+ *d*",
        "{b:-} a\n{b:  1.} b\n{b:*} c\n{b:+} {i:*d*}",
      ],
      ["> a\n>> b\n> - c\n-", "{b:>} a\n{b:>>} b\n{b:> -} c\n{b:-}"],
      ["-a 1.a\n1234567890. a\na > b", "-a 1.a\n1234567890. a\na > b"],
    ],
    "the fences of code": [
      ["```js\n*a*\n# b\n``` \n*c*", "{b:```js}\n*a*\n# b\n{b:``` }\n{i:*c*}"],
      ["~~~\n```\n~~\n~~~~", "{b:~~~}\n```\n~~\n{b:~~~~}"],
      ["````\n```\n```` a\n````", "{b:````}\n```\n```` a\n{b:````}"],
      [
        "> ```\n> *a*\n> ```\n``` a ```",
        "{b:> ```}\n> *a*\n{b:> ```}\n{b:```} a {b:```}",
      ],
    ],
    "the changed lines of diffs": [
      [
        "```diff\n-a\n+b\n +c\n@@\n```\n+d",
        "{b:```diff}\n{b:-a}\n{b:+b}\n +c\n@@\n{b:```}\n+d",
      ],
      ["  ~~~ Patch x\n  +a\n   +b", "{b:  ~~~ Patch x}\n{b:  +a}\n   +b"],
      ["```different\n+a", "{b:```different}\n+a"],
    ],
    "nothing else": [
      ["a | b\n<b>c</b> [d](e) ~~f~~", "a | b\n<b>c</b> [d](e) ~~f~~"],
      ["_a_ __b__\n---\n \t\n\n", "_a_ __b__\n---\n \t\n\n"],
    ],
  };

for (const [topic, examples] of Object.entries(STYLES)) {
  Deno.test(`styleMarkdown() styles ${topic}`, () => {
    for (const [markdown, shown] of examples) {
      assertEquals(show(markdown), shown, JSON.stringify(markdown));
    }
  });
}

Deno.test("styleMarkdown() leaves a line of more than 4 KiB as it is", () => {
  const longest = `**a** ${"b".repeat(4 * 1024 - 6)}`;
  assertEquals(show(longest).startsWith("{b:**a**} b"), true);
  assertEquals(show(`${longest}b\n# c`), `${longest}b\n{b:# c}`);
});

/** Characters with a meaning in Markdown, and characters that affect them. */
const PIECES = [
  ...["*", "**", "`", "``", "```", "~~~", "```diff\n", "+", "\\", "#", "# "],
  ...["> ", "- ", "1. ", "\n", "\n\n", " ", "    ", "\t", "a", "b.", "日本"],
  ...["👩‍💻", "\ud83d", "\u00a0", "\u2028", "{", "0m", "[0m"],
];

const markdown = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...PIECES) },
    fc.string({ unit: anyCodePoint }).map((text) =>
      text.replaceAll("\x1b", "")
    ),
  ),
  { maxLength: 60 },
).map((pieces) => pieces.join(""));

Deno.test("styleMarkdown() adds SGR sequences alone, and none is on at the end of a line", () => {
  fc.assert(
    fc.property(markdown, (text) => {
      let stripped = "";
      for (const line of styleMarkdown(text)) {
        const ends = line.match(SGR)?.map((sequence) => LETTERS[sequence]) ??
          [];
        let open = 0;
        for (const end of ends) open += end === "}" ? -1 : 1;
        const plain = line.replace(SGR, "");
        assertEquals([plain.includes("\x1b"), open], [false, 0]);
        stripped += plain;
      }
      assertEquals(stripped, text);
    }),
    { numRuns: 2000 },
  );
});

/** Texts that take more than linear time in a parser that scans back or ahead. */
const HOSTILE = [
  ...["*", "a*", " *a", "**a ", "**a  ", "*a `", "`", "` ", "``a`", "~", " "],
  ...[">", "> ", "- ", "- * ", "1. ", "\t", "#", "\\*", "``` a"],
];

Deno.test("styleMarkdown() takes linear time for hostile text", () => {
  for (const text of HOSTILE) {
    const line = text.repeat(4 * 1024 / text.length);
    const lines = `${line}\n`.repeat(256);
    const long = lines + text.repeat(1_000_000 / text.length);
    let length = 0;
    for (const line of styleMarkdown(long)) {
      length += line.replace(SGR, "").length;
    }
    assertEquals(length, long.length);
  }
});
