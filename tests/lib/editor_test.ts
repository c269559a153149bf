import { assert, assertEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { cellsOfLine, cutToWidth, placed } from "../../lib/editor/layout.ts";
import { Painter } from "../../lib/editor/painter.ts";
import { fromCarets, keyRows } from "../support/scripts.ts";
import { testRows } from "../support/tables.ts";
import { Emulator, Person } from "../support/terminal_emulator.ts";
import { redacted } from "../support/texts.ts";

const LEAVING = "Leaves after the run; any key cancels";

/** What a person does at an editor, and sees. */
const SCRIPTS: Readonly<Record<string, string>> = {
  "calls back for Ctrl-C and Ctrl-\\, also after Ctrl-D, but not within a paste":
    String.raw`
      read
      type ^C^[[200~^C^\^[[201~^M^D^C^\
      gets ^C^\
      called interrupt 2
      called quit 1`,
  "calls back with the first character of each text": `
      read
      called typing 0
      type ab^?^?c^M
      gets c
      called typing 2`,
  "shows a paste without an end, and ends it at a Ctrl-C that comes alone after a second":
    `
      read
      type ^[[200~one^Mtwo^M
      | > one
      |   two
      later 900
      type ^C
      | > one
      |   two
      |   ^C
      later 1000
      type ^C
      called interrupt 1
      clears true
      | >
      clears false
      type ^[[A!^M
      gets one^Jtwo^J^C!`,
  "drops what was sent, which stays in the history, and keeps what is typed": `
      status status
      type one^Mtwo^Mthr
      | status
      | queued: one
      | queued: two
      | > thr
      drops 2
      read
      | status
      | > thr
      type ee^[[A^[[A^M
      gets one`,
  "says that Ctrl-D during an operation leaves after it; the next key takes that back, and works":
    `
      status status
      type ^D
      | status
      | ${LEAVING}
      type ^D
      | status
      | ${LEAVING}
      type one
      | status
      | > one
      type ^M
      gets one`,
  "takes the last text that waits back with Up, and then goes through the history; a blank one does not wait":
    `
      status status
      type one^Mtwo^M ^M^[[A
      | status
      | queued: one
      | > two
      type !^M^[[A^[[A
      | status
      | queued: one
      | > two!`,
  "refuses a paste with a NUL": `
      read
      type ^[[200~a^@b^[[201~^M
      gets refused`,
  "shows the texts that wait, the next one first, and a search without a result":
    `
      status status
      type 1^M2^M3^M4^M5^M6^M7a^[^M7b^M
      type ^Rx
      | status
      | queued: 1
      | queued: 2
      | queued: 3
      | queued: 4
      | queued: 5
      | 2 more queued
      | >
      | not found: x`,
  "drops a Ctrl-D with the texts that wait": `
      status status
      type one^M^D
      | status
      | queued: one
      | ${LEAVING}
      drops 1
      read
      | status
      | >
      type two^M
      gets two`,
  "delivers what was sent before Ctrl-D, then the end, again and again": `
      status
      type one^M^D
      | queued: one
      | ${LEAVING}
      gets one
      gets end
      gets end`,
  "protects pastes again with each prompt that it shows, and at Ctrl-L": `
      read
      called renew 1
      type one^M
      gets one
      status status
      type two^M^L
      | status
      | queued: two
      called renew 2
      gets two
      called renew 2
      read
      called renew 3`,
  "takes a lone Escape for a key after 50 ms; it leaves a search": `
      read
      type a^M
      gets a
      type ^Ra^[
      later 50
      type y^M
      gets ya`,
  "takes an Escape that a key follows sooner for Alt": `
      type one two^[
      later 49
      type b!^M
      gets one !two`,
  "starts a line at Ctrl-J, and at Enter within a second after Escape outside of a search":
    `
      type a^Jb^[
      later 1049
      type ^Mc^[
      later 50
      type d
      type ^M
      gets a^Jb^Jcd
      type e^[
      later 1050
      type ^M^Ra^[
      later 50
      type ^M
      gets e
      gets a^Jb^Jcd`,
  "can be left and stopped on a terminal in the kitty protocol": `
      status status
      type ^[[99;5u^[[99;5:3u^[[27u^[[27;1:3u^[[27u^[[122;5u
      called stop 1
      called interrupt 2
      type ^[[200~a paste without an end
      later 1000
      type ^[[99;5u
      called interrupt 3
      clears true
      type ^[[100;5u
      gets end`,
};
for (const [what, script] of Object.entries(SCRIPTS)) {
  Deno.test(`Editor ${what}`, async () => {
    using person = new Person(40);
    await person.play(script);
  });
}

/** Keys, the milliseconds until the next keys, and how many interrupts both are. */
const ESCAPES = keyRows(`
  ^[    999   ^[    1
  ^[    1000  ^[    0
  ^[^[  50    ^@    1
  ^[^[  50    ^[    1
  ^[a   50    ^[    0
  ^[    50    ^[[A  0
  ^R^[  50    ^[    0
`);
Deno.test("Editor calls onInterrupt for Escape pressed twice within a second, unless somebody is asked", async () => {
  for (const asked of ["status", "read"]) {
    for (const [first, pause, second, count] of ESCAPES) {
      using person = new Person(40);
      await person.play(
        `${asked}
         type ${first}
         later ${pause}
         type ${second}
         later 50
         called interrupt ${asked === "read" ? 0 : count}`,
      );
    }
  }
});

/** What comes in reads, on a Windows console, which marks no pastes, and elsewhere. */
const READS = keyRows(`
  one^Mtwo^M      one^Jtwo    one
  -               -           two
  one^M^Mtwo      -           one
  ^M              one^J^Jtwo  two
  one^M^[[A!^M    !one^J      one!
  a\ufffdb^M      refused     a\ufffdb
`);
Deno.test("Editor takes an Enter with text after it in one read for a line of a paste, and refuses characters that were lost, on a Windows console, not elsewhere", async () => {
  for (const isWindowsConsole of [true, false]) {
    using person = new Person(40, { isWindowsConsole });
    for (const [input, ...prompts] of READS) {
      if (input !== "-") await person.play(`type ${input}`);
      const prompt = prompts[isWindowsConsole ? 0 : 1];
      if (prompt !== "-") await person.play(`gets ${prompt}`);
    }
  }
});

Deno.test("Editor that is plain writes what is queued, taken back and left as lines", async () => {
  using person = new Person(50, { isPlain: true });
  await person.play(`
    type one^Mtwo^[^Mthree^M^[[A^U^H^U^Dx
    | queued: one
    | queued: two
    |   three
    | Removed from the queue: two
    | ${LEAVING}
    | Does not leave`);
});

Deno.test("Editor leaves what was queued and typed on the terminal as lines, with its status or plain", async () => {
  const rows = ["queued: one", "  two"];
  for (const isPlain of [true, false]) {
    using person = new Person(40, { isPlain });
    if (!isPlain) person.editor.setStatus(() => "status");
    await person.type(fromCarets("one^[^Mtwo^Mthree"));
    await person.editor.leave("farewell\n");
    const above = isPlain ? rows : [];
    await person.sees(...above, ...rows, "> three", "farewell");
  }
});

Deno.test("Editor shows the first lines and the size of a long text that was sent", async () => {
  const lines = (count: number) => `${"x\n".repeat(count - 1)}x`;
  for (
    const [text, height, last] of [
      [lines(20), 20, "  x"],
      [lines(21), 6, "  [21 lines, 0.0 MB]"],
      ["x".repeat(5_900_000), 2, "  [1 line, 5.9 MB]"],
    ] as const
  ) {
    using person = new Person(2_000);
    const asked = person.editor.read();
    await person.type(`\x1b[200~${text}\x1b[201~\r`);
    assertEquals(await asked, { kind: "text", text });
    await person.emulator.settled();
    const shown = person.emulator.allText.split("\n");
    assertEquals([shown.length, shown.at(-1)], [height, last]);
  }
});

Deno.test("Editor refuses a paste of more than 16 MiB", async () => {
  using person = new Person(40);
  const asked = person.editor.read();
  const paste = "é".repeat(8 * 1024 * 1024 + 1);
  await person.type(`\x1b[200~${paste}\x1b[201~\r`);
  assertEquals(await asked, {
    kind: "refused",
    reason: redacted("The prompt is larger than 16 MiB"),
  });
});

Deno.test("Editor draws the last frame when it closes, also on a terminal whose new size it has not heard of", async () => {
  using person = new Person(40);
  await person.play(`
    status status
    type abc
    | status
    | > abc`);
  person.size = { ...person.size, columns: 30 };
  await person.editor.leave();
  await person.sees("> abc");
});

Deno.test("Editor ends with the terminal, whatever is dropped, and rejects every read of one that cannot be read", async () => {
  using person = new Person(40);
  person.leave();
  await setImmediate();
  await person.play("drops 0\ngets end");
  using typing = new Person(40);
  await typing.play("read\ntype abc");
  typing.leave();
  await typing.play("gets end");
  await typing.editor.leave("farewell\n");
  await typing.sees("> abc", "farewell");
  using broken = new Person(40);
  broken.leave(new Error("it is gone"));
  for (let i = 0; i < 2; i++) {
    await assertRejects(() => broken.editor.read(), Error, "it is gone");
  }
});

Deno.test("Editor draws the next frame soon after one that took a minute", async () => {
  using person = new Person(40);
  person.writing = 60_000;
  await person.play("read\ntype one\nlater 500\n| > one");
  person.writing = 0;
  await person.play("type  two\nlater 500\n| > one two");
});

Deno.test("Editor takes 10 MiB that are pasted at once whole, and draws few of them", async () => {
  using person = new Person(40);
  const asked = person.editor.read();
  const line = "All work and no play makes Jack a dull boy, 汉字 included.\n";
  const text = line.repeat(Math.ceil(10 * 1024 * 1024 / line.length));
  await person.type(fromCarets("[]^[[D^[[200~"));
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += 4096) {
    await person.type(bytes.subarray(at, at + 4096)); // as the terminal driver splits it
    person.clock.elapse(0.1);
  }
  for (const key of ["^[[201~", "^[[3~", "^?", "!"]) {
    await person.type(fromCarets(key));
  }
  person.clock.elapse(1_000);
  await person.emulator.settled();
  assert(person.emulator.allText.endsWith("!"));
  assert(person.written.length < text.length / 10);
  await person.type("\r");

  const entry = await asked;
  assert(entry.kind === "text");
  assert(entry.text === `[${text.slice(0, -1)}!`);
});

