import { assert, assertEquals, assertRejects } from "@std/assert";
import { shareEventLoop } from "../../../lib/io/event_loop.ts";
import {
  errorSink,
  InputError,
  isReaderGone,
  kindOf,
  outputSink,
  readChunks,
} from "../../../lib/io/standard_streams.ts";
import { randomNumbers } from "../../support/random_numbers.ts";

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

/** Lets timers fire at once, until it is disposed of. */
function withoutPauses(): Disposable {
  const { timeout } = AbortSignal;
  AbortSignal.timeout = () => timeout.call(AbortSignal, 0);
  return { [Symbol.dispose]: () => void (AbortSignal.timeout = timeout) };
}

for (const isTerminal of [false, true]) {
  const what = isTerminal ? "terminal" : "pipe";
  Deno.test(`outputSink() loses and repeats nothing on a non-blocking ${what}`, async () => {
    using _ = withoutPauses();
    const random = randomNumbers(1);
    for (let round = 0; round < 20; round++) {
      const room = () => Math.max(0, random(8000) - 2000);
      const output = new NonBlocking(room, { isTerminal });
      const sink = outputSink(output, { isTerminal });
      const expected: number[] = [];
      for (let i = 0; i < 5; i++) {
        const bytes = new Uint8Array(random(i % 2 === 0 ? 3000 : 20_000));
        const lineLength = 1 + random(2000);
        bytes.forEach((_, at) =>
          bytes[at] = random(lineLength) === 0 ? 0x0a : 97 + at % 26
        );
        for (const byte of bytes) expected.push(byte);
        await sink.write(bytes);
      }
      assert(`${output.written}` === `${expected}`, "the bytes differ");
    }
  });
}

for (const canBlock of [true, false]) {
  Deno.test(`outputSink() loses nothing of many short lines if the output ${canBlock ? "can" : "cannot"} be made blocking`, async () => {
    using _ = withoutPauses();
    const random = randomNumbers(1);
    let room = () => Math.max(0, random(20_000) - 2000);
    const output = new NonBlocking(() => room());
    const sink = outputSink(output, {
      isTerminal: false,
      findDirectSink: async () => {
        await Promise.resolve();
        if (canBlock) room = () => Infinity;
        return canBlock ? errorSink(output) : undefined;
      },
    });
    const lines = new TextEncoder().encode(`${"x".repeat(63)}\n`.repeat(1024));
    const count = 20;
    for (let i = 0; i < count; i++) await sink.write(lines);
    assertEquals(output.written.length, count * lines.length);
    const newlines = output.written.filter((byte) => byte === 0x0a);
    assertEquals(newlines.length, count * 1024);
  });
}

/** A transfer that fails with `WouldBlock` for each `undefined`, and else yields these. */
function transfers<T>(...results: (T | undefined)[]): () => Promise<T> {
  return () => {
    const result = results.shift();
    return result === undefined
      ? Promise.reject(new Deno.errors.WouldBlock())
      : Promise.resolve(result);
  };
}

Deno.test("errorSink() writes the rest after a partial write, and waits while the stream would block", async () => {
  const texts: string[] = [];
  const transfer = transfers(undefined, 2, undefined, 3);
  const sink = errorSink({
    write(bytes) {
      texts.push(new TextDecoder().decode(bytes));
      return transfer();
    },
  });
  await sink.write(new TextEncoder().encode("12345"));
  assertEquals(texts, ["12345", "12345", "345", "345"]);
});

Deno.test("readChunks() waits while the stream would block", async () => {
  const read = transfers(undefined, 1, undefined, undefined, 2, null);
  const chunks = await Array.fromAsync(readChunks({ read }));
  assertEquals(chunks.map((chunk) => chunk.length), [1, 2]);
});

Deno.test("readChunks() says why it cannot read", async () => {
  const error = new Error("Is a directory (os error 21)");
  const chunks = readChunks({ read: () => Promise.reject(error) });
  await assertRejects(
    () => chunks.next(),
    InputError,
    "Cannot read standard input: Is a directory (os error 21)",
  );
});

Deno.test("kindOf() tells a terminal that sends keys from a pipe of mintty, and from data", async () => {
  const { isTerminal, setRaw } = Deno.stdin;
  const modes: boolean[] = [];
  try {
    Deno.stdin.isTerminal = () => true;
    Deno.stdin.setRaw = (isRaw) => void modes.push(isRaw);
    assertEquals([await kindOf("stdin"), modes], ["terminal", [true, false]]);
    Deno.stdin.setRaw = () => {
      throw new Error("os error 6");
    };
    assertEquals(await kindOf("stdin"), "lines");
    Deno.stdin.isTerminal = () => false;
    assertEquals(await kindOf("stdin"), "data");
  } finally {
    Object.assign(Deno.stdin, { isTerminal, setRaw });
  }
});

/** A failure of a write with a code, as of Node.js. */
function coded(code: string): Error {
  return Object.assign(new Error("No room"), { code });
}

const FAILURES = {
  "a broken pipe": [new Deno.errors.BrokenPipe(), true],
  "a reset connection": [new Deno.errors.ConnectionReset(), true],
  "a broken pipe on Windows": [coded("EPIPE"), true],
  "a full disk": [coded("ENOSPC"), false],
} as const;

for (const [name, [error, isGone]] of Object.entries(FAILURES)) {
  Deno.test(`isReaderGone() is ${isGone} for ${name}, and outputSink() rejects accordingly`, async () => {
    const write = () => Promise.reject(error);
    const sink = outputSink({ write }, { isTerminal: false });
    const rejection = await assertRejects(() => sink.write(Uint8Array.of(10)));
    assertEquals([isReaderGone(error), rejection === error], [isGone, isGone]);
    const text = "OutputError: Cannot write standard output: No room";
    assertEquals(`${rejection}` === text, !isGone);
  });
}

// So many chunks take seconds, and awaiting them runs on microtasks alone.
const CHUNKS = 1_000_000;

async function* shared() {
  for (let i = 0; i < CHUNKS; i++) {
    await shareEventLoop();
    yield i;
  }
}

/** Input that has arrived: a pipe that another process has filled. */
function filledInput() {
  let left = CHUNKS;
  const read = () => Promise.resolve(left-- > 0 ? 1 : null);
  return readChunks({ read });
}

const SOURCES = { "shareEventLoop()": shared, "readChunks()": filledInput };

for (const [name, source] of Object.entries(SOURCES)) {
  Deno.test(`${name} lets a timer fire while data that has arrived is read`, async () => {
    let hasFired = false;
    setTimeout(() => hasFired = true, 0);
    for await (const _ of source()) if (hasFired) break;
    assert(hasFired);
  });
}
