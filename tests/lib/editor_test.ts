import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { cellsOfLine, cutToWidth, placed } from "../../lib/editor/layout.ts";
import { Painter } from "../../lib/editor/painter.ts";
import { FakeClock } from "../support/clocks.ts";
import { Emulator, Person } from "../support/terminal_emulator.ts";
import { until } from "../support/waits.ts";
import { redacted } from "../support/texts.ts";

const UP = "\x1b[A";

Deno.test("Editor calls onInterrupt for Ctrl-C and onQuit for Ctrl-\\, also after Ctrl-D, but not within a paste", async () => {
  using person = new Person();
  const asked = person.editor.read();
  person.type("\x03\x1b[200~\x03\x1c\x1b[201~\r\x04\x03\x1c");
  assertEquals(await asked, { kind: "text", text: "\x03\x1c" });
  assertEquals([person.interrupts, person.quits], [2, 1]);
});

Deno.test("Editor calls onTyping with the first character of each text", async () => {
  using person = new Person();
  const asked = person.editor.read();
  assertEquals(person.begun, 0);
  person.type("ab\x7f\x7fc\r");
  await asked;
  assertEquals(person.begun, 2);
});

Deno.test("Editor shows a paste without an end, and ends it at a Ctrl-C that comes alone after a second", async () => {
  using person = new Person();
  const asked = person.editor.read();
  person.type("\x1b[200~one\rtwo\r");
  await person.sees("> one", "  two");
  person.type("\x03");
  await person.sees("> one", "  two", "  ^C");
  person.time += 1_000;
  person.type("\x03");
  await until(() => person.interrupts !== 0);
  assert(person.editor.clear());
  await person.sees(">");
  assertFalse(person.editor.clear());
  person.type(`${UP}!\r`);
  assertEquals(await asked, { kind: "text", text: "one\ntwo\n\x03!" });
});

for (const isWindowsConsole of [true, false]) {
  const does = isWindowsConsole ? "refuses" : "takes";
  Deno.test(`Editor.read() ${does} U+FFFD ${isWindowsConsole ? "of a" : "except of a"} Windows console, which loses characters`, async () => {
    using person = new Person(40, 100, { isWindowsConsole });
    const asked = person.editor.read();
    person.type("a\ufffdb\r");
    const input = await asked;
    assertEquals(input.kind, isWindowsConsole ? "refused" : "text");
  });
}

Deno.test("Editor.dropWaiting() drops what was sent, which stays in the history, and keeps what is typed", async () => {
  using person = new Person();
  person.editor.setStatus(() => "status");
  person.type("one\rtwo\rthr");
  await person.sees("status", "queued: one", "queued: two", "> thr");

  assertEquals(person.editor.dropWaiting(), 2);

  const asked = person.editor.read();
  await person.sees("status", "> thr");
  person.type(`ee${UP}${UP}\r`);
  assertEquals(await asked, { kind: "text", text: "one" });
});

const LEAVING = "Leaves after the run; any key cancels";

Deno.test("Editor says that Ctrl-D during an operation leaves after it; the next key takes that back, and works", async () => {
  using person = new Person();
  person.editor.setStatus(() => "status");
  person.type("\x04");
  await person.sees("status", LEAVING);
  person.type("\x04");
  await setImmediate();
  await person.sees("status", LEAVING);
  person.type("one");
  await person.sees("status", "> one");
  person.type("\r");
  assertEquals(await person.editor.read(), { kind: "text", text: "one" });
});

Deno.test("Editor takes the last text that waits back with Up, and then goes through the history; a blank one does not wait", async () => {
  using person = new Person();
  person.editor.setStatus(() => "status");
  person.type(`one\rtwo\r \r${UP}`);
  await person.sees("status", "queued: one", "> two");
  person.type(`!\r${UP}${UP}`);
  await person.sees("status", "queued: one", "> two!");
});

Deno.test("Editor that is plain writes what is queued, taken back and left as lines", async () => {
  using person = new Person(50, 100, { isPlain: true });
  person.type(`one\rtwo\r${UP}\x15\x04x`);
  await person.sees(
    ...["queued: one", "queued: two", "Not queued any more"],
    ...[LEAVING, "Does not leave"],
  );
});