Deno.test("Editor draws nothing while the size changes, and the text again when it has rested for 100 ms", async () => {
  using person = new Person(40);
  const digits = "0123456789".repeat(6);
  await person.play(`read\ntype ${digits}\nlater 10`);
  const { length } = person.written;
  for (const columns of [30, 20, 50]) {
    await person.resize(columns);
    await person.play("type x\nlater 99");
  }
  await person.resize(40);
  await person.play("later 99");
  assertEquals(person.written.length, length);
  person.editor.print("above\n"); // must not wait
  assert(person.written.length > length);
  await person.play(
    `later 1
     | ...
     | above
     | > ${digits.slice(0, 38)}
     | ${digits.slice(38)}xxx`,
  );
});

Deno.test("Editor stops at Ctrl-Z with the cursor below the text, and draws the text again", async () => {
  for (const wasStopped of [true, false]) {
    using person = new Person(40);
    await person.play(`
      read
      type one^[^Mtwo^[[A
      | > one
      |   two
      type ^Z
      called stop 1`);
    await person.emulator.settled();
    assertEquals(person.emulator.cursor, { row: 2, column: 0 });
    person.goOn(wasStopped);
    const rows = ["> one", "  two"];
    await person.sees(...(wasStopped ? rows : []), ...rows);
    assertEquals(person.emulator.cursor.column, 5);
  }
});

