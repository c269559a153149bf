import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { styleMarkdown } from "../../lib/markdown.ts";

/** The sequences that may be added: a reset, then the attributes. */
const SGR = RegExp("\x1b\\[0(?:;(?:[1-49]|31|32|36))*m", "g");

/** The SGR parameters of attributes, with their letters in this test. */
const LETTERS: Readonly<Record<string, string>> = {
  "1": "b", // bold
  "2": "d", // dim: markup
  "3": "i", // italic
  "4": "u", // underlined
  "9": "s", // struck through
  "31": "r", // red
  "32": "g", // green
  "36": "c", // cyan
};

/** A styled text, in which `{bu:...}` is bold and underlined text. */
function show(markdown: string): string {
  const parts = RegExp("\x1b\\[0;([\\d;]+)m([^\x1b]*)", "g");
  return Array.from(styleMarkdown(markdown)).join("")
    .replace(parts, (_, parameters: string, text: string) => {
      const letters = parameters.split(";").map((code) => LETTERS[code]);
      return `{${letters.join("")}:${text}}`;
    })
    .replaceAll("\x1b[0m", "");
}

/** Texts and how they are shown, by subject. */
const STYLES: Readonly<Record<string, readonly (readonly [string, string])[]>> =
  {
    "headings": [
      ["# One", "{d:#} {bu:One}"],
      ["## Two *b*", "{d:##} {b:Two }{d:*}{bi:b}{d:*}"],
      ["   ###### Six", "   {d:######} {b:Six}"],
      ["#", "{d:#}"],
      ["#hashtag", "#hashtag"],
      ["####### seven", "####### seven"],
      ["text\n# One", "text\n{d:#} {bu:One}"],
    ],
    "underlined headings": [
      ["One *b*\n===\na", "{bu:One }{d:*}{biu:b}{d:*}\n{d:===}\na"],
      ["Two\n --  \n", "{b:Two}\n{d: --  }\n"],
      ["One\n===\n===\n\n=", "{bu:One}\n{d:===}\n===\n\n="],
      ["a\n==x\n\nb\n    =", "a\n==x\n\nb\n    ="],
      ["> a\n=", "{g:>} a\n="],
      ["# One\n=", "{d:#} {bu:One}\n="],
    ],
    "emphasis": [
      ["*a* _b_", "{d:*}{i:a}{d:*} {d:_}{i:b}{d:_}"],
      ["**a** __b__", "{d:**}{b:a}{d:**} {d:__}{b:b}{d:__}"],
      ["***a***", "{d:***}{bi:a}{d:***}"],
      ["**a *b* c**", "{d:**}{b:a }{d:*}{bi:b}{d:*}{b: c}{d:**}"],
      ["*a **b***", "{d:*}{i:a }{d:**}{bi:b}{d:***}"],
      ["***a** b*", "{d:***}{bi:a}{d:**}{i: b}{d:*}"],
      ["*a **b* c**", "{d:*}{i:a **b}{d:*} c**"],
      ["*a *b*", "*a {d:*}{i:b}{d:*}"],
      ["a*b*c snake_case_name", "a{d:*}{i:b}{d:*}c snake_case_name"],
      ["2*(3+4)*5", "2*(3+4)*5"],
      ["*a **b _c 2 * 3 * 4", "*a **b _c 2 * 3 * 4"],
      ["\\*a\\* ****b****", "\\*a\\* ****b****"],
      ["*a\nb*", "*a\nb*"],
      ["“*a*” *日本*", "“{d:*}{i:a}{d:*}” {d:*}{i:日本}{d:*}"],
    ],
    "strike-through": [
      ["~~a *b*~~ c", "{d:~~}{s:a }{d:*}{is:b}{d:*~~} c"],
      ["**a ~~b~~**", "{d:**}{b:a }{d:~~}{bs:b}{d:~~**}"],
      ["~a~ ~~~b~~~ ~~ c ~~ ~~d", "~a~ ~~~b~~~ ~~ c ~~ ~~d"],
    ],
    "the signs of code spans": [
      ["`a *b*` **`c`**", "{c:`}a *b*{c:`} {d:**}{c:`}{b:c}{c:`}{d:**}"],
      ["`` a ` b ``", "{c:``} a ` b {c:``}"],
      ["`a\\` b` \\`c`", "{c:`}a\\{c:`} b{c:`} \\{c:`}c`"],
      ["*a `b* c` ``d ` e", "*a {c:`}b* c{c:`} ``d ` e"],
    ],
    "the signs of links": [
      ["[a *b*](c)", "{d:[}{u:a }{d:*}{iu:b}{d:*](c)}"],
      [
        '[a](b "c") [d](<e f>)',
        '{d:[}{u:a}{d:](b "c")} {d:[}{u:d}{d:](<e f>)}',
      ],
      ["[a](b_(c)_d)", "{d:[}{u:a}{d:](b_(c)_d)}"],
      ["[![a](b)](c)", "{d:[![}{u:a}{d:](b)](c)}"],
      ["[a [b](c) d](e)", "[a {d:[}{u:b}{d:](c)} d](e)"],
      ["*a [b* c](d)", "*a {d:[}{u:b* c}{d:](d)}"],
      ["*a [1] b*", "{d:*}{i:a [1] b}{d:*}"],
      ["[a] (b) [c](d e) [f](g [ ] task", "[a] (b) [c](d e) [f](g [ ] task"],
    ],
    "URLs": [
      ["https://a.example/b_c_d, e", "{u:https://a.example/b_c_d}, e"],
      ["(http://a.example/b_(c)).", "({u:http://a.example/b_(c)})."],
      ["**https://a.example**", "{d:**}{bu:https://a.example}{d:**}"],
      ["<https://a.example>", "<{u:https://a.example}>"],
      ["xhttps://a https:// http", "xhttps://a https:// http"],
    ],
    "the fences of code": [
      ["```js\n*a*\n\n```\n*b*", "{c:```}js\n*a*\n\n{c:```}\n{d:*}{i:b}{d:*}"],
      ["~~~\n```\n~~\n~~~~", "{c:~~~}\n```\n~~\n{c:~~~~}"],
      ["````\n```\n```` a\n````", "{c:````}\n```\n```` a\n{c:````}"],
      ["``` a ```", "{c:```} a {c:```}"],
      ["text\n```\n*a*", "text\n{c:```}\n*a*"],
      ["- ```\n  *a*\n  ```\n- b", "{c:-} {c:```}\n  *a*\n{c:  ```}\n{c:-} b"],
      ["> ```\n> *a*\n*b*", "{g:>} {c:```}\n{g:>} *a*\n{d:*}{i:b}{d:*}"],
    ],
    "diffs": [
      [
        "```diff\n-a\n+b\n c\n +\n@@\n```\n+d",
        "{c:```}diff\n{r:-a}\n{g:+b}\n c\n +\n@@\n{c:```}\n+d",
      ],
      ["~~~ Patch x\n+a", "{c:~~~} Patch x\n{g:+a}"],
      ["```different\n+a", "{c:```}different\n+a"],
      ["- ```diff\n  -a\n   -b", "{c:-} {c:```}diff\n{r:  -a}\n   -b"],
      ["> ```diff\n> +a", "{g:>} {c:```}diff\n{g:>} {g:+a}"],
    ],
    "of indented lines fences and signs of lists alone": [
      ["    *a*\n\n\t# *b*\n    ---", "    *a*\n\n\t# *b*\n    ---"],
      [
        "1. a\n\n    ```\n    b\n    ```",
        "{c:1.} a\n\n    {c:```}\n    b\n{c:    ```}",
      ],
      ["- a\n    - *b*", "{c:-} a\n    {c:-} {d:*}{i:b}{d:*}"],
    ],
    "the signs of lists": [
      ["- a\n+ *b*\n* c", "{c:-} a\n{c:+} {d:*}{i:b}{d:*}\n{c:*} c"],
      ["- a\n  1. b\n     - c", "{c:-} a\n  {c:1.} b\n     {c:-} c"],
      ["- 1) a\n-", "{c:-} {c:1)} a\n{c:-}"],
      ["-a 1.a\n1234567890. a", "-a 1.a\n1234567890. a"],
    ],
    "the signs of quotes": [
      ["> a *b*\nc", "{g:>} a {d:*}{i:b}{d:*}\nc"],
      [">> a\n> - b", "{g:>>} a\n{g:>} {c:-} b"],
      ["- > # a", "{c:-} {g:>} {d:#} {bu:a}"],
    ],
    "thematic breaks": [
      ["---\n* * *\n___", "{d:---}\n{d:* * *}\n{d:___}"],
      ["- a\n---", "{c:-} a\n{d:---}"],
      ["--\n-*-", "--\n-*-"],
    ],
    "nothing else": [
      ["a | b\n<b>c</b> &amp;", "a | b\n<b>c</b> &amp;"],
      ["", ""],
      [" \t\n\n", " \t\n\n"],
    ],
  };

