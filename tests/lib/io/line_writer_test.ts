import { assert, assertEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { LineWriter } from "../../../lib/io/line_writer.ts";
import { FakeClock } from "../../support/clocks.ts";

const KIB = 1024;
const LONG = "x".repeat(256 * KIB);

/** A writer, and its sink, which finishes a write when the test allows it. */
class Output {
  readonly pieces: string[] = [];
  readonly writer = new LineWriter(this);
  isOpen = false;
  #write = Promise.withResolvers<void>();

  async write(bytes: Uint8Array): Promise<void> {
    this.pieces.push(new TextDecoder().decode(bytes));
    if (!this.isOpen) await this.#write.promise;
  }

  /** Finishes the write that has begun, and lets the next one begin. */
  async take(): Promise<void> {
    this.#write.resolve();
    this.#write = Promise.withResolvers();
    await setImmediate();
  }

  /** Finishes this write and all others. */
  async open(): Promise<void> {
    this.isOpen = true;
    await this.take();
  }

  async break(error: Error): Promise<void> {
    this.#write.reject(error);
    await setImmediate();
  }
}

Deno.test("LineWriter writes lines that are queued without an await in between in one piece", async () => {
  const output = new Output();
  const { pieces, writer } = output;
  writer.write("one\n");
  writer.write("two\n");
  await setImmediate();
  writer.write("three\n");
  writer.write("four\n");
  await output.take();
  assertEquals(pieces, ["one\ntwo\n", "three\nfour\n"]);
  assertEquals(writer.isIdle, false);
  assertEquals(await writer.flushWithin(1), false);
  await output.take();
  await writer.flush();
  assertEquals([writer.isIdle, await writer.flushWithin(1)], [true, true]);
});

Deno.test("LineWriter.gather() writes a line at once, and those of the next millisecond together, unless somebody waits for them or they are many", async () => {
  const endings: readonly ((writer: LineWriter, clock: FakeClock) => void)[] = [
    (_, clock) => clock.elapse(1),
    (writer) => writer.write("now\n"),
    (writer) => void writer.written(),
    (writer) => void writer.flush(),
    (writer) => writer.gather(LONG),
  ];
  for (const end of endings) {
    using clock = new FakeClock();
    const output = new Output();
    const { pieces, writer } = output;
    await output.open();
    for (const line of ["one\n", "two\n", "three\n"]) {
      writer.gather(line);
      await setImmediate();
    }
    assertEquals([pieces, clock.pending], [["one\n"], 1]);
    end(writer, clock);
    await setImmediate();
    assert(pieces[1]?.startsWith("two\nthree\n"));
    assertEquals([writer.isIdle, clock.pending], [true, 0]);
    for (const line of ["four\n", "five\n"]) {
      writer.gather(line);
      await setImmediate();
    }
    assertEquals(clock.pending, 1); // They are gathered again.
  }
});

Deno.test("LineWriter is full while 256 KiB wait: producers that look again after each piece write one by one", async () => {
  const output = new Output();
  const { writer, pieces } = output;
  const lines = ["-", "a", "b", "c"].map((name) => `${name}${LONG.slice(2)}\n`);
  const [first = "", ...rest] = lines;
  writer.write(first);
  let done = 0;
  const turns = rest.map(async (line) => {
    while (writer.isFull) await writer.progress;
    writer.write(line);
    done++;
  });
  for (let i = 0; i < 3; i++) {
    assertEquals(done, i);
    // All waiting callers wake together, but only one finds room.
    while (done === i) await output.take();
    assertEquals(done, i + 1);
  }
  await Promise.all(turns);
  await output.open();
  await writer.flush();
  assertEquals(pieces.join("") === lines.join(""), true);
});

Deno.test("LineWriter writes long lines in pieces of 128 KiB, and cuts no character", async () => {
  const output = new Output();
  await output.open();
  const long = "aé😀".repeat(100 * KIB) + "\n";
  output.writer.write(long);
  await output.writer.flush();
  assertEquals(output.pieces.length, 6);
  assert(output.pieces.join("") === long);
});

Deno.test("LineWriter.flush() waits for lines that are queued while it waits", async () => {
  let text = "";
  const writer: LineWriter = new LineWriter({
    async write(bytes) {
      await undefined;
      text += new TextDecoder().decode(bytes);
      if (text.length < 10) writer.write(`${text.length}`);
    },
  });
  writer.write("0");
  await writer.flush();
  assertEquals(text, "0123456789");
});

Deno.test("LineWriter says when its sink breaks, lets everybody go, and writes and holds nothing more", async () => {
  const output = new Output();
  const { writer } = output;
  writer.write(LONG);
  await setImmediate();
  writer.write(LONG.repeat(4));
  const { progress } = writer;
  await output.break(new Deno.errors.BrokenPipe("gone"));
  await progress;
  writer.write("nobody reads this\n");
  assertEquals(writer.isFull, false);
  for (const failed of [writer.failed, writer.flush()]) {
    await assertRejects(() => failed, Deno.errors.BrokenPipe, "gone");
  }
  assertEquals([writer.isIdle, output.pieces.length], [true, 1]);
});
