import { assert, assertEquals, assertRejects } from "@std/assert";
import { EditingTerminal } from "../../../lib/interactive/editing_terminal.ts";
import type { KeyModeEvents } from "../../../lib/interactive/key_mode.ts";
import { Emulator } from "../../support/terminal_emulator.ts";

/** A terminal on an emulator, a person who types, and a clock that only tests advance. */
class Person implements Disposable {
  readonly emulator = new Emulator(40, 100);
  readonly terminal: EditingTerminal;
  time = 0;
  /** How long each write to the terminal takes, in milliseconds. */
  writing = 0;
  interrupts = 0;
  /** All output, including escape codes. */
  written = "";
  readonly #input: ReadableStreamDefaultController<Uint8Array>;
  #events: KeyModeEvents | undefined;
  #size = { columns: 40, rows: 100 };
  #wrote = Promise.withResolvers<void>();

  constructor() {
    const opened: ReadableStreamDefaultController<Uint8Array>[] = [];
    const stdin = new ReadableStream<Uint8Array>({
      start: (controller) => {
        opened.push(controller);
      },
    });
    const [input] = opened;
    assert(input);
    this.#input = input;
    this.terminal = new EditingTerminal({
      stdin: () => stdin,
      stdout: { write: () => Promise.resolve() },
      stderr: (text) => {
        this.time += this.writing;
        this.written += text;
        this.emulator.write(text);
        this.#wrote.resolve();
        this.#wrote = Promise.withResolvers();
      },
      stdoutIsTerminal: true,
      colour: false,
      quiet: true,
      size: () => this.#size,
      keyMode: (events) => {
        this.#events = events;
        return { [Symbol.dispose]() {} };
      },
      onInterrupt: () => this.interrupts++,
      now: () => this.time,
    });
  }

  type(input: string | Uint8Array): void {
    this.#input.enqueue(
      typeof input === "string" ? new TextEncoder().encode(input) : input,
    );
  }

  fail(error: Error): void {
    this.#input.error(error);
  }

  /** Waits until the emulator shows these rows. */
  async sees(...rows: readonly string[]): Promise<void> {
    for (;;) {
      const { promise } = this.#wrote;
      await this.emulator.settled();
      if (this.emulator.allText === rows.join("\n")) return;
      await promise;
    }
  }

  async resize(columns: number): Promise<void> {
    await this.emulator.settled();
    this.#size = { columns, rows: 100 };
    await this.emulator.resize(columns, 100);
    this.#events?.resize();
  }

  async stop(): Promise<void> {
    await this.#events?.suspend();
    await this.emulator.settled();
  }

  goOn(): void {
    this.#events?.resume();
  }

  [Symbol.dispose](): void {
    this.terminal[Symbol.dispose]();
  }
}

Deno.test("Ctrl-C drops a run and the text typed ahead, and does not leave for a second", async () => {
  using person = new Person();
  let drops = 0;
  person.terminal.begin(() => drops++);
  person.type("one\rtwo\rthr");
  await person.sees("> one", "> two", "> thr");

  assert(person.terminal.interrupt());
  assertEquals(drops, 1);
  person.terminal.end(false);
  const asked = person.terminal.readPrompt();
  person.time = 999;
  assert(person.terminal.interrupt());
  person.type("go on\r");
  assertEquals(await asked, { kind: "prompt", text: "go on" });

  const last = person.terminal.readPrompt();
  person.time = 1_000;
  assert(person.terminal.interrupt());
  assertEquals(await last, { kind: "interrupt" });
});

Deno.test("Ctrl-C as a byte calls onInterrupt, but not within a paste", async () => {
  using person = new Person();
  const asked = person.terminal.readPrompt();
  person.type("\x03\x1b[200~\x03\x1b[201~\r");
  assertEquals(await asked, { kind: "prompt", text: "\x03" });
  assertEquals(person.interrupts, 1);
});

