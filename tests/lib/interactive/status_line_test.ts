import { assert, assertEquals, assertLess } from "@std/assert";
import { unicodeWidth } from "@std/cli/unicode-width";
import fc from "fast-check";
import {
  cutToWidth,
  StatusLine,
} from "../../../lib/interactive/status_line.ts";
import { COLOURED, PLAIN, type Style } from "../../../lib/interactive/style.ts";

const SGR = RegExp("\x1b\\[\\d+m", "g");
const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;

/** A status line with a clock that the test sets, and its calls of the renderer. */
class Recording implements Disposable {
  readonly line: StatusLine;
  /** The lines above, from all changes. */
  above = "";
  changes = 0;
  columns: number;
  /** In milliseconds. */
  now = 5_000;
  onChange: () => void = () => {};

  constructor(columns = 80, style: Style = PLAIN) {
    this.columns = columns;
    this.line = new StatusLine({
      style,
      columns: () => this.columns,
      onChange: (above) => {
        this.above += above;
        this.changes++;
        this.onChange();
      },
      now: () => this.now,
    });
  }

  /** The row, with a fixed spinner. */
  get row(): string {
    return this.line.row(this.columns).replace(SPINNER, "⠋");
  }

  progress(node: string, status = ""): void {
    this.line.progress({ event: "progress", node, status });
  }

  wait(reason: string, milliseconds: number): void {
    this.line.wait({ operation: "create run", reason, milliseconds });
  }

  [Symbol.dispose](): void {
    this.line.stop(true);
  }
}

Deno.test("StatusLine shows where a run is, how long it has taken, and how to stop it", () => {
  using recording = new Recording();
  assertEquals(recording.row, "");
  recording.line.start();
  assertEquals(recording.row, "⠋ waiting  0.0 s  Ctrl-C stops");
  recording.now += 1_500;
  recording.progress("plan", "started");
  assertEquals(recording.row, "⠋ plan: started  1.5 s  Ctrl-C stops");
  recording.now += 10_499;
  recording.progress("write", "started");
  assertEquals(recording.row, "⠋ write: started  11 s  Ctrl-C stops");
  recording.now += 113_001;
  assertEquals(recording.row, "⠋ write: started  2 min 5 s  Ctrl-C stops");
  recording.line.stop(true);
  assertEquals(recording.row, "");
});

Deno.test("StatusLine leaves a line of each node with its own duration, and one of the run with the total", () => {
  using recording = new Recording();
  recording.line.start();
  recording.line.run();
  recording.now += 500;
  recording.progress("plan", "started");
  recording.now += 2_000;
  recording.progress("plan", "done");
  assertEquals(recording.above, "");
  recording.progress("write", "started");
  assertEquals(recording.above, "✓ plan: done  2.0 s\n");
  recording.now += 70_000;
  recording.line.stop(true);
  assertEquals(
    recording.above,
    "✓ plan: done  2.0 s\n✓ write: started  1 min 10 s\n✓ total  1 min 12 s\n",
  );
});

Deno.test("StatusLine marks the node at which a run failed, and its total", () => {
  using recording = new Recording();
  recording.line.start();
  recording.line.run();
  recording.progress("plan", "started");
  recording.line.stop(false);
  assertEquals(recording.above, "✗ plan: started  0.0 s\n✗ total  0.0 s\n");
});

Deno.test("StatusLine shows a total for runs only", () => {
  using recording = new Recording();
  recording.line.run();
  recording.line.start();
  recording.now += 1_000;
  recording.line.stop(true);
  recording.line.run();
  recording.line.stop(true);
  assertEquals(recording.above, "");
});

Deno.test("StatusLine starts again for the next run", () => {
  using recording = new Recording();
  recording.line.start();
  recording.line.run();
  recording.progress("plan", "started");
  recording.wait("service busy", 60_000);
  recording.line.stop(true);
  recording.above = "";
  recording.now += 1_000;
  recording.line.start();
  assertEquals(recording.row, "⠋ waiting  0.0 s  Ctrl-C stops");
  recording.line.stop(true);
  assertEquals(recording.above, "");
});

Deno.test("StatusLine counts down what a repetition waits for, then shows the node again", () => {
  using recording = new Recording();
  recording.line.start();
  recording.progress("plan", "started");
  recording.wait("service busy", 6_000);
  assertEquals(
    recording.row,
    "⠋ service busy, again in 6 s  0.0 s  Ctrl-C stops",
  );
  recording.now += 4_500;
  assertEquals(
    recording.row,
    "⠋ service busy, again in 2 s  4.5 s  Ctrl-C stops",
  );
  recording.now += 1_500;
  assertEquals(recording.row, "⠋ plan: started  6.0 s  Ctrl-C stops");
});

Deno.test("StatusLine shows progress at once, although a pause is not over", () => {
  using recording = new Recording();
  recording.line.start();
  recording.progress("plan", "started");
  for (const [node, status] of [["plan", "done"], ["write", ""]] as const) {
    recording.wait("connection lost", 15_000);
    const { changes } = recording;
    recording.progress(node, status);
    assertEquals(recording.changes, changes + 1);
    const label = [node, status].filter(Boolean).join(": ");
    assertEquals(recording.row, `⠋ ${label}  0.0 s  Ctrl-C stops`);
  }
  assertEquals(recording.above, "✓ plan: done  0.0 s\n");
});

