import { assert, assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import {
  errorSink,
  isReaderGone,
  kindOf,
  outputSink,
  readChunks,
  StreamError,
} from "../../../lib/io/standard_streams.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { stub } from "../../support/stubs.ts";

const random = randomNumbers(1);

/**
 * A non-blocking stream as Deno and Rust's `LineWriter` make of it: bytes after
 * the last newline are buffered, and a flush that would block throws without
 * saying how many bytes were written.
 */
class NonBlocking {
  readonly #isTerminal: boolean;
  #buffer: number[] = [];
  readonly written: number[] = [];
  /** The bytes that the system accepts at the next write. */
  room: () => number = () => Math.max(0, random(20_000) - 5_000);

  constructor(isTerminal: boolean) {
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
    const room = this.room();
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
  return stub(AbortSignal, {
    timeout() {
      const controller = new AbortController();
      queueMicrotask(() => controller.abort());
      return controller.signal;
    },
  });
}

/** Bytes in lines of any length. */
function mixedLines(): Uint8Array {
  const lineLength = 1 + random(2000);
  return new Uint8Array(random(20_000))
    .map((_, at) => random(lineLength) === 0 ? 0x0a : 97 + at % 26);
}

/** So many short lines that a way around the buffer is looked for. */
const LINES = new TextEncoder().encode(`${"x".repeat(63)}\n`.repeat(20_000));

for (
  const [what, isTerminal, canBlock] of [
    ["pipe", false, false],
    ["pipe that can be made blocking", false, true],
    ["terminal", true, false],
  ] as const
) {
  Deno.test(`outputSink() loses and repeats nothing on a non-blocking ${what}`, async () => {
    using _ = withoutPauses();
    for (let round = 0; round < 10; round++) {
      const output = new NonBlocking(isTerminal);
      const findDirectSink = async () => {
        await Promise.resolve();
        if (canBlock) output.room = () => Infinity;
        return canBlock ? errorSink(output) : undefined;
      };
      const sink = outputSink(output, { isTerminal, findDirectSink });
      const chunks = Array.from({ length: 5 }, mixedLines);
      if (round === 0 && !isTerminal) chunks.unshift(LINES);
      for (const chunk of chunks) await sink.write(chunk);
      assert(Buffer.concat(chunks).equals(Uint8Array.from(output.written)));
      const usesDirect = output.room() === Infinity;
      assertEquals(usesDirect, canBlock && round === 0);
    }
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
  const lengths: number[] = [];
  for await (const { length } of readChunks({ read })) {
    lengths.push(length);
    if (lengths.length > 2) break;
  }
  assertEquals(lengths, [1, 2]);
});

Deno.test("readChunks() says why it cannot read", async () => {
  const error = new Error("Is a directory (os error 21)");
  const chunks = readChunks({ read: () => Promise.reject(error) });
  await assertRejects(
    () => chunks.next(),
    StreamError,
    "Cannot read standard input: Is a directory (os error 21)",
  );
});

Deno.test("kindOf() tells a terminal that sends keys from a pipe of mintty, and from data", async () => {
  const modes: boolean[] = [];
  using _ = stub(Deno.stdin, {
    isTerminal: () => true,
    setRaw: (isRaw) => void modes.push(isRaw),
  });
  assertEquals([await kindOf("stdin"), modes], ["terminal", [true, false]]);
  Deno.stdin.setRaw = () => {
    throw new Error("os error 6");
  };
  assertEquals(await kindOf("stdin"), "lines");
  Deno.stdin.isTerminal = () => false;
  assertEquals(await kindOf("stdin"), "data");
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
    const text = "StreamError: Cannot write standard output: No room";
    assertEquals(`${rejection}` === text, !isGone);
  });
}

Deno.test("readChunks() lets a timer fire while data that has arrived is read", async () => {
  // A pipe that another process has filled: awaiting it runs on microtasks alone.
  const read = () => Promise.resolve(1);
  let hasFired = false;
  setTimeout(() => hasFired = true, 0);
  for await (const _ of readChunks({ read })) if (hasFired) break;
  assert(hasFired);
});