Deno.test("a paste without an end is shown, and ends with Ctrl-C", async () => {
  using person = new Person();
  const asked = person.terminal.readPrompt();
  person.type("\x1b[200~one\rtwo\r");
  await person.sees("", "> one", "  two");
  person.terminal.interrupt();
  await person.sees("", ">");
  person.type("three\r");
  assertEquals(await asked, { kind: "prompt", text: "three" });
});

Deno.test("a frame that took a minute does not delay the next one by minutes", async () => {
  using person = new Person();
  void person.terminal.readPrompt();
  person.writing = 60_000;
  person.type("one");
  await person.sees("", "> one");
  person.writing = 0;
  person.type(" two");
  await person.sees("", "> one two");
});

Deno.test("a lone Escape leaves a search", async () => {
  using person = new Person();
  void person.terminal.readPrompt();
  person.type("\x12");
  await person.sees("", ">", "search:");
  person.type("\x1b");
  await person.sees("", ">");
});

Deno.test("10 MiB that are pasted at once arrive whole, and few of them are drawn", async () => {
  using person = new Person();
  const asked = person.terminal.readPrompt();
  const line = "All work and no play makes Jack a dull boy, 汉字 included.\n";
  const text = line.repeat(Math.ceil(10 * 1024 * 1024 / line.length));
  person.type("[]\x1b[D\x1b[200~");
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += 4096) {
    person.type(bytes.subarray(at, at + 4096)); // as the terminal driver splits it
  }
  person.type("\x1b[201~");
  person.type("\x1b[3~");
  person.type("\x7f");
  person.type("!");
  for (;;) {
    await person.emulator.settled();
    if (person.emulator.allText.endsWith("!")) break;
    await new Promise((resolve) => setTimeout(resolve));
  }
  assert(person.written.length < text.length / 10);
  person.type("\r");

  const input = await asked;
  assert(input.kind === "prompt");
  assert(input.text === `[${text.slice(0, -1)}!`);
});

Deno.test("a prompt is drawn again after each of 100 resizes, and leaves no remains", async () => {
  using person = new Person();
  const asked = person.terminal.readPrompt();
  const digits = "0123456789".repeat(6);
  person.type(digits);
  for (let i = 0; i < 100; i++) {
    const columns = 10 + i * 7 % 50;
    await person.resize(columns);
    const first = `> ${digits.slice(0, columns - 2)}`;
    const others = digits.slice(columns - 2)
      .match(new RegExp(`.{1,${columns}}`, "g")) ?? [];
    await person.sees("", first, ...others);
  }
  person.type("\r");
  assertEquals((await asked).kind, "prompt");
});

Deno.test("another program gets the terminal with the cursor below the prompt", async () => {
  using person = new Person();
  void person.terminal.readPrompt();
  person.type("one\x1b\rtwo\x1b[A");
  await person.sees("", "> one", "  two");

  await person.stop();

  assertEquals(person.emulator.cursor, { row: 3, column: 0 });
  assert(person.written.endsWith("\x1b[?2004l"));
  person.goOn();
  await person.sees("", "> one", "  two", "> one", "  two");
  assertEquals(person.emulator.cursor, { row: 3, column: 5 });
});

Deno.test("a terminal that cannot be read rejects the request for a prompt", async () => {
  using person = new Person();
  const asked = person.terminal.readPrompt();
  person.fail(new Error("Cannot read standard input: it is gone"));
  await assertRejects(() => asked, Error, "it is gone");
  await assertRejects(() => person.terminal.readPrompt(), Error, "it is gone");
});

Deno.test("the end of a terminal is the end of the input, after the typed text", async () => {
  using person = new Person();
  person.terminal.begin(() => {});
  person.type("one\r\x04two\r");
  await person.sees("> one");
  person.terminal.end(true);
  assertEquals((await person.terminal.readPrompt()).kind, "prompt");
  assertEquals(await person.terminal.readPrompt(), { kind: "end" });
  assertEquals(await person.terminal.readPrompt(), { kind: "end" });
});
