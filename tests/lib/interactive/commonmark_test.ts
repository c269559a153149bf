import { assertEquals } from "@std/assert";
import { Parser } from "commonmark";
import fc from "fast-check";
import { styleMarkdown } from "../../../lib/interactive/markdown.ts";

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
