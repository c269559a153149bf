import { assertEquals } from "@std/assert";
import { StreamLines } from "../../../../lib/gateway/stream/stream_lines.ts";
import { UnreadableLine } from "../../../../lib/io.ts";

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
  const { write } = WritableStreamDefaultWriter.prototype;
  const written: string[] = [];
  WritableStreamDefaultWriter.prototype.write = function (text: string) {
    written.push(text);
    return write.call(this, text);
  };
  try {
    const many = "x\r\n".repeat(50_000);
    const { batches, last } = await read(["a", "b\n", `${many}y`, `${many}z`]);
    assertEquals(written, [many, `y${many}`]);
    assertEquals(batches.map(({ length }) => length), [0, 1, 50_000, 50_000]);
    assertEquals(batches[2], Array(50_000).fill("x"));
    assertEquals(last, "z");
  } finally {
    WritableStreamDefaultWriter.prototype.write = write;
  }
});

Deno.test("StreamLines keeps a line that is too long in its place", async () => {
  const part = new Uint8Array(4 * 1024 * 1024).fill(0x78);
  const { batches } = await read(["a\nb", part, part, part, part, "\nc\n"]);
  const [first, ...others] = batches;
  assertEquals(first, ["a"]);
  assertEquals(others.flat(), [new UnreadableLine("too long"), "c"]);
});
