import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { PlainTerminal } from "../../../lib/interactive/plain_terminal.ts";
import type { TerminalOptions } from "../../../lib/interactive/terminal.ts";

const HOSTILE = "a\x1b[31mb\x1b]0;t\x07c\x9b2Jd\u202ee";

/** A terminal in memory, and its output. */
function open(
  input: readonly (string | Uint8Array)[] = [],
  options: Partial<TerminalOptions> = {},
) {
  const written = { stdout: "", stderr: "" };
  const terminal = new PlainTerminal({
    stdin: ReadableStream.from(
      input.map((part) =>
        typeof part === "string" ? new TextEncoder().encode(part) : part
      ),
    ),
    stdout: new WritableStream<Uint8Array>({
      write(bytes) {
        written.stdout += new TextDecoder().decode(bytes);
      },
    }).getWriter(),
    stderr: (text) => written.stderr += text,
    stdoutIsTerminal: false,
    quiet: false,
    promptSign: false,
    ...options,
  });
  return { terminal, written };
}

/** All input, up to its end. */
async function readAll(terminal: PlainTerminal): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const input = await terminal.readPrompt();
    if (input.kind === "end") return lines;
    lines.push(input.kind === "prompt" ? input.text : `(${input.kind})`);
  }
}

Deno.test("PlainTerminal reads lines, also one without an end, wherever they are cut", async () => {
  const { terminal, written } = open(["on", "e\ntwo\r\n\nth", "ree"]);
  assertEquals(await readAll(terminal), ["one", "two", "", "three"]);
  assertEquals(written, { stdout: "", stderr: "" });
});

Deno.test("PlainTerminal turns input that is not UTF-8 into U+FFFD", async () => {
  const { terminal } = open([Uint8Array.of(0x61, 0xff, 0x62, 0x0a)]);
  assertEquals(await readAll(terminal), ["a\ufffdb"]);
});

Deno.test("PlainTerminal reports a line over 64 MiB, and continues with the next one", async () => {
  const mebibyte = new Uint8Array(1024 * 1024).fill(0x61);
  const { terminal } = open([
    ...["before\n", ...Array<Uint8Array>(64).fill(mebibyte), "a\n"],
    "after\n",
  ]);
  assertEquals(await readAll(terminal), ["before", "(too long)", "after"]);
});

Deno.test("PlainTerminal shows a prompt sign to a person, and leaves the row at the end", async () => {
  const { terminal, written } = open(["one\n"], { promptSign: true });
  await readAll(terminal);
  assertEquals(written, { stdout: "", stderr: "> > \n" });
});

Deno.test("PlainTerminal ends the row of the prompt at Ctrl-C", async () => {
  const { terminal, written } = open([], {
    stdin: new ReadableStream<Uint8Array>(),
    promptSign: true,
  });
  const input = terminal.readPrompt();
  assert(terminal.interrupt());
  assertEquals(await input, { kind: "interrupt" });
  assertEquals(written.stderr, "> \n");
});

Deno.test("PlainTerminal hands Ctrl-C to what has begun, until it ends", () => {
  const { terminal } = open();
  let interrupts = 0;
  assertFalse(terminal.interrupt());
  terminal.begin(() => interrupts++);
  assert(terminal.interrupt());
  terminal.end();
  assertFalse(terminal.interrupt());
  assertEquals(interrupts, 1);
});

Deno.test("PlainTerminal writes progress, banner, notes and errors to standard error, cleaned, a line each", () => {
  const { terminal, written } = open();
  terminal.banner(`banner ${HOSTILE}`);
  terminal.progress({ event: "progress", node: HOSTILE, status: "x\ny\rz" });
  terminal.progress({ event: "progress", node: "", status: "" });
  terminal.note(`note ${HOSTILE}`);
  terminal.error(`${HOSTILE}\nsecond line`);
  assertEquals(written, {
    stdout: "",
    stderr: "banner abcde\nabcde: x yz\n: \nnote abcde\n" +
      "Error: abcde second line\n",
  });
});

Deno.test("PlainTerminal omits banner and progress if quiet", async () => {
  const { terminal, written } = open([], { quiet: true });
  terminal.banner("banner");
  terminal.begin(() => {});
  terminal.progress({ event: "progress", node: "plan", status: "started" });
  terminal.end();
  await terminal.reply("reply");
  terminal.note("note");
  terminal.error("wrong");
  assertEquals(written, { stdout: "reply\n", stderr: "note\nError: wrong\n" });
});

Deno.test("PlainTerminal writes a reply and one newline, byte for byte", async () => {
  const { terminal, written } = open();
  await terminal.reply(HOSTILE);
  await terminal.reply("");
  await terminal.reply("ends\n");
  assertEquals(written.stdout, `${HOSTILE}\n\nends\n\n`);
});

Deno.test("PlainTerminal cleans a reply for a terminal, lines and tabs stay", async () => {
  const { terminal, written } = open([], { stdoutIsTerminal: true });
  await terminal.reply(`${HOSTILE}\n\tnext\r\n`);
  assertEquals(written.stdout, "abcde\n\tnext\n\n");
});

Deno.test("PlainTerminal.reply() resolves when the reply is written", async () => {
  const gate = Promise.withResolvers<void>();
  const { terminal } = open([], {
    stdout: new WritableStream<Uint8Array>({ write: () => gate.promise })
      .getWriter(),
  });
  let isWritten = false;
  const reply = terminal.reply("reply").then(() => isWritten = true);
  await Promise.race([reply, new Promise((resolve) => setTimeout(resolve))]);
  assertFalse(isWritten);
  gate.resolve();
  await reply;
});

Deno.test("PlainTerminal.reply() rejects when the reader is gone", async () => {
  const { terminal } = open([], {
    stdout: new WritableStream<Uint8Array>({
      write: () => Promise.reject(new Deno.errors.BrokenPipe()),
    }).getWriter(),
  });
  for (let time = 0; time < 2; time++) {
    await assertRejects(() => terminal.reply("x"), Deno.errors.BrokenPipe);
  }
});
