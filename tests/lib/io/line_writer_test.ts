import { assert, assertEquals, assertRejects } from "@std/assert";
import { LineWriter } from "../../lib/line_writer.ts";

const NEVER = new AbortController().signal;
const KIB = 1024;

/** A stream that accepts a piece when the test allows it. */
class SlowStream {
  /** The written pieces. */
  readonly pieces: string[] = [];
  readonly stream: WritableStream<Uint8Array>;
  #taken = Promise.withResolvers<void>();
  #offered = Promise.withResolvers<void>();
  #isOpen = false;

  constructor() {
    this.stream = new WritableStream({
      write: async (bytes) => {
        this.pieces.push(new TextDecoder().decode(bytes));
        this.#offered.resolve();
        if (this.#isOpen) return;
        await this.#taken.promise;
        this.#taken = Promise.withResolvers();
        this.#offered = Promise.withResolvers();
      },
    });
  }

  /** Resolves when a piece waits to be accepted. */
  get offered(): Promise<void> {
    return this.#offered.promise;
  }

  take(): void {
    this.#taken.resolve();
  }

  /** Accepts all pieces from now on. */
  open(): void {
    this.#isOpen = true;
    this.#taken.resolve();
  }

  break(error: Error): void {
    this.#taken.reject(error);
  }
}

Deno.test("LineWriter writes lines that are queued without an await in between in one piece", async () => {
  const slow = new SlowStream();
  const writer = new LineWriter(slow.stream.getWriter());

  writer.write("one\n");
  writer.write("two\n");
  await slow.offered;
  writer.write("three\n");
  writer.write("four\n");
  slow.take();
  await slow.offered;
  while (slow.pieces.length < 2) await slow.offered;
  slow.take();
  await writer.flush();

  assertEquals(slow.pieces, ["one\ntwo\n", "three\nfour\n"]);
  assertEquals(writer.queued, 0);
});

Deno.test("LineWriter.write() queues at once, however much waits", async () => {
  const slow = new SlowStream();
  const writer = new LineWriter(slow.stream.getWriter());

  writer.write("x".repeat(1024 * KIB));
  writer.write("last\n");

  assertEquals(writer.queued, 1024 * KIB + 5);
  slow.open();
  await writer.flush();
});

Deno.test("LineWriter.writeInTurn() waits while 256 KiB wait, in the order of the calls", async () => {
  const slow = new SlowStream();
  const writer = new LineWriter(slow.stream.getWriter());
  const line = "x".repeat(256 * KIB - 2) + "\n";
  writer.write("-" + line);
  const done: string[] = [];
  const turns = ["a", "b", "c"].map(async (name) => {
    await writer.writeInTurn([name + line], NEVER);
    done.push(name);
  });

  for (let i = 0; i < 3; i++) {
    await slow.offered;
    assertEquals(done.length, i);
    slow.take();
    await Promise.race(turns.slice(i));
    // All waiting callers wake together, but only one finds room.
    assert(writer.queued <= 512 * KIB, `${writer.queued} are queued`);
  }
  await slow.offered;
  slow.take();
  await writer.flush();

  assertEquals(done, ["a", "b", "c"]);
  assertEquals(slow.pieces, ["-" + line, "a" + line, "b" + line, "c" + line]);
});

Deno.test("LineWriter.writeInTurn() writes nothing once its signal is aborted", async () => {
  const slow = new SlowStream();
  const writer = new LineWriter(slow.stream.getWriter());
  writer.write("x".repeat(256 * KIB));
  const controller = new AbortController();
  const aborted = writer.writeInTurn(["aborted\n"], controller.signal);
  const other = writer.writeInTurn(["other\n"], NEVER);

  controller.abort();
  await slow.offered;
  slow.open();
  await Promise.all([aborted, other]);
  await writer.writeInTurn(["aborted before\n"], controller.signal);
  await writer.flush();

  assertEquals(slow.pieces.slice(1), ["other\n"]);
});

Deno.test("LineWriter.writeInTurn() stops asking for lines once its signal is aborted", async () => {
  const slow = new SlowStream();
  slow.open();
  const writer = new LineWriter(slow.stream.getWriter());
  const controller = new AbortController();
  let asked = 0;
  function* lines() {
    for (;;) {
      if (++asked === 3) controller.abort();
      yield `${asked}\n`;
    }
  }

  await writer.writeInTurn(lines(), controller.signal);
  await writer.flush();

  assertEquals(slow.pieces.join(""), "1\n2\n");
  assertEquals(asked, 3);
});

Deno.test("LineWriter.writeInTurn() waits for few lines that are being written, and not for many", async () => {
  const slow = new SlowStream();
  const writer = new LineWriter(slow.stream.getWriter());
  writer.write("first\n");
  await slow.offered;
  const second = writer.writeInTurn(["second\n"], NEVER);
  assertEquals(writer.queued, "first\n".length);

  slow.take();
  await second;
  assertEquals(writer.queued, "second\n".length);

  writer.write("x".repeat(16 * KIB));
  await writer.writeInTurn(["last\n"], NEVER);
  slow.open();
  await writer.flush();
  assertEquals(slow.pieces.length, 3);
});

Deno.test("LineWriter writes long lines in pieces of 256 KiB, and cuts no character", async () => {
  const slow = new SlowStream();
  slow.open();
  const writer = new LineWriter(slow.stream.getWriter());
  const long = "aé😀".repeat(100 * KIB) + "\n";

  writer.write(long);
  await writer.flush();

  assertEquals(slow.pieces.length, 3);
  assert(slow.pieces.join("") === long);
});

Deno.test("LineWriter.flush() waits for lines that are queued while it waits", async () => {
  const pieces: string[] = [];
  const writer: LineWriter = new LineWriter(
    new WritableStream<Uint8Array>({
      write: (bytes) => {
        pieces.push(new TextDecoder().decode(bytes));
        if (pieces.length < 10) writer.write(`${pieces.length}\n`);
      },
    }).getWriter(),
  );

  writer.write("0\n");
  await writer.flush();

  assertEquals(pieces.join(""), "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  await writer.flush(); // There is nothing to wait for.
});

Deno.test("LineWriter says when its stream breaks, and lets everybody go", async () => {
  const slow = new SlowStream();
  const writer = new LineWriter(slow.stream.getWriter());
  writer.write("x".repeat(256 * KIB));
  const turns = [1, 2].map((i) => writer.writeInTurn([`${i}\n`], NEVER));
  const room = writer.room(1);

  await slow.offered;
  slow.break(new Deno.errors.BrokenPipe("gone"));
  await Promise.all([...turns, room]);
  writer.write("nobody reads this\n");
  await writer.writeInTurn(["nor this\n"], NEVER);

  await assertRejects(() => writer.failed, Deno.errors.BrokenPipe, "gone");
  await assertRejects(() => writer.flush(), Deno.errors.BrokenPipe, "gone");
  assertEquals([writer.queued, slow.pieces.length], [0, 1]);
});

Deno.test("LineWriter writes nothing more once a write has failed, and holds nothing", async () => {
  const failure = Promise.withResolvers<never>();
  let writes = 0;
  const writer = new LineWriter({
    write: () => {
      writes++;
      return failure.promise;
    },
  });

  writer.write("first\n");
  await Promise.resolve();
  writer.write("queued while the first is written\n");
  failure.reject(new Deno.errors.BrokenPipe("gone"));
  await assertRejects(() => writer.flush(), Deno.errors.BrokenPipe);
  writer.write("queued after the failure\n");
  await assertRejects(() => writer.flush(), Deno.errors.BrokenPipe);

  assertEquals([writes, writer.queued], [1, 0]);
});

Deno.test("LineWriter.flushWithin() tells whether nothing is left to wait for", async () => {
  const slow = new SlowStream();
  const writer = new LineWriter(slow.stream.getWriter());
  writer.write("line\n");

  assertEquals(await writer.flushWithin(1), false);
  slow.open();
  assertEquals(await writer.flushWithin(60_000), true);
});

Deno.test("LineWriter keeps lines whole and each task's in order, whoever writes", async () => {
  let text = "";
  const decoder = new TextDecoder();
  const writer = new LineWriter(
    new WritableStream<Uint8Array>({
      write: async (bytes) => {
        await new Promise((resolve) => setTimeout(resolve, 0));
        text += decoder.decode(bytes);
      },
    }).getWriter(),
  );
  const tasks = Array.from({ length: 50 }, (_, task) => task);

  await Promise.all(tasks.map(async (task) => {
    for (let i = 0; i < 50; i++) {
      const line = `${task} ${i} ${"é".repeat(task * 20)}\n`;
      if (i % 10 === 0) writer.write(line);
      else await writer.writeInTurn([line], NEVER);
    }
  }));
  await writer.flush();

  const lines = text.split("\n").slice(0, -1).map((line) => line.split(" "));
  assertEquals(lines.length, 2500);
  for (const task of tasks) {
    const own = lines.filter(([name]) => name === `${task}`);
    assertEquals(own.map(([_, i]) => Number(i)), Array.from(own, (_, i) => i));
    assert(own.every(([_, __, rest]) => rest === "é".repeat(task * 20)));
  }
});
