import { assert, assertEquals } from "@std/assert";
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

Deno.test("StreamLines gives one TextLineStream whole lines alone, and all of them", async () => {
  const { getWriter } = WritableStream.prototype;
  const writers: string[][] = [];
  WritableStream.prototype.getWriter = function () {
    const writer = getWriter.call(this);
    const written: string[] = [];
    writers.push(written);
    const { write } = writer;
    writer.write = (text) => {
      written.push(text);
      return write.call(writer, text);
    };
    return writer;
  };
  try {
    const long = "x".repeat(150_000);
    const { batches, last } = await read(["a", "b\n", long, `${long}\r\nc\nd`]);
    assertEquals(writers, [["ab\n", `${long}${long}\r\n`, "c\n"]]);
    assertEquals(batches, [[], ["ab"], [], [long + long, "c"]]);
    assertEquals(last, "d");
  } finally {
    WritableStream.prototype.getWriter = getWriter;
  }
});

Deno.test("StreamLines keeps a line that is too long in its place", async () => {
  const part = new Uint8Array(4 * MIB).fill(0x78);
  const { batches } = await read(["a\nb", part, part, part, part, "\nc\n"]);
  const [first, ...others] = batches;
  assertEquals(first, ["a"]);
  const [line, next] = others.flat();
  assert(line instanceof UnreadableLine && line.fault === "too long");
  assertEquals(next, "c");
});
