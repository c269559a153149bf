import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { StreamLines } from "../../../../lib/gateway/stream/stream_lines.ts";
import { UnreadableLine } from "../../../../lib/io.ts";

const MIB = 1024 * 1024;

/** The lines of chunks: of each its batch, and the last one that has no end. */
async function read(chunks: readonly (string | Uint8Array)[]) {
  const source = ReadableStream.from(
    chunks.map((chunk) =>
      typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk
    ),
  );
  const lines = new StreamLines(source);
  const batches: (readonly unknown[])[] = [];
  for (;;) {
    const { done, value } = await lines.next();
    if (done) return { batches, last: value };
    batches.push(value);
  }
}

Deno.test("StreamLines yields the lines that end in each chunk", async () => {
  const chunks = ["a\n", "b", "b\r\n\n", "\n", "c\nd\r\n", "", "e\r", "\nf"];
  assertEquals(await read(chunks), {
    batches: [["a"], [], ["bb", ""], [""], ["c", "d"], [], [], ["e"]],
    last: "f",
  });
});

Deno.test("StreamLines gives TextLineStream whole lines alone, and none of a short text", async () => {
  const { from } = ReadableStream;
  const written: unknown[] = [];
  ReadableStream.from = (source) => {
    const texts = Array.isArray(source) ? source : [];
    written.push(...texts.filter((text) => typeof text === "string"));
    return from(source);
  };
  try {
    const long = "x".repeat(150_000);
    const { batches, last } = await read(["a", "b\n", long, `${long}\r\nc\nd`]);
    assertEquals(written, [`${long}${long}\r\n`]);
    assertEquals(batches, [[], ["ab"], [], [long + long, "c"]]);
    assertEquals(last, "d");
  } finally {
    ReadableStream.from = from;
  }
});

Deno.test("StreamLines keeps a line that is too long in its place", async () => {
  const part = new Uint8Array(4 * MIB).fill(0x78);
  const { batches } = await read(["a\nb", part, part, part, part, "\nc\n"]);
  const [first, ...others] = batches;
  assertEquals(first, ["a"]);
  assertEquals(others.flat(), [new UnreadableLine("too long"), "c"]);
});

/** A stream of one line. */
function lineOf(length: number): AsyncIterable<Uint8Array> {
  return ReadableStream.from([
    new Uint8Array(length).fill(0x78),
    Uint8Array.of(10),
  ]);
}

/** Reads lines; `lines` has the lengths of those that came. */
function open(source: AsyncIterable<Uint8Array>) {
  const batches = new StreamLines(source);
  const lines: number[] = [];
  const read = async () => {
    for (;;) {
      const { done, value } = await batches.next();
      if (done) return;
      for (const line of value) lines.push(`${line}`.length);
      if (value.length > 0) return;
    }
  };
  return { lines, read, leave: () => batches[Symbol.dispose]() };
}

Deno.test("StreamLines: a line of more than 1 MiB is read when the reader of the one before it reads on or leaves; shorter ones need no turn", async () => {
  for (const leaves of [false, true]) {
    const first = open(lineOf(MIB + 1));
    const second = open(lineOf(MIB + 1));
    const short = open(lineOf(MIB - 1));

    await first.read();
    const reading = second.read();
    await short.read();
    await setImmediate();
    assertEquals([first.lines, second.lines, short.lines], [
      [MIB + 1],
      [],
      [MIB - 1],
    ]);
    if (leaves) first.leave();
    else await first.read();
    await reading;
    assertEquals(second.lines, [MIB + 1]);
    second.leave();
  }
});