Deno.test("Editor leaves what is typed where it is left, writes lines below it, and delivers nothing any more", async () => {
  using person = new Person(40);
  const asked = person.editor.read();
  await person.play("type one\n| > one");
  await person.editor.leave();
  person.editor.print("farewell\n");
  await person.play("type two^M\n| > one\n| farewell");
  const late = setImmediate("nothing");
  assertEquals(await Promise.race([asked, late]), "nothing");
});

Deno.test("Editor ends after a Ctrl-Z, before the program goes on, with the cursor below the text", async () => {
  using person = new Person(40);
  await person.play("read\ntype one\n| > one\ntype ^Z");
  await person.editor.leave();
  await person.sees("> one");
  assertEquals(person.emulator.cursor, { row: 1, column: 0 });
});

Deno.test("Editor writes at most 20 bytes for a letter at the end of a line, and 90 in its middle", async () => {
  using person = new Person(80);
  void person.editor.read();
  const bytesOf = async (keys: string) => {
    person.clock.elapse(1_000); // The last frame is old enough.
    const { length } = person.written;
    await person.type(fromCarets(keys));
    return new TextEncoder().encode(person.written.slice(length)).length;
  };
  await bytesOf("x".repeat(68)); // after the sign, up to column 70
  for (const key of ["y", "汉", "^?"]) assert(await bytesOf(key) <= 20);
  await bytesOf("^B".repeat(35));
  assert(await bytesOf("z") <= 90);
  await person.sees(`> ${"x".repeat(34)}z${"x".repeat(34)}y`);
});