Deno.test("StatusLine ignores progress when there is no operation", () => {
  using recording = new Recording();
  recording.progress("plan", "started");
  recording.wait("service busy", 1_000);
  recording.line.stop(true);
  assertEquals(recording.changes, 0);
});

Deno.test("StatusLine turns its spinner until it is stopped", async () => {
  using recording = new Recording();
  const turned = Promise.withResolvers<void>();
  const signs = new Set<string>();
  recording.onChange = () => {
    signs.add(recording.line.row(80).charAt(0));
    if (signs.size === 3) turned.resolve();
  };
  recording.line.start();
  await turned.promise;
});

Deno.test("StatusLine asks for a node's statuses to be drawn no faster than its frames", () => {
  using recording = new Recording();
  recording.line.start();
  recording.progress("count", "0");
  const { changes } = recording;
  for (let i = 1; i < 1000; i++) recording.progress("count", `${i}`);
  assertEquals(recording.changes, changes);
  assertEquals(recording.row, "⠋ count: 999  0.0 s  Ctrl-C stops");
  recording.now += 100;
  recording.progress("count", "1000");
  assertEquals(recording.changes, changes + 1);
});

Deno.test("StatusLine dims what stays and how to stop, and colours its signs", () => {
  using recording = new Recording(80, COLOURED);
  recording.line.start();
  recording.progress("plan", "started");
  assertEquals(
    recording.row,
    "\x1b[36m⠋\x1b[39m plan: started  0.0 s\x1b[2m  Ctrl-C stops\x1b[22m",
  );
  recording.line.stop(true);
  recording.line.start();
  recording.progress("write");
  recording.line.stop(false);
  assertEquals(
    recording.above,
    "\x1b[32m✓\x1b[39m\x1b[2m plan: started  0.0 s\x1b[22m\n" +
      "\x1b[31m✗\x1b[39m\x1b[2m write  0.0 s\x1b[22m\n",
  );
});

const LABELS:
  readonly (readonly [node: string, status: string, text: string])[] = [
    ["plan", "", "plan"],
    ["", "started", "started"],
    ["", "", ""],
    ["a\x1b[31mb\x1b]0;t\x07c", "d\r\ne\tf\u202eg", "abc: d e fg"],
    ["  plan ", " started\n", "plan: started"],
  ];

for (const [node, status, text] of LABELS) {
  Deno.test(`StatusLine shows ${JSON.stringify([node, status])} as ${JSON.stringify(text)}`, () => {
    using recording = new Recording();
    recording.line.start();
    recording.progress(node, status);
    assertEquals(recording.row, `⠋ ${text}  0.0 s  Ctrl-C stops`);
    recording.progress("next");
    assertEquals(recording.above, `✓ ${text}  0.0 s\n`);
  });
}

Deno.test("StatusLine cleans the reason of a pause", () => {
  using recording = new Recording();
  recording.line.start();
  recording.wait("a\x1b[31m\nb\x07", 1);
  assertEquals(recording.row, "⠋ a b, again in 1 s  0.0 s  Ctrl-C stops");
});

const ROWS: readonly (readonly [columns: number, row: string])[] = [
  [60, "⠋ research: reading the 7 pages that …  0.0 s  Ctrl-C stops"],
  [50, "⠋ research: reading the 7 p…  0.0 s  Ctrl-C stops"],
  [48, "⠋ research: reading the 7…  0.0 s  Ctrl-C stops"],
  [47, "⠋ research: reading the 7 pages that w…  0.0 s"],
  [20, "⠋ research:…  0.0 s"],
  [10, "⠋   0.0 s"],
  [9, "⠋   0.0…"],
  [4, "⠋ …"],
  [3, "⠋"],
  [1, "⠋"],
];

for (const [columns, row] of ROWS) {
  Deno.test(`StatusLine cuts its row for ${columns} columns, the label first, then the hint`, () => {
    using recording = new Recording(columns);
    recording.line.start();
    recording.progress("research", "reading the 7 pages that were found");
    assertEquals(recording.row, row);
  });
}

Deno.test("StatusLine takes one row of any width, and so does each line above it", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 200 }),
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.boolean(),
    (columns, node, status, isPause) => {
      using recording = new Recording(columns, COLOURED);
      recording.line.start();
      recording.line.run();
      recording.progress(node, status);
      if (isPause) recording.wait(status, 1_000);
      const { row } = recording;
      recording.line.stop(false);
      const lines = recording.above.split("\n");
      assertEquals([lines.length, lines.pop()], [3, ""]);
      for (const line of [row, ...lines]) {
        const text = line.replace(SGR, "");
        assert(!/\p{Cc}/u.test(text));
        assertLess(unicodeWidth(text), Math.max(columns, 2));
      }
    },
  ));
});

const CUTS: readonly (readonly [text: string, columns: number, cut: string])[] =
  [
    ["plain", 5, "plain"],
    ["plain", 4, "pla…"],
    ["plain", 1, "…"],
    ["plain", 0, ""],
    ["plain", -1, ""],
    ["", 0, ""],
    ["日本語", 6, "日本語"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["日本語", 2, "…"],
    ["e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"],
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
    ["a🇩🇪b", 3, "a…"],
    ["👩‍💻 at work", 4, "…"],
    ["x".repeat(1_000_000), 3, "xx…"],
  ];

for (const [text, columns, cut] of CUTS) {
  const name = text.length > 20 ? "a long text" : JSON.stringify(text);
  Deno.test(`cutToWidth() makes ${name} take ${columns} columns`, () => {
    assertEquals(cutToWidth(text, columns), cut);
  });
}
