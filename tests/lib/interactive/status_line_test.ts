import { assert, assertEquals, assertLess } from "@std/assert";
import { cellsOfLine } from "../../../lib/editor/layout.ts";
import type { WaitEvent } from "../../../lib/gateway.ts";
import { StatusLine } from "../../../lib/interactive/status_line.ts";
import { COLOURED, PLAIN } from "../../../lib/text/style.ts";
import fc, { anyCodePoint } from "../../support/generated.ts";
import { redacted } from "../../support/texts.ts";

const SGR = RegExp("\x1b\\[\\d+m", "g");
const COMPLETED = { type: "end", completed: true } as const;
const FAILED = { type: "end", completed: false } as const;

/** A status line half a second after the beginning, with a clock that the test sets. */
class Watched {
  readonly line: StatusLine;
  readonly columns: number;
  /** In milliseconds. */
  now = 5_000;

  constructor({ columns = 80, style = PLAIN, isAscii = false } = {}) {
    this.columns = columns;
    this.line = new StatusLine({
      style,
      isAscii,
      columns: () => columns,
      now: () => this.now,
    });
    this.begin();
  }

  begin(): void {
    this.line.advance({ type: "begin" });
    this.now += 500;
  }

  /** The row; its spinner has stopped. */
  get row(): string {
    return this.line.row(this.columns).replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, "⠋");
  }

  progress(node: string, status = ""): string {
    return this.line.advance({
      type: "progress",
      node: redacted(node),
      status: redacted(status),
    });
  }

  wait(reason: WaitEvent["reason"], milliseconds: number): void {
    this.line.advance({ type: "wait", reason, milliseconds });
  }
}

Deno.test("StatusLine shows where a run is, how long it has taken, and how to stop it", () => {
  const watched = new Watched();
  watched.now--;
  assertEquals(watched.row, "");
  watched.now++;
  assertEquals(watched.row, "⠋ waiting  0.5 s  Ctrl-C stops");
  watched.now += 1_000;
  watched.progress("plan", "started");
  assertEquals(watched.row, "⠋ plan: started  0.0 s  Ctrl-C stops");
  watched.now += 10_499;
  assertEquals(watched.row, "⠋ plan: started  10 s  Ctrl-C stops");
  watched.progress("write", "started");
  watched.now += 125_000;
  assertEquals(watched.row, "⠋ write: started  2 min 5 s  Ctrl-C stops");
  watched.line.advance(COMPLETED);
  assertEquals(watched.row, "");
});

Deno.test("StatusLine leaves a line of each node with its own duration, marked if it said that it was done or failed, and one of the run with the total", () => {
  const watched = new Watched();
  assertEquals(watched.progress("plan", "started"), "");
  watched.now += 2_000;
  assertEquals(watched.progress("plan", "done"), "");
  assertEquals(watched.progress("write", "started"), "✓ plan: done  2.0 s\n");
  watched.now += 70_000;
  assertEquals(
    watched.line.advance({ ...COMPLETED, total: 72_500 }),
    "  write: started  1 min 10 s\n✓ total  1 min 12 s\n",
  );
  watched.begin();
  watched.progress("plan", "started");
  assertEquals(
    watched.line.advance({ ...FAILED, total: 500 }),
    "✗ plan: started  0.0 s\n✗ total  0.5 s\n",
  );
});

Deno.test("StatusLine counts down what a repetition waits for, then shows the node again", () => {
  const watched = new Watched();
  watched.progress("plan", "started");
  watched.wait("service busy", 6_000);
  assert(watched.row.startsWith("⠋ service busy, again in 6 s  0.0 s"));
  watched.now += 4_500;
  assert(watched.row.startsWith("⠋ service busy, again in 2 s  4.5 s"));
  watched.now += 1_500;
  assertEquals(watched.row, "⠋ plan: started  6.0 s  Ctrl-C stops");
  watched.wait("connection lost", 125_000);
  assert(watched.row.startsWith("⠋ connection lost, again in 2 min 5 s  "));
  watched.progress("plan", "done"); // shown at once
  assertEquals(watched.row, "⠋ plan: done  6.0 s  Ctrl-C stops");
});

Deno.test("StatusLine turns its spinner four times a second, of ASCII with ASCII_MARKS", () => {
  const watched = new Watched({ isAscii: true });
  for (const sign of ["-", "\\", "|", "/", "-"]) {
    assertEquals(watched.row.charAt(0), sign);
    watched.now += 250;
  }
  const lines = watched.progress("plan", "Done") + watched.progress("write") +
    watched.line.advance(FAILED);
  assertEquals(lines, "+ plan: Done  0.0 s\nx write  0.0 s\n");
});

const LABELS = [
  ["plan", "", "plan"],
  ["", "started", "started"],
  ["", "", ""],
  ["a\x1b[31mb\x1b]0;t\x07c", "d\r\ne\tf\u202eg", "abc: d e fg"],
  ["  plan ", " started\n", "plan: started"],
] as const;
Deno.test("StatusLine shows node and status, cleaned", () => {
  for (const [node, status, text] of LABELS) {
    const watched = new Watched();
    watched.progress(node, status);
    assertEquals(watched.row, `⠋ ${text}  0.0 s  Ctrl-C stops`);
    assertEquals(watched.progress("next"), `  ${text}  0.0 s\n`);
  }
});

const ROWS = [
  [60, "⠋ research: reading the 7 pages  0.0 s  Ctrl-C stops"],
  [48, "⠋ research: reading the 7 pages  0.0 s"],
  ...[[20, "⠋ research:…  0.0 s"], [10, "⠋…  0.0 s"]] as const,
  ...[[9, "⠋  0.0 s"], [4, "⠋ …"], [3, "⠋…"], [1, "⠋"]] as const,
] as const;
Deno.test("StatusLine cuts its row: first the hint goes, then the label is cut", () => {
  for (const [columns, row] of ROWS) {
    const watched = new Watched({ columns });
    watched.progress("research", "reading the 7 pages");
    assertEquals(watched.row, row);
  }
});

Deno.test("StatusLine takes one row of any width, and so does each line above it", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 200 }),
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.string({ unit: anyCodePoint, maxLength: 300 }),
    fc.boolean(),
    (columns, node, status, isPause) => {
      const watched = new Watched({ columns, style: COLOURED });
      watched.progress(node, status);
      if (isPause) watched.wait("connection lost", 1_000);
      const { row } = watched;
      const lines = watched.line.advance({ ...FAILED, total: 1 }).split("\n");
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
