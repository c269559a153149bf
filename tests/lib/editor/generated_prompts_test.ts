import { assertEquals } from "@std/assert";
import fc from "../../support/generated.ts";
import { times } from "../../support/repetitions.ts";
import { fromCarets } from "../../support/scripts.ts";
import { graphemeWidth } from "../../../lib/editor/graphemes.ts";
import { KeyParser } from "../../../lib/editor/key_parser.ts";
import { Painter } from "../../../lib/editor/painter.ts";
import { NEW_STATE } from "../../../lib/editor/editor_state.ts";
import { pressKey } from "../../../lib/editor/key_commands.ts";
import { frameOf } from "../../../lib/editor/frame.ts";
import { PLAIN } from "../../../lib/text/style.ts";
import {
  Emulator,
  type Resizing,
  type Widths,
} from "../../support/terminal_emulator.ts";

/** The lines above the prompt, which must not change; no terminal cuts or wraps them. */
const ABOVE = "a1a2a3";

/** Graphemes about whose width emulators agree. */
const CERTAIN = Array.from("ab ~éжß汉字か한");

/** Graphemes of one column, of two, joined of several code points, and none. */
const GRAPHEMES = [
  ...CERTAIN,
  ...Array.from("…😀🀄\u0301\u200d\u200b\u202e\u00ad\ufe0f\u{1f3fb}"),
  ..."e\u0301 a\u0308\u0323 👍🏽 👨‍👩‍👧 🇩🇪 ❤️ 1️⃣ 가".split(" "),
  "நி", // two columns here, one by Unicode's tables
];

const KEYS = String.raw`
  ^A ^B ^D ^E ^F ^H ^K ^P ^N ^T ^U ^W ^Y ^_ ^? ^I ^R ^[^M ^[[A ^[[B ^[[C ^[[D ^[OH
  ^[[F ^[[3~ ^[[1;5D ^[[1;5C ^[b ^[f ^[d ^[^? ^[[99;99X ^[[2
`.trim().split(/\s+/).map(fromCarets);

const LOOK = { sign: "> ", style: PLAIN };

type Action =
  | { readonly input: string }
  /** The terminal is resized; the program knows it at once, or an action later. */
  | { readonly columns: number; readonly isLate: boolean };

function actions(graphemes: readonly string[]) {
  const text = (maxLength: number) =>
    fc.array(fc.constantFrom(...graphemes), { maxLength })
      .map((parts) => parts.join(""));
  const lines = fc.array(text(30), { maxLength: 6 });
  const paste = fc.tuple(lines, fc.constantFrom("\r", "\n", "\r\n")).map((
    [lines, end],
  ) => `\x1b[200~${lines.join(end)}\x1b[201~`);
  const input = fc.oneof(
    { arbitrary: text(20), weight: 4 },
    { arbitrary: fc.constantFrom(...KEYS), weight: 5 },
    { arbitrary: paste, weight: 1 },
  );
  const columns = fc.integer({ min: 2, max: 50 });
  const action: fc.Arbitrary<Action> = fc.oneof(
    { arbitrary: fc.record({ input }), weight: 10 },
    { arbitrary: fc.record({ columns, isLate: fc.boolean() }), weight: 1 },
  );
  return fc.array(action, { minLength: 1, maxLength: 16 });
}

