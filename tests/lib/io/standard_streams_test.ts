import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  errorSink,
  InputError,
  isReaderGone,
  OutputError,
  outputSink,
  readChunks,
} from "../../lib/standard_streams.ts";
import { randomNumbers } from "../support/random_numbers.ts";

/**
 * A non-blocking stream as Deno and Rust's `LineWriter` make of it: bytes after
 * the last newline are buffered, and a flush that would block throws without
 * saying how many bytes were written.
 */
class NonBlocking {
  readonly #isTerminal: boolean;
  #room: () => number;
  #buffer: number[] = [];
  readonly written: number[] = [];

  /** @param room The bytes that the system accepts at the next write. */
  constructor(room: () => number, { isTerminal = false } = {}) {
    this.#room = room;
    this.#isTerminal = isTerminal;
  }

  isTerminal(): boolean {
    return this.#isTerminal;
  }

  write(bytes: Uint8Array): Promise<number> {
    return Promise.try(() => {
      const lines = bytes.lastIndexOf(0x0a) + 1;
      let taken = 0;
      if (lines > 0) {
        this.#flush();
        taken = this.#raw(bytes.subarray(0, lines));
      }
      const rest = taken < lines ? lines : bytes.length;
      if (lines === 0 && bytes.length >= 1024) {
        this.#flush();
        return this.#raw(bytes);
      }
      const tail = bytes.subarray(taken, Math.min(rest, taken + 1024));
      this.#buffer.push(...tail);
      this.#flush();
      return taken + tail.length;
    });
  }

  #flush(): void {
    while (this.#buffer.length > 0) {
      this.#buffer.splice(0, this.#raw(Uint8Array.from(this.#buffer)));
    }
  }

  #raw(bytes: Uint8Array): number {
    const room = this.#room();
    // A pipe accepts a few bytes as a whole or not at all.
    const isWhole = !this.#isTerminal && bytes.length <= 4096;
    const taken = Math.min(room, bytes.length);
    if (taken === 0 || isWhole && taken < bytes.length) {
      throw new Deno.errors.WouldBlock("busy");
    }
    this.written.push(...bytes.subarray(0, taken));
    return taken;
  }
}

for (const isTerminal of [false, true]) {
  const what = isTerminal ? "terminal" : "pipe";
  Deno.test(`outputSink() loses and repeats nothing on a non-blocking ${what}`, async () => {
    const random = randomNumbers(1);
    for (let round = 0; round < 10; round++) {
      const output = new NonBlocking(
        () => Math.max(0, random(8000) - 2000),
        { isTerminal },
      );
      const sink = outputSink(output);
      const expected: number[] = [];
      for (let i = 0; i < 5; i++) {
        const bytes = new Uint8Array(random(3000));
        const lineLength = 1 + random(2000);
        bytes.forEach((_, at) =>
          bytes[at] = random(lineLength) === 0 ? 0x0a : 97 + at % 26
        );
        expected.push(...bytes);
        await sink.write(bytes, { isInLine: !bytes.includes(0x0a) });
      }
      assert(`${output.written}` === `${expected}`, "the bytes differ");
    }
  });
}

Deno.test("errorSink() writes the rest after a partial write, and waits while the stream would block", async () => {
  const results = [
    new Deno.errors.WouldBlock(),
    2,
    new Deno.errors.WouldBlock(),
    3,
  ];
  const texts: string[] = [];
  const sink = errorSink({
    write(bytes) {
      texts.push(new TextDecoder().decode(bytes));
      const result = results.shift() ?? 0;
      return typeof result === "number"
        ? Promise.resolve(result)
        : Promise.reject(result);
    },
  });

  await sink.write(new TextEncoder().encode("12345"));

  assertEquals(texts, ["12345", "12345", "345", "345"]);
});

Deno.test("readChunks() waits while the stream would block", async () => {
  const results = [
    new Deno.errors.WouldBlock(),
    1,
    new Deno.errors.WouldBlock(),
    new Deno.errors.WouldBlock(),
    2,
    null,
  ];
  const lengths: number[] = [];
  const chunks = readChunks({
    read() {
      const result = results.shift() ?? null;
      return result instanceof Error
        ? Promise.reject(result)
        : Promise.resolve(result);
    },
  });

  for await (const chunk of chunks) lengths.push(chunk.length);

  assertEquals(lengths, [1, 2]);
});

Deno.test("readChunks() says why it cannot read", async () => {
  const chunks = readChunks({
    read: () => Promise.reject(new Error("Is a directory (os error 21)")),
  });

  await assertRejects(
    () => chunks.next(),
    InputError,
    "Cannot read standard input: Is a directory (os error 21)",
  );
});

/** A sink whose stream fails. */
function failing(error: Error) {
  return outputSink({
    write: () => Promise.reject(error),
    isTerminal: () => false,
  });
}

const LINE = new TextEncoder().encode("line\n");

Deno.test("outputSink() says why it cannot write", async () => {
  await assertRejects(
    () => failing(new Error("No space left on device")).write(LINE),
    OutputError,
    "Cannot write standard output: No space left on device",
  );
});

for (
  const [name, error, isGone] of [
    ["a broken pipe", new Deno.errors.BrokenPipe(), true],
    ["a reset connection", new Deno.errors.ConnectionReset(), true],
    [
      "a broken pipe on Windows",
      Object.assign(new Error("(os error 233)"), { code: "EPIPE" }),
      true,
    ],
    [
      "a full disk",
      Object.assign(new Error("(os error 28)"), { code: "ENOSPC" }),
      false,
    ],
  ] as const
) {
  Deno.test(`isReaderGone() is ${isGone} for ${name}, and outputSink() rejects accordingly`, async () => {
    assertEquals(isReaderGone(error), isGone);
    const rejection = await assertRejects(() => failing(error).write(LINE));
    assert(isGone ? rejection === error : rejection instanceof OutputError);
  });
}
