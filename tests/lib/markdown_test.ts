import { assertEquals } from "@std/assert";
import { Parser } from "commonmark";
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
      [" Two\n   --  \n", " {b:Two}\n   {d:--  }\n"],
      ["- a\n\nb\n--", "{b:-} a\n\n{b:b}\n{d:--}"],
      ["One\n===\n===", "{bu:One}\n{d:===}\n==="],
      ["a\nb\n===\n\n===", "a\nb\n===\n\n==="],
      ["a\n==x\n\nb\n    =", "a\n==x\n\nb\n    ="],
      ["> a\n=", "{dg:>} {g:a}\n{g:=}"],
      ["    a\n=\n# One\n=", "    {c:a}\n=\n{d:#} {bu:One}\n="],
      ["```\na\n===\n```", "{d:```}\n{c:a}\n{c:===}\n{d:```}"],
    ],
    "emphasis": [
      ["*a* _b_", "{d:*}{i:a}{d:*} {d:_}{i:b}{d:_}"],
      ["**a** __b__", "{d:**}{b:a}{d:**} {d:__}{b:b}{d:__}"],
      ["***a***", "{d:***}{bi:a}{d:***}"],
      ["**a *b* c**", "{d:**}{b:a }{d:*}{bi:b}{d:*}{b: c}{d:**}"],
      ["*a **b***", "{d:*}{i:a }{d:**}{bi:b}{d:***}"],
      ["a*b*c snake_case_name", "a{d:*}{i:b}{d:*}c snake_case_name"],
      ["**a*", "*{d:*}{i:a}{d:*}"],
      ["*a", "*a"],
      ["2 * 3 * 4", "2 * 3 * 4"],
      ["\\*a\\*", "\\*a\\*"],
      ["*a\nb*", "*a\nb*"],
      ["“*a*”", "“{d:*}{i:a}{d:*}”"],
      ["*日本*", "{d:*}{i:日本}{d:*}"],
      ["*👩‍💻*", "{d:*}{i:👩‍💻}{d:*}"],
    ],
    "strike-through": [
      ["~~a *b*~~ c", "{d:~~}{s:a }{d:*}{is:b}{d:*~~} c"],
      ["**a ~~b~~**", "{d:**}{b:a }{d:~~}{bs:b}{d:~~**}"],
      ["a~~b~~c", "a{d:~~}{s:b}{d:~~}c"],
      ["~~a **b~~ c**", "{d:~~}{s:a **b}{d:~~} c**"],
      ["~a~ ~~~b~~~ ~~ c ~~ ~~d", "~a~ ~~~b~~~ ~~ c ~~ ~~d"],
    ],
    "code spans": [
      ["`a *b*`", "{d:`}{c:a *b*}{d:`}"],
      ["`` a ` b ``", "{d:``}{c: a ` b }{d:``}"],
      ["`a\\` b`", "{d:`}{c:a\\}{d:`} b`"],
      ["\\`a`", "\\`a`"],
      ["*a `b* c`", "*a {d:`}{c:b* c}{d:`}"],
      ["`a ``b`` c", "`a {d:``}{c:b}{d:``} c"],
      ["``a ` b", "``a ` b"],
      ["`(]é``.``[*`` b``", "`(]é{d:``}{c:.}{d:``}[*{d:``}{c: b}{d:``}"],
    ],
    "links": [
      ["[a](b)", "{d:[}{u:a}{d:](b)}"],
      ["[a *b*](c)", "{d:[}{u:a }{d:*}{iu:b}{d:*](c)}"],
      [
        '[a](b "c") [d](<e f>)',
        '{d:[}{u:a}{d:](b "c")} {d:[}{u:d}{d:](<e f>)}',
      ],
      ["[a](b_(c)_d)", "{d:[}{u:a}{d:](b_(c)_d)}"],
      ["![a](b)", "{d:![}{u:a}{d:](b)}"],
      ["[![a](b)](c)", "{d:[![}{u:a}{d:](b)](c)}"],
      ["[a [b](c) d](e)", "[a {d:[}{u:b}{d:](c)} d](e)"],
      ["*a [b* c](d)", "*a {d:[}{u:b* c}{d:](d)}"],
      ["[a] (b) [c](d e) [f](g", "[a] (b) [c](d e) [f](g"],
      ["[ ] task", "[ ] task"],
      ["<https://a.example/*b*>", "{u:<https://a.example/*b*>}"],
      ["a < b > c <d>", "a < b > c <d>"],
    ],
    "URLs": [
      ["https://a.example/b_c_d, e", "{u:https://a.example/b_c_d}, e"],
      ["(http://a.example/b_(c)).", "({u:http://a.example/b_(c)})."],
      ["**https://a.example**", "{d:**}{bu:https://a.example}{d:**}"],
      ["[https://a](https://a)", "{d:[}{u:https://a}{d:](https://a)}"],
      ["xhttps://a https:// http", "xhttps://a https:// http"],
    ],
    "fenced code": [
      [
        "```js\n*a*\n\n```\n*b*",
        "{d:```js}\n{c:*a*}\n\n{d:```}\n{d:*}{i:b}{d:*}",
      ],
      ["~~~\n```\n~~~~", "{d:~~~}\n{c:```}\n{d:~~~~}"],
      ["````\n```\n````", "{d:````}\n{c:```}\n{d:````}"],
      ["```\n``` a", "{d:```}\n{c:``` a}"],
      ["``` a ```", "{d:```}{c: a }{d:```}"],
      ["text\n```\na", "text\n{d:```}\n{c:a}"],
      [
        "- ```\n  a\n  ```\n*b*",
        "{b:-} {d:```}\n  {c:a}\n  {d:```}\n{d:*}{i:b}{d:*}",
      ],
      ["- ```\n  a\n*b*", "{b:-} {d:```}\n  {c:a}\n{d:*}{i:b}{d:*}"],
      ["> ```\n> a\nb", "{dg:>} {d:```}\n{dg:>} {gc:a}\nb"],
    ],
    "diffs": [
      [
        "```diff\n-a\n+b\n c\n +\n@@\n```\n+d",
        "{d:```diff}\n{r:-a}\n{g:+b}\n {c:c}\n {c:+}\n{c:@@}\n{d:```}\n+d",
      ],
      ["~~~ Patch x\n+a", "{d:~~~ Patch x}\n{g:+a}"],
      ["```different\n+a", "{d:```different}\n{c:+a}"],
      ["- ```diff\n  -a", "{b:-} {d:```diff}\n  {r:-a}"],
    ],
    "indented code": [
      ["    *a*\n\n\t*b*", "    {c:*a*}\n\n\t{c:*b*}"],
      ["a\n    *b*", "a\n    {d:*}{i:b}{d:*}"],
      ["- a\n\n      b\n\n  c", "{b:-} a\n\n      {c:b}\n\n  c"],
      ["- a\n\n    *b*", "{b:-} a\n\n    {d:*}{i:b}{d:*}"],
      ["-\ta\n\n\t*b*\n\n\t\tc", "{b:-}\ta\n\n\t{d:*}{i:b}{d:*}\n\n\t\t{c:c}"],
    ],
    "lists": [
      ["- a\n+ b\n* c", "{b:-} a\n{b:+} b\n{b:*} c"],
      ["1. a\n2) b", "{b:1.} a\n{b:2)} b"],
      ["- a\n  1. b\n     - c", "{b:-} a\n  {b:1.} b\n     {b:-} c"],
      ["- 1. a", "{b:-} {b:1.} a"],
      ["-a 1.a", "-a 1.a"],
      ["1234567890. a", "1234567890. a"],
      ["in\n1984. A year\n-\nx", "in\n1984. A year\n-\nx"],
      ["in\n1. a", "in\n{b:1.} a"],
      ["-", "{b:-}"],
    ],
    "quotes": [
      ["> a *b*", "{dg:>} {g:a }{dg:*}{ig:b}{dg:*}"],
      [">> a\n> b", "{dg:>>} {g:a}\n{dg:>} {g:b}"],
      ["> a\nb\n\nc", "{dg:>} {g:a}\n{g:b}\n\nc"],
      ["> - a", "{dg:>} {b:-} {g:a}"],
      ["- > a\n\nb", "{b:-} {dg:>} {g:a}\n\nb"],
      ["> a\n# b", "{dg:>} {g:a}\n{d:#} {bu:b}"],
    ],
    "thematic breaks": [
      ["---\n* * *\n___", "{d:---}\n{d:* * *}\n{d:___}"],
      ["- a\n---", "{b:-} a\n{d:---}"],
      ["--\n-*-", "--\n-*-"],
    ],
    "nothing else": [
      ["a | b\n<b>c</b> &amp;", "a | b\n<b>c</b> &amp;"],
      ["", ""],
      ["\n\n", "\n\n"],
      [" \t\n", " \t\n"],
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

Deno.test("styleMarkdown() yields a line at a time, so that a long text needs no second copy", () => {
  const lines = styleMarkdown("*a*\nb\n\nc");
  assertEquals(
    Array.from(lines, (line) => line.replace(SGR, "")),
    ["*a*\n", "b\n", "\n", "c"],
  );
});

/** Texts that take more than linear time in a parser that scans back or ahead. */
const HOSTILE = [
  ...["*", "a*", "*a ", "a* ", "_a *b ", "_*a_*", "a**b*", "~~a ", "`", "` "],
  ...["[", "[]", "]", "[a](", '[a](b "', "[a](<b", "![a](b)", "<a:", "\\"],
  ...["https://a.b,", "https://", "https://a(", "#", "~", " ", "\t"],
  ...[">", "> ", "- ", "- * ", "1. "],
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

Deno.test("styleMarkdown() tells 32 containers apart, and takes further markers for text", () => {
  assertEquals(show(">".repeat(33)), `{dg:${">".repeat(32)}}{g:>}`);
});

/** The part of a node of the reference implementation that this test uses. */
interface Node {
  readonly type: string;
  readonly literal: string | null;
  readonly level: number;
  walker(): {
    next(): { readonly entering: boolean; readonly node: Node } | null;
  };
}

/** The reference implementation of CommonMark, in the version of its specification. */
const reference: { parse(text: string): Node } = new Parser();

/** Each visible character that is no markup, with its attributes: `a bold italic`. */
type Cells = readonly string[];

function cellsOf(text: string, attributes: Iterable<string>): Cells {
  const suffix = Array.from(attributes).sort().map((name) => ` ${name}`);
  return Array.from(
    text.replaceAll(/\s/g, ""),
    (character) => character + suffix.join(""),
  );
}

/** The reference implementation's result for a text. */
function expected(text: string): Cells {
  const depths = new Map<string, number>();
  const cells: string[] = [];
  const walker = reference.parse(text).walker();
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const { entering, node } = step;
    const names = attributesOf(node);
    for (const name of names) {
      depths.set(name, (depths.get(name) ?? 0) + (entering ? 1 : -1));
    }
    const open = [...depths].filter(([, depth]) => depth > 0)
      .map(([name]) => name);
    if (node.type === "text") {
      cells.push(...cellsOf(node.literal ?? "", open));
    } else if (node.type === "code" || node.type === "code_block") {
      cells.push(...cellsOf(node.literal ?? "", [...open, "cyan"]));
    }
  }
  return cells;
}

/** The attributes of the text in a node. */
function attributesOf({ type, level }: Node): readonly string[] {
  switch (type) {
    case "emph":
      return ["italic"];
    case "strong":
      return ["bold"];
    case "link":
    case "image":
      return ["underlined"];
    case "block_quote":
      return ["green"];
    case "heading":
      return level === 1 ? ["bold", "underlined"] : ["bold"];
    default:
      return [];
  }
}

const NAMES: Readonly<Record<string, string>> = {
  "1": "bold",
  "3": "italic",
  "4": "underlined",
  "32": "green",
  "36": "cyan",
};

/** The result of `styleMarkdown()` for a text. */
function actual(text: string): Cells {
  const cells: string[] = [];
  for (const line of styleMarkdown(text)) {
    let before = "";
    for (
      const [, parameters = "", part = ""] of line.matchAll(
        RegExp("(?:\x1b\\[0;?([\\d;]*)m|^)([^\x1b]*)", "g"),
      )
    ) {
      const codes = parameters.split(";");
      // A list marker is bold, and has only other markers before it.
      const isListMarker = parameters === "1" &&
        /^[->+*\d.)\s]*$/.test(before);
      before += part;
      // Other markup is dim, and so are the lines around fenced code.
      if (codes.includes("2") || isListMarker) continue;
      const names = codes.flatMap((code) => NAMES[code] ?? []);
      cells.push(...cellsOf(part, names));
    }
  }
  return cells;
}

