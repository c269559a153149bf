import { assert, assertEquals, assertLess } from "@std/assert";
import { unicodeWidth } from "@std/cli/unicode-width";
import fc from "fast-check";
import {
  cutToWidth,
  StatusLine,
} from "../../../lib/interactive/status_line.ts";
import { COLOURED, PLAIN, type Style } from "../../../lib/interactive/style.ts";

const ESCAPE_CODES = RegExp("\x1b\\[\\??\\d*[A-Za-z]", "g");
const DURATION = /\d+(\.\d)? s/g;
const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g;

/** A status line, and each piece that it writes, on a terminal where no time passes. */
class Recording implements Disposable {
  readonly pieces: string[] = [];
  readonly line: StatusLine;
  columns: number;
  onWrite: () => void = () => {};

  constructor(columns = 80, style: Style = PLAIN) {
    this.columns = columns;
    this.line = new StatusLine({
      write: (text) => {
        this.pieces.push(text);
        this.onWrite();
      },
      columns: () => this.columns,
      style,
    });
  }

  /** What the last piece writes, without escape codes: rows, the last one unfinished. */
  get shown(): string {
    return (this.pieces.at(-1) ?? "")
      .replace(ESCAPE_CODES, "")
      .replace(DURATION, "0.0 s").replace(SPINNER, "⠋");
  }

  progress(node: string, status: string): void {
    this.line.progress({ event: "progress", node, status });
  }

  [Symbol.dispose](): void {
    this.line.stop(true);
  }
}

Deno.test("StatusLine shows where a run is, and leaves a line of each node", () => {
  using recording = new Recording();
  recording.line.start();
  assertEquals(recording.shown, "\r⠋ waiting  0.0 s");
  recording.progress("plan", "started");
  assertEquals(recording.shown, "\r⠋ plan: started  0.0 s");
  recording.progress("write", "started");
  assertEquals(
    recording.shown,
    "\r✓ plan: started  0.0 s\n⠋ write: started  0.0 s",
  );
  recording.line.stop(true);
  assertEquals(recording.shown, "\r✓ write: started  0.0 s\n");
});

Deno.test("StatusLine marks the node at which a run failed", () => {
  using recording = new Recording();
  recording.line.start();
  recording.progress("plan", "started");
  recording.line.stop(false);
  assertEquals(recording.shown, "\r✗ plan: started  0.0 s\n");
});

Deno.test("StatusLine leaves nothing of a run without progress", () => {
  using recording = new Recording();
  recording.line.start();
  recording.line.stop(true);
  assertEquals(recording.pieces.at(-1), "\r\x1b[J");
});

Deno.test("StatusLine starts anew for the next run", () => {
  using recording = new Recording();
  recording.line.start();
  recording.progress("plan", "started");
  recording.line.stop(true);
  recording.line.start();
  assertEquals(recording.shown, "\r⠋ waiting  0.0 s");
});

Deno.test("StatusLine turns its spinner until it is stopped", async () => {
  using recording = new Recording();
  const drawn = Promise.withResolvers<void>();
  recording.onWrite = () => {
    if (recording.pieces.length === 3) drawn.resolve();
  };
  recording.line.start();
  await drawn.promise;
  const signs = recording.pieces.map((piece) => piece.match(SPINNER)?.[0]);
  assertEquals(new Set(signs).size, 3);
});

Deno.test("StatusLine draws over the last line in one piece, never wrapped, and erases what is left of that", () => {
  using recording = new Recording();
  recording.line.start();
  recording.progress("plan", "");
  recording.progress("write", "");
  assertEquals(
    recording.pieces.map((piece) => piece.replaceAll(DURATION, "0.0 s")),
    [
      "\r\x1b[?7l⠋ waiting  0.0 s\x1b[J\x1b[?7h",
      "\r\x1b[?7l⠋ plan  0.0 s\x1b[J\x1b[?7h",
      "\r\x1b[?7l✓ plan  0.0 s\x1b[K\x1b[?7h\n" +
      "\x1b[?7l⠋ write  0.0 s\x1b[J\x1b[?7h",
    ],
  );
});

Deno.test("StatusLine goes back over the rows that it takes on a narrower terminal", () => {
  using recording = new Recording();
  recording.line.start();
  recording.progress("plan", "x".repeat(200));
  recording.columns = 30;
  recording.progress("write", "");
  assert(recording.pieces.at(-1)?.startsWith("\x1b[2A\r"));
  recording.line.stop(true);
  assert(recording.pieces.at(-1)?.startsWith("\r"));
});

Deno.test("StatusLine does not draw a node's statuses faster than its frames", () => {
  using recording = new Recording();
  recording.line.start();
  for (let i = 0; i < 1000; i++) recording.progress("count", `${i}`);
  assertLess(recording.pieces.length, 100);
  recording.line.stop(true);
  assertEquals(recording.shown, "\r✓ count: 999  0.0 s\n");
});

Deno.test("StatusLine dims what stays, and colours its sign", () => {
  using recording = new Recording(80, COLOURED);
  recording.line.start();
  recording.progress("plan", "started");
  recording.line.stop(true);
  assert(
    recording.pieces.at(-1)?.includes(
      "\x1b[32m✓\x1b[39m \x1b[2mplan: started  ",
    ),
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
    recording.progress("before", "");
    recording.progress(node, status);
    assertEquals(recording.shown, `\r✓ before  0.0 s\n⠋ ${text}  0.0 s`);
  });
}

Deno.test("StatusLine takes one row, on a terminal of any width", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 200 }),
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.string({ unit: "binary", maxLength: 300 }),
    (columns, node, status) => {
      using recording = new Recording(columns);
      recording.line.start();
      recording.progress("before", "");
      recording.progress(node, status);
      for (const row of recording.shown.slice(1).split("\n")) {
        assert(unicodeWidth(row) < Math.max(columns, 3), row);
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
