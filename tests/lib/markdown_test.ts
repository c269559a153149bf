import { assertEquals } from "@std/assert";
import { styleMarkdown } from "../../lib/markdown.ts";
import fc, { anyCodePoint } from "../support/generated.ts";
import { shownText } from "../support/texts.ts";

/** The sequences that may be added, with their letters in this test. */
const LETTERS: Readonly<Record<string, string>> = {
  "\x1b[1m": "{b:", // bold
  "\x1b[3m": "{i:", // italic
  "\x1b[31m": "{r:", // red
  "\x1b[32m": "{g:", // green
  "\x1b[36m": "{c:", // cyan
  "\x1b[22m": "}",
  "\x1b[23m": "}",
  "\x1b[39m": "}",
};

const SGR = RegExp("\x1b\\[(?:[13]|2[23]|3[1269])m", "g");

/** A styled text, in which `{b:...}` is bold text. */
function show(markdown: string): string {
  return Array.from(styleMarkdown(shownText(markdown))).join("")
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
      ["**`a`**: *b `c* d`", "{b:**`a`**}: *b {c:`}c* d{c:`}"],
      ["2 * 3 * 4*5*6 2**3 ** a **", "2 * 3 * 4*5*6 2**3 ** a **"],
      ["\\*a\\* \\**b* ****c**** *a\nb*", "\\*a\\* \\**b* ****c**** *a\nb*"],
    ],
    "the markers of code spans": [
      ["`a *b*` ``c``", "{c:`}a *b*{c:`} {c:``}c{c:``}"],
      ["`C:\\` `a", "{c:`}C:\\{c:`} `a"],
    ],
    "the markers of quotes and lists": [
      [
        "- a\n  1. b\n* c\n+ *d*",
        "{c:-} a\n{c:  1.} b\n{c:*} c\n{c:+} {i:*d*}",
      ],
      ["> a\n>> b\n> - c\n-", "{c:>} a\n{c:>>} b\n{c:> -} c\n{c:-}"],
      ["-a 1.a\n1234567890. a\na > b", "-a 1.a\n1234567890. a\na > b"],
    ],
    "the fences of code": [
      ["```js\n*a*\n# b\n``` \n*c*", "{c:```}js\n*a*\n# b\n{c:```} \n{i:*c*}"],
      ["~~~\n```\n~~\n~~~~", "{c:~~~}\n```\n~~\n{c:~~~~}"],
      ["````\n```\n```` a\n````", "{c:````}\n```\n```` a\n{c:````}"],
      [
        "> ```\n> *a*\n> ```\n``` a ```",
        "> {c:```}\n> *a*\n> {c:```}\n{c:```} a {c:```}",
      ],
    ],
    "diffs as git does": [
      [
        "```diff\n-a\n+b\n +c\n d\n```\n+d",
        "{c:```}diff\n{r:-a}\n{g:+b}\n +c\n d\n{c:```}\n+d",
      ],
      [
        "~~~diff\ndiff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n---y\n~~~",
        "{c:~~~}diff\n{b:diff --git a/x b/x}\n{b:index 1..2}\n{b:--- a/x}\n" +
        "{b:+++ b/x}\n{r:---y}\n{c:~~~}",
      ],
      [
        "~~~diff\n@@ -1,2 +1,2 @@ f() {\n@@\n a @@\n~~~",
        "{c:~~~}diff\n{c:@@ -1,2 +1,2 @@} f() {\n{c:@@}\n a @@\n{c:~~~}",
      ],
      ["  ~~~ Patch x\n  +a\n   +b", "  {c:~~~} Patch x\n  {g:+a}\n   +b"],
      ["> ```diff\n> -a\n> ```", "> {c:```}diff\n> {r:-a}\n> {c:```}"],
      ["```different\n+a", "{c:```}different\n+a"],
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
  ...[
    "@@",
    "--- ",
    "*",
    "**",
    "`",
    "``",
    "```",
    "~~~",
    "```diff\n",
    "+",
    "\\",
    "#",
    "# ",
  ],
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
    fc.property(markdown, (source) => {
      const text = shownText(source);
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
      assertEquals<string>(stripped, text);
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
    for (const line of styleMarkdown(shownText(long))) {
      length += line.replace(SGR, "").length;
    }
    assertEquals(length, long.length);
  }
});