Deno.test("Editor leaves what was queued and typed on the terminal as lines, with its status or plain", async () => {
  for (const isPlain of [true, false]) {
    using person = new Person(40, 100, { isPlain });
    if (!isPlain) person.editor.setStatus(() => "status");
    person.type("one\x1b\rtwo\rthree");
    await until(() => person.begun === 2);
    await person.editor.leave("farewell\n");
    const rows = ["queued: one", "  two"];
    await person.sees(
      ...[...isPlain ? rows : [], ...rows, "> three", "farewell"],
    );
  }
});

Deno.test("Editor shows the first lines and the size of a long text that was sent", async () => {
  const lines = Array.from({ length: 21 }, (_, i) => `${i}`.repeat(100));
  for (
    const [text, rows] of [
      [lines.slice(1).map((line) => line[0]).join("\n"), 20],
      [lines.map((line) => line[0]).join("\n"), "[21 lines, 0.0 MB]"],
      ["x".repeat(5_900_000), "[1 line, 5.9 MB]"],
    ] as const
  ) {
    using person = new Person(2_000);
    const asked = person.editor.read();
    person.type(`\x1b[200~${text}\x1b[201~\r`);
    assertEquals(await asked, { kind: "text", text });
    await person.emulator.settled();
    const shown = person.emulator.allText.split("\n");
    if (typeof rows === "number") assertEquals(shown.length, rows);
    else assertEquals(shown.at(-1), `  ${rows}`);
    assert(shown.length <= 20);
  }
});

Deno.test("Editor draws the last frame when it closes, also on a terminal whose new size it has not heard of", async () => {
  using person = new Person();
  person.editor.setStatus(() => "status");
  person.type("abc");
  await person.sees("status", "> abc");

  person.size = { ...person.size, columns: 30 };
  await person.editor.leave();

  await person.sees("> abc");
});

Deno.test("Editor refuses a paste with a NUL, which stays in the history", async () => {
  using person = new Person();
  const asked = person.editor.read();
  person.type("\x1b[200~a\0b\x1b[201~\r");
  const reason = "Not sent: it contains a NUL character. Press Up to edit it";
  assertEquals(await asked, { kind: "refused", reason: redacted(reason) });
});

Deno.test("Editor shows the texts that wait, the next one first, and a search without a result", async () => {
  using person = new Person();
  person.editor.setStatus(() => "status");
  person.type("1\r2\r3\r4\r5\r6\r7a\x1b\r7b\r");
  const shown = ["1", "2", "3", "4", "5"].map((text) => `queued: ${text}`);
  const rows = ["status", ...shown, "2 more queued"];
  await person.sees(...rows);
  person.type("\x12x");
  await person.sees(...rows, ">", "not found: x");
});

Deno.test("Editor.dropWaiting() drops a Ctrl-D too, but not the end of the input", async () => {
  using person = new Person();
  person.editor.setStatus(() => "status");
  person.type("one\r\x04");
  await person.sees("status", "queued: one", LEAVING);

  assertEquals(person.editor.dropWaiting(), 1);

  person.type("two\r");
  await person.sees("status", "queued: two");
  person.leave();
  await setImmediate();
  assertEquals(person.editor.dropWaiting(), 1);
  assertEquals(await person.editor.read(), { kind: "end" });
});

Deno.test("Editor delivers what was sent before Ctrl-D, then the end, again and again", async () => {
  using person = new Person();
  person.editor.setStatus(() => "");
  person.type("one\r\x04");
  await person.sees("queued: one", LEAVING);
  assertEquals((await person.editor.read()).kind, "text");
  assertEquals(await person.editor.read(), { kind: "end" });
  assertEquals(await person.editor.read(), { kind: "end" });
});

Deno.test("Editor rejects every read of a terminal that cannot be read", async () => {
  using person = new Person();
  const asked = person.editor.read();
  person.leave(new Error("Cannot read standard input: it is gone"));
  await assertRejects(() => asked, Error, "it is gone");
  await assertRejects(() => person.editor.read(), Error, "it is gone");
});

