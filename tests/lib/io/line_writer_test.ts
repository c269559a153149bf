import { assert, assertEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { LineWriter } from "../../../lib/io/line_writer.ts";
import type { ByteSink } from "../../../lib/io/standard_streams.ts";
import { FakeClock } from "../../support/clocks.ts";

const KIB = 1024;
const LONG = "x".repeat(256 * KIB);

/** A sink that finishes a write when the test allows it. */
class SlowSink implements ByteSink {
  /** The pieces of all writes. */
  readonly pieces: string[] = [];
  #isOpen = false;
  #write = Promise.withResolvers<void>();
  #offered = Promise.withResolvers<void>();

  async write(bytes: Uint8Array): Promise<void> {
    this.pieces.push(new TextDecoder().decode(bytes));
    this.#offered.resolve();
    if (!this.#isOpen) await this.#write.promise;
  }

  /** Resolves when a write has begun. */
  get offered(): Promise<void> {
    return this.#offered.promise;
  }

  /** Finishes the write that has begun, and if asked to all others. */
  take({ all = false } = {}): void {
    this.#isOpen = all;
    this.#write.resolve();
    this.#write = Promise.withResolvers();
    this.#offered = Promise.withResolvers();
  }

  break(error: Error): void {
    this.#write.reject(error);
  }
}

function setUp() {
  const sink = new SlowSink();
  return { sink, writer: new LineWriter(sink) };
}

Deno.test("LineWriter writes lines that are queued without an await in between in one piece", async () => {
  const { sink, writer } = setUp();
  writer.write("one\n");
  writer.write("two\n");
  await sink.offered;
  writer.write("three\n");
  writer.write("four\n");
  sink.take();
  await sink.offered;
  assertEquals(sink.pieces, ["one\ntwo\n", "three\nfour\n"]);
  assertEquals(writer.isIdle, false);
  sink.take();
  await writer.flush();
  assertEquals(writer.isIdle, true);
});

Deno.test("LineWriter.gather() writes a line at once, and those of the next millisecond together", async () => {
  using clock = new FakeClock();
  const { sink, writer } = setUp();
  sink.take({ all: true });
  writer.gather("one\n");
  await setImmediate();
  assertEquals(sink.pieces, ["one\n"]);
  for (const line of ["two\n", "three\n"]) {
    writer.gather(line);
    await setImmediate();
  }
  assertEquals(sink.pieces, ["one\n"]);
  clock.elapse(1);
  await setImmediate();
  assertEquals(sink.pieces, ["one\n", "two\nthree\n"]);
});

Deno.test("LineWriter gathers nothing while somebody waits for it, or much is queued", async () => {
  const endings: readonly ((writer: LineWriter) => unknown)[] = [
    (writer) => writer.write("now\n"),
    (writer) => writer.written(),
    (writer) => writer.flush(),
    (writer) => writer.gather(LONG),
  ];
  for (const end of endings) {
    using clock = new FakeClock();
    const { sink, writer } = setUp();
    sink.take({ all: true });
    writer.gather("one\n");
    await setImmediate();
    writer.gather("two\n");
    await setImmediate();
    assertEquals([sink.pieces.length, clock.pending], [1, 1]);
    end(writer);
    await setImmediate();
    assert(sink.pieces[1]?.startsWith("two\n"));
    assertEquals([writer.isIdle, clock.pending], [true, 0]);
  }
});

Deno.test("LineWriter.write() queues at once, and tells of a backlog from 1 MiB on", async () => {
  const { sink, writer } = setUp();
  for (let i = 0; i < 4; i++) writer.write(LONG);
  assertEquals(writer.hasBacklog, false);
  writer.write("\n");
  assertEquals(writer.hasBacklog, true);
  await sink.offered;
  sink.take({ all: true });
  await writer.flush();
  assertEquals(writer.hasBacklog, false);
});

Deno.test("LineWriter is full while 256 KiB wait: producers that look again after each piece write one by one", async () => {
  const { sink, writer } = setUp();
  const lines = ["-", "a", "b", "c"].map((name) => `${name}${LONG.slice(2)}\n`);
  const [first = "", ...rest] = lines;
  writer.write(first);
  const done: number[] = [];
  const turns = rest.map(async (line, index) => {
    while (writer.isFull) await writer.progress;
    writer.write(line);
    done.push(index);
  });
  for (let i = 0; i < 3; i++) {
    assertEquals(done.length, i);
    while (done.length === i) {
      await sink.offered;
      sink.take();
      await setImmediate();
    }
    // All waiting callers wake together, but only one finds room.
    assertEquals(done.length, i + 1);
  }
  await Promise.all(turns);
  sink.take({ all: true });
  await writer.flush();
  assertEquals(done, [0, 1, 2]);
  assert(sink.pieces.join("") === lines.join(""));
});

Deno.test("LineWriter writes long lines in pieces of 128 KiB, and cuts no character", async () => {
  const { sink, writer } = setUp();
  sink.take({ all: true });
  const long = "aé😀".repeat(100 * KIB) + "\n";
  writer.write(long);
  await writer.flush();
  assertEquals(sink.pieces.length, 6);
  assert(sink.pieces.join("") === long);
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
  await writer.flush(); // There is nothing to wait for.
});

Deno.test("LineWriter says when its sink breaks, lets everybody go, and writes and holds nothing more", async () => {
  const { sink, writer } = setUp();
  writer.write(LONG);
  await sink.offered;
  writer.write(LONG.repeat(4));
  const { progress } = writer;
  sink.break(new Deno.errors.BrokenPipe("gone"));
  await progress;
  writer.write("nobody reads this\n");
  assertEquals(writer.isFull, false);
  await assertRejects(() => writer.failed, Deno.errors.BrokenPipe, "gone");
  await assertRejects(() => writer.flush(), Deno.errors.BrokenPipe, "gone");
  assertEquals([writer.isIdle, sink.pieces.length], [true, 1]);
});

Deno.test("LineWriter.flushWithin() tells whether nothing is left to wait for", async () => {
  const { sink, writer } = setUp();
  writer.write("line\n");
  assertEquals(await writer.flushWithin(1), false);
  sink.take({ all: true });
  assertEquals(await writer.flushWithin(60_000), true);
});