/** Types into a prompt on an emulator, and compares the two. */
async function typeKeys(
  columns: number,
  lowRows: number,
  { widths, resizing }: { widths: Widths; resizing: Resizing },
  sequence: readonly Action[],
): Promise<void> {
  // This emulator loses the cursor when rows scroll out while it is resized.
  const isResized = sequence.some((action) => "columns" in action);
  const rows = isResized ? 500 : lowRows;
  const emulator = new Emulator(columns, rows, widths, resizing);
  const painter = new Painter((text) => emulator.write(text));
  const keys = new KeyParser();
  let editor = NEW_STATE;
  let size = { columns, rows };
  let isMoved = false;
  const draw = (above = "") => {
    if (isMoved) painter.move();
    isMoved = false;
    const frame = frameOf({ above: [], editor }, size, LOOK);
    painter.draw(frame, above);
    return frame;
  };
  let actual = size;
  draw("a1\na2\na3\n");
  for (const action of sequence) {
    if (actual !== size) {
      size = actual;
      isMoved = true;
    }
    if ("columns" in action) {
      actual = { columns: action.columns, rows };
      await emulator.resize(actual.columns, rows);
      if (!action.isLate) {
        size = actual;
        isMoved = true;
      }
    } else {
      for (const key of keys.feed(new TextEncoder().encode(action.input))) {
        editor = pressKey(editor, key).editor;
      }
    }
    draw();
  }
  size = actual;
  isMoved = isResized;
  editor = { ...editor, search: undefined };
  const { cursor, rows: drawn } = draw();
  await emulator.settled();

  const { grid, cursor: wanted } = gridOf(editor.typed, size.columns);
  const top = emulator.cursor.row - cursor.row;
  const shown = drawn.map((_, i) => emulator.cells(top + i));
  const start = wanted.row - cursor.row;
  assertEquals(shown, grid.slice(start, start + rows));
  assertEquals(emulator.cursor.column, wanted.column);
  const all = emulator.rows;
  assertEquals(all.slice(top + drawn.length).join(""), "");
  const above = all.slice(0, top).join("");
  // After a resize, copies of old frames may stay above the prompt.
  assertEquals(isResized ? above.slice(0, ABOVE.length) : above, ABOVE);
}

/** The expected cells of a prompt, computed for the whole text at once. */
function gridOf(
  { text, cursor }: { text: string; cursor: number },
  columns: number,
) {
  const indent = columns < 4 ? "" : "> ";
  const grid: string[][] = [[...indent]];
  let at = { row: 0, column: indent.length };
  let found = cursor === 0 ? at : undefined;
  for (const { segment, index } of new Intl.Segmenter().segment(text)) {
    if (segment === "\n") {
      if (index === cursor && at.column === columns) {
        grid.push([]);
        found = { row: at.row + 1, column: 0 };
        at = { row: at.row + 2, column: indent.length };
      } else {
        if (index === cursor) found = at;
        at = { row: at.row + 1, column: indent.length };
      }
      grid.push([...indent].map(() => " "));
      continue;
    }
    const [drawn, width] = drawnAs(segment, columns - indent.length);
    if (at.column + width > columns) {
      grid.push([]);
      at = { row: at.row + 1, column: 0 };
    }
    if (index === cursor) found = at;
    const row = grid[at.row] ?? [];
    if (/^[ -~]+$/.test(drawn)) row.push(...drawn);
    else row.push(drawn, ...Array(width - 1).fill(" "));
    at = { row: at.row, column: at.column + width };
  }
  if (cursor === text.length) {
    found = at;
    if (at.column === columns) {
      grid.push([]);
      found = { row: at.row + 1, column: 0 };
    }
  }
  return {
    grid: grid.map((row) =>
      Array.from({ length: columns }, (_, i) => row[i] ?? " ")
    ),
    cursor: found ?? at,
  };
}

function drawnAs(grapheme: string, room: number): [string, number] {
  const width = graphemeWidth(grapheme);
  const code = grapheme.codePointAt(0) ?? 0;
  const isSeen = width > 0 &&
    !/^[\p{M}\p{Emoji_Modifier}\p{Cc}\p{Bidi_Control}\p{Join_Control}]/u.test(
      grapheme,
    );
  const drawn = isSeen ? grapheme : `<${code.toString(16)}>`;
  const needed = isSeen ? width : drawn.length;
  return needed > room ? ["?", 1] : [drawn, needed];
}

for (
  const [widths, resizing, graphemes] of [
    ["graphemes", "wraps", GRAPHEMES],
    ["graphemes", "cuts", GRAPHEMES],
    ["code points", "wraps", CERTAIN],
  ] as const
) {
  Deno.test(`whatever is typed, pasted and resized, a terminal that counts ${widths} and ${resizing} rows shows the prompt cell by cell, and keeps what is above`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 50 }),
        fc.integer({ min: 1, max: 12 }),
        actions(graphemes),
        async (columns, rows, sequence) => {
          await typeKeys(columns, rows, { widths, resizing }, sequence);
        },
      ),
      { numRuns: times(1_000) },
    );
  });
}