Deno.test("Editor draws the next frame soon after one that took a minute", async () => {
  using person = new Person();
  void person.editor.read();
  person.writing = 60_000;
  person.type("one");
  await person.sees("> one");
  person.writing = 0;
  person.type(" two");
  await person.sees("> one two");
});

Deno.test("Editor takes a lone Escape for a key after 50 ms; it leaves a search", async () => {
  using clock = new FakeClock();
  using person = new Person();
  const asked = person.editor.read();
  person.type("\x12\x1b");
  await setImmediate();
  clock.passTo(50);
  person.type("y\r");
  assertEquals(await asked, { kind: "text", text: "y" });
});

/** Presses keys after which no sequence goes on. */
async function pressAlone(
  person: Person,
  clock: FakeClock,
  keys: string,
  pause = 0,
): Promise<void> {
  person.type(keys);
  await setImmediate();
  for (let i = 0; i < 5; i++) clock.pass();
  person.time += pause;
}

Deno.test("Editor starts a line at Ctrl-J, and at Enter within a second after Escape outside of a search", async () => {
  using clock = new FakeClock();
  using person = new Person();
  const press = (keys: string, pause?: number) =>
    pressAlone(person, clock, keys, pause);
  for (const [keys, pause] of [["a", 0], ["\n", 0], ["b\x1b", 999]] as const) {
    await press(keys, pause);
  }
  for (const keys of ["\r", "c\x1b", "d", "\r"]) await press(keys);
  assertEquals(await person.editor.read(), { kind: "text", text: "a\nb\ncd" });
  await press("e\x1b", 1_000);
  await press("\r");
  await press("\x12a\x1b");
  await press("\r");
  assertEquals(await person.editor.read(), { kind: "text", text: "e" });
  assertEquals(await person.editor.read(), { kind: "text", text: "a\nb\ncd" });
});

/** What a Windows console sends in reads, and the texts that become prompts. */
const READS: readonly (readonly [
  reads: readonly string[],
  onConsole: readonly string[],
  elsewhere: readonly string[],
])[] = [
  [["one\rtwo\r"], ["one\ntwo"], ["one", "two"]],
  [["one\r\rtwo", "\r"], ["one\n\ntwo"], ["one", "two"]],
  [["one", "\r", "two", "\r"], ["one", "two"], ["one", "two"]],
  [["one\r\x1b[A!\r"], ["!one\n"], ["one", "one!"]],
];
Deno.test("Editor takes an Enter with text after it in one read for a line of a paste on a Windows console, not elsewhere", async () => {
  for (const isWindowsConsole of [true, false]) {
    for (const [reads, onConsole, elsewhere] of READS) {
      using person = new Person(40, 100, { isWindowsConsole });
      for (const read of reads) person.type(read);
      for (const text of isWindowsConsole ? onConsole : elsewhere) {
        assertEquals(await person.editor.read(), { kind: "text", text });
      }
    }
  }
});

Deno.test("Editor can be left and stopped on a terminal in the kitty protocol", async () => {
  using person = new Person();
  person.editor.setStatus(() => "status");
  person.type("\x1b[99;5u\x1b[99;5:3u\x1b[27u\x1b[27;1:3u\x1b[27u\x1b[122;5u");
  await until(() => person.stops !== 0);
  assertEquals(person.interrupts, 2); // Ctrl-C, and Escape twice
  person.goOn();
  person.type("\x1b[200~a paste without an end");
  await person.seesLast("status", "> a paste without an end");
  person.time += 1_000;
  person.type("\x1b[99;5u");
  await until(() => person.interrupts !== 2);
  person.editor.clear();
  person.type("\x1b[100;5u");
  assertEquals(await person.editor.read(), { kind: "end" });
});