for (const [topic, examples] of Object.entries(STYLES)) {
  Deno.test(`styleMarkdown() styles ${topic}`, () => {
    for (const [markdown, shown] of examples) {
      assertEquals(show(markdown), shown, JSON.stringify(markdown));
    }
  });
}

/** Characters with a meaning in Markdown, and characters that affect them. */
const PIECES = [
  ...["*", "**", "_", "__", "`", "``", "```", "~~", "~~~", "```diff\n", "+"],
  ...["[", "![", "](", ")", "]", "<", ">", "https://", "(", '"', "'", "\\"],
  ...["#", "# ", "> ", "- ", "1. ", "---", "===", "\n", "\n\n", " ", "    "],
  ...["\t", "a", "b.", "é", "日本", "👩‍💻", "\ud83d", "\u00a0", "\u2028", "{"],
  ...["0m", "[0m", "|", "&amp;"],
];

const markdown = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...PIECES) },
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }).map((text) => text.replaceAll("\x1b", "")),
  ),
  { maxLength: 60 },
).map((pieces) => pieces.join(""));

Deno.test("styleMarkdown() adds SGR sequences alone, and none is on at the end of a line", () => {
  fc.assert(
    fc.property(markdown, (text) => {
      let stripped = "";
      for (const line of styleMarkdown(text)) {
        const plain = line.replace(SGR, "");
        const last = line.match(SGR)?.at(-1) ?? "\x1b[0m";
        assertEquals([plain.includes("\x1b"), last], [false, "\x1b[0m"]);
        stripped += plain;
      }
      assertEquals(stripped, text);
    }),
    { numRuns: 2000 },
  );
});

