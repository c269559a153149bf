import { assert, assertEquals, assertLess } from "@std/assert";
import { cellsOfLine } from "../../../lib/editor/layout.ts";
import type { WaitEvent } from "../../../lib/gateway.ts";
import { StatusLine } from "../../../lib/interactive/status_line.ts";
import { COLOURED, PLAIN } from "../../../lib/text/style.ts";
import { FakeClock } from "../../support/clocks.ts";
import fc, { anyCodePoint } from "../../support/generated.ts";
import { stepsOf } from "../../support/scripts.ts";
import { redacted } from "../../support/texts.ts";

const SGR = RegExp("\x1b\\[\\d+m", "g");

/** A status line, half a second after the beginning, and its clock. */
function watch({ columns = 80, style = PLAIN, isAscii = false } = {}) {
  const clock = new FakeClock();
  const line = new StatusLine({ style, isAscii, columns: () => columns });
  line.advance({ type: "begin" });
  clock.time += 500;
  return {
    line,
    [Symbol.dispose]: () => clock[Symbol.dispose](),
    /** Does a step of a script. Returns the lines or the row; its spinner has stopped. */
    act(verb: string, text: string): string {
      const [first = "", second = ""] = text.split(/: |, (?=again)/);
      const completed = verb === "completed";
      switch (verb) {
        case "later":
          clock.time += Number(text);
          return "";
        case "row":
          return line.row().replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, "⠋");
        case "progress": {
          const [node, status] = [redacted(first), redacted(second)];
          return line.advance({ type: "progress", node, status });
        }
        case "wait": {
          const reason = first as WaitEvent["reason"];
          const milliseconds = Number(/\d+/.exec(second));
          return line.advance({ type: "wait", reason, milliseconds });
        }
        case "begin":
          return line.advance({ type: "begin" });
        default:
          return line.advance({ type: "end", completed, total: Number(text) });
      }
    },
  };
}

/** Steps of an operation; after some, the row, or the lines that stay above it. */
const SCRIPTS = {
  "where a run is, how long it has taken, and how to stop it": `
    later -1
    row
    later 1
    row
    | ⠋ waiting  0.5 s  Ctrl-C stops
    later 1000
    progress plan: started
    row
    | ⠋ plan: started  0.0 s  Ctrl-C stops
    later 10499
    row
    | ⠋ plan: started  10 s  Ctrl-C stops`,
  "lines of each node with its own duration, marked if it said that it was done or failed, and of the run with the total":
    `
    progress plan: started
    later 2000
    progress plan: done
    progress write: started
    | ✓ plan: done  2.0 s
    later 70000
    completed 72500
    |   write: started  1 min 10 s
    | ✓ total  1 min 12 s
    row
    begin
    progress plan: started
    failed 500
    | ✗ plan: started  0.0 s
    | ✗ total  0.5 s`,
  "what a repetition waits for, counted down, then the node again": `
    progress plan: started
    wait service busy, again in 6000
    row
    | ⠋ service busy, again in 6 s  0.0 s  Ctrl-C stops
    later 4500
    row
    | ⠋ service busy, again in 2 s  4.5 s  Ctrl-C stops
    later 1500
    row
    | ⠋ plan: started  6.0 s  Ctrl-C stops
    wait connection lost, again in 125000
    row
    | ⠋ connection lost, again in 2 min 5 s  6.0 s  Ctrl-C stops
    progress plan: done
    row
    | ⠋ plan: done  6.0 s  Ctrl-C stops`,
  "node and status, cleaned": `
    progress plan
    row
    | ⠋ plan  0.0 s  Ctrl-C stops
    progress : started
    |   plan  0.0 s
    row
    | ⠋ started  0.0 s  Ctrl-C stops
    progress a\x1b[31mb\x1b]0;t\x07c: d\re\tf\u202eg
    |   started  0.0 s
    row
    | ⠋ abc: d e fg  0.0 s  Ctrl-C stops`,
};
for (const [what, script] of Object.entries(SCRIPTS)) {
  Deno.test(`StatusLine shows ${what}`, () => {
    using watched = watch();
    const { act } = watched;
    let shown = "";
    for (const [verb, text] of [...stepsOf(script), ["row", ""]] as const) {
      if (verb !== "|") {
        assertEquals(shown, "");
        shown = act(verb, text);
      } else {
        assertEquals(shown.replace(/\n$/, ""), text);
        shown = "";
      }
    }
  });
}

Deno.test("StatusLine turns its spinner four times a second, of ASCII with ASCII_MARKS", () => {
  using watched = watch({ isAscii: true });
  const { act } = watched;
  for (const sign of ["-", "\\", "|", "/", "-"]) {
    assertEquals(act("row", "").charAt(0), sign);
    act("later", "250");
  }
  const lines = act("progress", "plan: Done") + act("progress", "write") +
    act("failed", "0");
  assertEquals(lines, "+ plan: Done  0.0 s\nx write  0.0 s\nx total  0.0 s\n");
});

/** The row, by terminal width. It loses the hint first; then the label is cut. */
const ROWS = {
  60: "⠋ research: reading the 7 pages  0.0 s  Ctrl-C stops",
  48: "⠋ research: reading the 7 pages  0.0 s",
  20: "⠋ research:…  0.0 s",
  10: "⠋…  0.0 s",
  9: "⠋  0.0 s",
  4: "⠋ …",
  3: "⠋…",
  1: "⠋",
};
Deno.test("StatusLine cuts its row", () => {
  for (const [columns, row] of Object.entries(ROWS)) {
    using watched = watch({ columns: Number(columns) });
    const { act } = watched;
    act("progress", "research: reading the 7 pages");
    assertEquals(act("row", ""), row);
  }
});

Deno.test("StatusLine takes one row of any width, and so does each line above it", () => {
  const text = fc.string({ unit: anyCodePoint, maxLength: 300 });
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 200 }),
    fc.string({ unit: "grapheme", maxLength: 300 }),
    text,
    fc.boolean(),
    (columns, node, status, isPause) => {
      using watched = watch({ columns, style: COLOURED });
      const { line, act } = watched;
      line.advance({
        type: "progress",
        node: redacted(node),
        status: redacted(status),
      });
      if (isPause) act("wait", "connection lost, again in 1000");
      const row = act("row", "");
      const lines = act("failed", "1").split("\n");
      assertEquals([lines.length, lines.pop()], [3, ""]);
      for (const line of [row, ...lines]) {
        const text = line.replace(SGR, "");
        assert(!/\p{Cc}/u.test(text));
        const cells = cellsOfLine(text, Infinity);
        const width = cells.reduce((sum, cell) => sum + cell.width, 0);
        assertLess(width, Math.max(columns, 2));
      }
    },
  ));
});