Deno.test("Editor calls onInterrupt for Escape pressed twice within a second, unless somebody is asked", async () => {
  const PRESSES = [
    ["\x1b", 999, "\x1b", 1],
    ["\x1b\x1b", 0, "", 1],
    ["\x1b\x1b", 0, "\x1b", 1],
    ["\x1b", 1_000, "\x1b", 0],
    ["\x1ba", 0, "\x1b", 0],
    ["\x1b", 0, "\x1b[A", 0],
    ["\x12\x1b", 0, "\x1b", 0],
  ] as const;
  for (const isAsked of [false, true]) {
    for (const [first, pause, second, interrupts] of PRESSES) {
      using clock = new FakeClock();
      using person = new Person();
      if (isAsked) void person.editor.read();
      await pressAlone(person, clock, first, pause);
      await pressAlone(person, clock, second);
      assertEquals(person.interrupts, isAsked ? 0 : interrupts, first + second);
    }
  }
});

Deno.test("Editor takes 10 MiB that are pasted at once whole, and draws few of them", async () => {
  using person = new Person();
  const asked = person.editor.read();
  const line = "All work and no play makes Jack a dull boy, 汉字 included.\n";
  const text = line.repeat(Math.ceil(10 * 1024 * 1024 / line.length));
  person.type("[]\x1b[D\x1b[200~");
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += 4096) {
    person.type(bytes.subarray(at, at + 4096)); // as the terminal driver splits it
  }
  for (const key of ["\x1b[201~", "\x1b[3~", "\x7f", "!"]) person.type(key);
  for (;;) {
    await person.emulator.settled();
    if (person.emulator.allText.endsWith("!")) break;
    await new Promise((resolve) => setTimeout(resolve));
  }
  assert(person.written.length < text.length / 10);
  person.type("\r");

  const entry = await asked;
  assert(entry.kind === "text");
  assert(entry.text === `[${text.slice(0, -1)}!`);
});

Deno.test("Editor draws nothing while the size changes, and the text again when it has rested for 100 ms", async () => {
  using clock = new FakeClock();
  using person = new Person();
  void person.editor.read();
  const digits = "0123456789".repeat(6);
  person.type(digits);
  await setImmediate();
  clock.pass();
  const { length } = person.written;
  const start = clock.time;
  for (const columns of [30, 20, 50, 40]) {
    await person.resize(columns);
    person.type("x");
    await setImmediate();
  }
  assertEquals(person.written.length, length);
  person.editor.print("above\n"); // must not wait
  assert(person.written.length > length);
  for (let i = 0; i < 5; i++) clock.pass();
  assertEquals(clock.time, start + 100);
  await person.emulator.settled();
  const rows = person.emulator.allText.split("\n").slice(-3);
  const typed = [`> ${digits.slice(0, 38)}`, `${digits.slice(38)}xxxx`];
  assertEquals(rows, ["above", ...typed]);
});

Deno.test("Editor protects pastes again with each prompt that it shows, and at Ctrl-L", async () => {
  using person = new Person();
  const asked = person.editor.read();
  assertEquals(person.renewals, 1);
  person.type("one\r");
  await asked;
  person.editor.setStatus(() => "status");
  person.type("two\r\x0c");
  await person.seesLast("status", "queued: two");
  assertEquals(person.renewals, 2);
  await person.editor.read(); // shows no prompt: "two" was sent before
  assertEquals(person.renewals, 2);
  void person.editor.read();
  assertEquals(person.renewals, 3);
});

Deno.test("Editor stops at Ctrl-Z with the cursor below the text, and draws the text again", async () => {
  for (const wasStopped of [true, false]) {
    using person = new Person();
    void person.editor.read();
    person.type("one\x1b\rtwo\x1b[A");
    await person.sees("> one", "  two");

    person.type("\x1a");
    await until(() => person.stops !== 0);
    await person.emulator.settled();

    assertEquals(person.emulator.cursor, { row: 2, column: 0 });
    person.goOn(wasStopped);
    const rows = ["> one", "  two"];
    await person.sees(...(wasStopped ? rows : []), ...rows);
    assertEquals(person.emulator.cursor.column, 5);
  }
});