const words = fc.constantFrom("a", "b c", "日本", "x_y", "2 * 3", "(d)", "e!");

/** The signs around a style, and its letter; code has none. */
const style = fc.constantFrom(
  ...[["**", "**", "b"], ["__", "__", "b"], ["*", "*", "i"], ["_", "_", "i"]],
  ...[["~~", "~~", "s"], ["`", "`", ""], [
    "[",
    "](https://a.example/b_c)",
    "u",
  ]],
);

Deno.test("styleMarkdown() styles what people write, one style within another", () => {
  fc.assert(fc.property(style, style, words, (outer, inner, text) => {
    const [open = "", close = "", a = ""] = outer;
    const [innerOpen = "", innerClose = "", b = ""] = inner;
    fc.pre(open !== "`" && a !== b);
    const part = (letters: string, text: string) =>
      letters === "" ? text : `{${letters}:${text}}`;
    const both = [..."bius"].filter((letter) => (a + b).includes(letter));
    const sign = innerOpen === "`" ? "c" : "d";
    assertEquals(
      show(
        `${text} ${open}${text} ${innerOpen}${text}${innerClose} z${close}.`,
      ),
      `${text} {d:${open}}${part(a, `${text} `)}{${sign}:${innerOpen}}` +
        part(both.join(""), text) +
        `{${sign}:${innerClose}}${part(a, " z")}{d:${close}}.`,
    );
  }));
});

/** Texts that take more than linear time in a parser that scans back or ahead. */
const HOSTILE = [
  ...["*", "a*", "*a ", "a* ", "_a *b ", "_*a_*", "a**b*", "~~a ", "`", "` "],
  ...["[", "[]", "]", "[a](", '[a](b "', "[a](<b", "![a](b)", "<a:", "\\"],
  ...["https://a.b,", "https://", "https://a(", "#", "~", " ", "\t"],
  ...[">", "> ", "- ", "- * ", "1. ", '](a "', "](a '", "](", "](b(c", "](<"],
];

/** Runs of backticks of which no two have the same length. */
const RISING_BACKTICKS = Array.from(Array(170), (_, i) => "`".repeat(i + 1))
  .join(" ");

/** The longest line whose inline Markdown is styled. */
const LONG = 16 * 1024;

/** Openers without a closer, and closers of another kind. */
const UNPAIRED = "_a ".repeat(2_700) + "b* ".repeat(2_700);

/** Repeats a text up to a length. */
function fill(text: string, length: number): string {
  return text.repeat(Math.max(Math.floor(length / text.length), 1));
}

/** The kinds of lines that contain the hostile text. */
const SHAPES: Readonly<Record<string, (text: string) => string>> = {
  "on one line": (text) => fill(text, 1_000_000),
  "on long lines": (text) => fill(`${fill(text, LONG)}\n`, 8 * LONG),
  "on lines of their own": (text) => fill(`${text}\n`, 8 * LONG),
  "on lines in deep containers": (text) =>
    `${"> - ".repeat(30)}a\n${fill(`${"> ".repeat(60)}${text}\n`, 8 * LONG)}`,
};

for (const [shape, repeat] of Object.entries(SHAPES)) {
  Deno.test(`styleMarkdown() takes linear time for hostile text ${shape}`, () => {
    for (const text of [...HOSTILE, RISING_BACKTICKS, UNPAIRED]) {
      const long = repeat(text);
      let length = 0;
      for (const line of styleMarkdown(long)) {
        length += line.replace(SGR, "").length;
      }
      assertEquals(length, long.length);
    }
  });
}

Deno.test("styleMarkdown() styles the inline Markdown of a line of up to 16,384 characters", () => {
  const longest = `*a* ${"b".repeat(LONG - 4)}`;
  assertEquals(show(longest).startsWith("{d:*}{i:a}{d:*} b"), true);
  assertEquals(show(`${longest}b`), `${longest}b`);
});

Deno.test("styleMarkdown() colours the first 32 signs of quotes and lists of a line", () => {
  assertEquals(show(">".repeat(33)), `{g:${">".repeat(32)}}>`);
});