// No surrogate pairs: the reference implementation treats them as two characters.
const INLINE = [
  ...["*", "**", "*", "_", "__", "`", "``", "[", "![", "](", ")", "]", "("],
  ...["a", "b", "é", "日", " ", ".", "“"],
];

Deno.test("styleMarkdown() reads the inline Markdown of a line as the reference implementation of CommonMark does", () => {
  const pieces = fc.array(fc.constantFrom(...INLINE), { maxLength: 20 });
  fc.assert(
    fc.property(pieces, (pieces) => {
      // Between letters, so that the line is a paragraph.
      const text = `x ${pieces.join("")} x`;
      assertEquals(actual(text), expected(text), text);
    }),
    { numRuns: 5000 },
  );
});

// No backticks: in the reference implementation a code span can span lines.
const LINES = [
  ...["x", "y z", "- x", "+ y", "* z", "1. x", "2) y", "3. z", "# x", "## y"],
  ...["> x", ">y", "> > z", "> - x", "- > y", "- - z", "-   x", "-      y"],
  ...["~~~", "~~~~ x", "> ~~~", "- ~~~", "***", "> ___", "", "", ">"],
  ...["#x", "-x", "1.x", "1234567890. x", "\tx", "-\ty", ">\tz"],
];

Deno.test("styleMarkdown() reads the blocks of a text as the reference implementation of CommonMark does", () => {
  const line = fc.tuple(
    fc.constantFrom("", "", "", " ", "  ", "   ", "    ", "     ", "\t"),
    fc.constantFrom(...LINES),
  ).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      const text = lines.join("\n");
      assertEquals(actual(text), expected(text), text);
    }),
    { numRuns: 5000 },
  );
});