Deno.test("Editor leaves what is typed where it is left, writes lines below it, and delivers nothing any more", async () => {
  using person = new Person();
  const asked = person.editor.read();
  person.type("one");
  await person.sees("> one");
  await person.editor.leave();
  person.editor.print("farewell\n");
  person.type("two\r");
  await person.sees("> one", "farewell");
  const late = setImmediate("nothing");
  assertEquals(await Promise.race([asked, late]), "nothing");
});

Deno.test("Editor ends after a Ctrl-Z, before the program goes on, with the cursor below the text", async () => {
  using person = new Person();
  void person.editor.read();
  person.type("one");
  await person.sees("> one");
  person.type("\x1a");
  await until(() => person.stops !== 0);
  await person.editor.leave();
  await person.sees("> one");
  assertEquals(person.emulator.cursor, { row: 1, column: 0 });
});

Deno.test("Editor writes at most 20 bytes for a letter at the end of a line, and 90 in its middle", async () => {
  using person = new Person(80);
  void person.editor.read();
  const bytesOf = async (key: string) => {
    await setImmediate();
    person.time += 1_000; // The last frame is old enough.
    const { length } = person.written;
    person.type(key);
    await until(() => person.written.length !== length);
    return new TextEncoder().encode(person.written.slice(length)).length;
  };
  await bytesOf("x".repeat(68)); // after the sign, up to column 70
  assert(await bytesOf("y") <= 20);
  assert(await bytesOf("汉") <= 20);
  assert(await bytesOf("\x7f") <= 20);
  await bytesOf("\x1b[D".repeat(35));
  assert(await bytesOf("z") <= 90);
  await person.sees(`> ${"x".repeat(34)}z${"x".repeat(34)}y`);
});

const CUTS: readonly (readonly [text: string, columns: number, row: string])[] =
  [
    ["a\tb\tc", 18, "a       b       c"],
    ["\x01\x1b\x7f\u200b\u202e", 18, "^A^[^?<200b><202e>"],
    ["\u{1f3fb}汉👍🏽", 18, "<1f3fb>汉👍🏽"],
    ...[["plain", 5, "plain"], ["plain", 4, "pla…"]] as const,
    ...[["plain", 1, "…"], ["plain", 0, ""], ["plain", -1, ""]] as const,
    ...[["日本語", 5, "日本…"], ["日本語", 4, "日…"], ["", 0, ""]] as const,
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
    ...[["a🇩🇪b", 3, "a…"], ["x".repeat(1_000_000), 3, "xx…"]] as const,
  ];
Deno.test("cutToWidth() fills tabs, shows codes for what cannot be seen, and cuts a line", () => {
  for (const [text, columns, row] of CUTS) {
    assertEquals(cutToWidth(text, columns), row);
  }
});

Deno.test("Painter keeps each row on one line of a terminal that draws a grapheme wider", async () => {
  const emulator = new Emulator(10, 5, "code points");
  const painter = new Painter((text) => emulator.write(text));
  const rows = ["12345678👨‍👩‍👧", "second"]
    .map((text) => placed(cellsOfLine(text, 10), 10));
  painter.draw({ rows, cursor: { row: 1, column: 6 } });
  await emulator.settled();
  assertEquals(emulator.text(1), "second");
  assertEquals(emulator.cursor, { row: 1, column: 6 });
});

Deno.test("Painter erases nothing above on a terminal that became lower and cut rows below the cursor", async () => {
  const emulator = new Emulator(10, 10);
  const painter = new Painter((text) => emulator.write(text));
  const above = ["1", "2", "3", "4", "5"];
  const rows = ["a", "b", "c", "d", "e"].map((text) => cellsOfLine(text, 10));
  const [first = []] = rows;
  const cursor = { row: 0, column: 0 };
  painter.draw({ rows, cursor }, above.map((line) => `${line}\n`).join(""));
  await emulator.resize(10, 6);
  painter.draw({ rows: rows.with(4, first), cursor }); // not known yet
  painter.move();
  painter.draw({ rows: [first], cursor });
  await emulator.settled();
  assertEquals(emulator.allText.split("\n").slice(0, 5), above);
});