testRows(
  'cutToWidth() shows in {columns} columns "{row}" of {text}',
  "columns | row | text",
  `
18 | a       b       c      | a\tb\tc
18 | ^A^[^?<200b><202e>     | \x01\x1b\x7f\u200b\u202e
18 | <1f3fb>汉👍🏽            | \u{1f3fb}汉👍🏽
5  | plain                  | plain
4  | pla…                   | plain
1  | …                      | plain
0  |                        | plain
-1 |                        | plain
5  | 日本…                  | 日本語
4  | 日…                    | 日本語
0  |                        |
2  | e\u0301…               | e\u0301e\u0301e\u0301
3  | a…                     | a🇩🇪b
3  | xx…                    | ${"x".repeat(1_000_000)}
`,
  ({ columns, row, text }) => {
    assertEquals(cutToWidth(text, Number(columns)), row);
  },
);

/** A painter on an emulator of 10 columns. */
function paint(rows: number, ...widths: ["code points"] | []) {
  const emulator = new Emulator(10, rows, ...widths);
  return { emulator, painter: new Painter((text) => emulator.write(text)) };
}

Deno.test("Painter keeps each row on one line of a terminal that draws a grapheme wider", async () => {
  const { emulator, painter } = paint(5, "code points");
  const rows = ["12345678👨‍👩‍👧", "second"]
    .map((text) => placed(cellsOfLine(text, 10), 10));
  painter.draw({ rows, cursor: { row: 1, column: 6 } });
  await emulator.settled();
  assertEquals(emulator.rows[1], "second");
  assertEquals(emulator.cursor, { row: 1, column: 6 });
});

Deno.test("Painter erases nothing above on a terminal that became lower and cut rows below the cursor", async () => {
  const { emulator, painter } = paint(10);
  const rows = Array.from("abcde", (text) => cellsOfLine(text, 10));
  const [first = []] = rows;
  const cursor = { row: 0, column: 0 };
  painter.draw({ rows, cursor }, "1\n2\n3\n4\n5\n");
  await emulator.resize(10, 6);
  painter.draw({ rows: rows.with(4, first), cursor }); // not known yet
  painter.move();
  painter.draw({ rows: [first], cursor });
  await emulator.settled();
  assert(emulator.allText.startsWith("1\n2\n3\n4\n5\n"));
});
