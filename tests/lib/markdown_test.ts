import { assertEquals } from "@std/assert";
import { styleMarkdown } from "../../lib/markdown.ts";
import { blocksOf } from "../support/blocks.ts";
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

/** Texts as they are shown, and below each its Markdown; `'` stands for a backtick. */
const STYLES = String.raw`
{b:# One}\n{b:  ###### Six *a*}
  # One\n  ###### Six *a*
{b:#}\n#hashtag\n####### seven
  #\n#hashtag\n####### seven
{b:**a b**} {i:*c*}
  **a b** *c*
({b:**a**}), {i:*b*}.
  (**a**), *b*.
{b:**a**}b {i:*日本*}
  **a**b *日本*
{b:**'a'**}: *b {c:'}c* d{c:'}
  **'a'**: *b 'c* d'
2 * 3 * 4*5*6 2**3 ** a **
  2 * 3 * 4*5*6 2**3 ** a **
\\*a\\* \\**b* ****c**** *a\nb*
  \\*a\\* \\**b* ****c**** *a\nb*
{c:'}a *b*{c:'} {c:''}c{c:''}
  'a *b*' ''c''
{c:'}C:\\{c:'} 'a
  'C:\\' 'a
{c:-} a\n{c:  1.} b\n{c:*} c\n{c:+} {i:*d*}
  - a\n  1. b\n* c\n+ *d*
{c:>} a\n{c:>>} b\n{c:> -} c\n{c:-}
  > a\n>> b\n> - c\n-
-a 1.a\n1234567890. a\na > b
  -a 1.a\n1234567890. a\na > b
{c:'''}js\n*a*\n# b\n{c:'''} \n{i:*c*}
  '''js\n*a*\n# b\n''' \n*c*
{c:~~~}\n'''\n~~\n{c:~~~~}
  ~~~\n'''\n~~\n~~~~
{c:''''}\n'''\n'''' a\n{c:''''}
  ''''\n'''\n'''' a\n''''
> {c:'''}\n> *a*\n> {c:'''}\n{c:'''} a {c:'''}
  > '''\n> *a*\n> '''\n''' a '''
{c:'''}diff\n{r:-a}\n{g:+b}\n +c\n d\n{c:'''}\n+d
  '''diff\n-a\n+b\n +c\n d\n'''\n+d
{c:~~~}diff\n{b:diff --git a/x b/x}\n{b:index 1..2}\n{b:--- a/x}\n{b:+++ b/x}\n{r:---y}\n{c:~~~}
  ~~~diff\ndiff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n---y\n~~~
{c:~~~}diff\n{c:@@ -1,2 +1,2 @@} f() {\n{c:@@}\n a @@\n{c:~~~}
  ~~~diff\n@@ -1,2 +1,2 @@ f() {\n@@\n a @@\n~~~
\u0020 {c:~~~} Patch x\n  {g:+a}\n   +b
  \u0020 ~~~ Patch x\n  +a\n   +b
> {c:'''}diff\n> {r:-a}\n> {c:'''}
  > '''diff\n> -a\n> '''
{c:'''}different\n+a
  '''different\n+a
a | b\n<b>c</b> [d](e) ~~f~~
  a | b\n<b>c</b> [d](e) ~~f~~
_a_ __b__\n---\n \t\n\n
  _a_ __b__\n---\n \t\n\n
`.replaceAll("'", "`");

Deno.test("styleMarkdown() styles headings, emphasis, markers and diffs, and nothing else", () => {
  for (const [shown, [markdown = ""]] of blocksOf(STYLES)) {
    assertEquals(show(markdown), shown, JSON.stringify(markdown));
  }
});

Deno.test("styleMarkdown() leaves a line of more than 4 KiB as it is", () => {
  const longest = `**a** ${"b".repeat(4 * 1024 - 6)}`;
  assertEquals(show(longest).startsWith("{b:**a**} b"), true);
  assertEquals(show(`${longest}b\n# c`), `${longest}b\n{b:# c}`);
});

/** Characters with a meaning in Markdown, and characters that affect them. */
const PIECES = [
  ..."@@ * ** ` `` ``` ~~~ + \\ # \t a b. 日本 👩‍💻 { 0m [0m".split(" "),
  ...["--- ", "```diff\n", "# ", "> ", "- ", "1. ", "\n", "\n\n", " "],
  ...["    ", "\ud83d", "\u00a0", "\u2028"],
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
