import { assertEquals } from "@std/assert";
import type { Line } from "../../../../lib/io.ts";
import { StreamLines } from "../../../../lib/gateway/stream/stream_lines.ts";
import { stub } from "../../../support/stubs.ts";

/** The lines that end in each chunk, and the last one if it lacks its newline. */
async function read(chunks: readonly string[]) {
  const encoded = chunks.map((chunk) => new TextEncoder().encode(chunk));
  const lines = new StreamLines(ReadableStream.from(encoded));
  const batches: (readonly Line[])[] = [];
  for (;;) {
    const { done, value } = await lines.next();
    if (done) return [...batches, value];
    batches.push(value);
  }
}

Deno.test("StreamLines yields the lines of each chunk in which some end", async () => {
  const chunks = ["a\n", "b", "b\r\n\n", "\n", "c\nd\r\n", "", "e\r", "\nf"];
  assertEquals(await read(chunks), [
    ...[["a"], ["bb", ""], [""], ["c", "d"], ["e"]],
    "f",
  ]);
});

Deno.test("StreamLines gives one TextLineStream whole lines alone, and all of them", async () => {
  const { getWriter } = WritableStream.prototype;
  const writers: string[][] = [];
  using _ = stub(WritableStream.prototype, {
    getWriter() {
      const writer = getWriter.call(this);
      const written: string[] = [];
      writers.push(written);
      const write = writer.write.bind(writer);
      writer.write = (text) => {
        written.push(text);
        return write(text);
      };
      return writer;
    },
  });
  const long = "x".repeat(150_000);
  const lines = await read(["a", "b\n", long, `${long}\r\nc\nd`]);
  assertEquals(writers, [["ab\n", `${long}${long}\r\n`, "c\n"]]);
  assertEquals(lines, [["ab"], [long + long, "c"], "d"]);
});

Deno.test("StreamLines keeps a line that is too long in its place", async () => {
  const part = "x".repeat(4 * 1024 * 1024);
  const lines = await read(["a\nb", part, part, part, part, "\nc\n"]);
  const shown = lines.flat().map((line) =>
    typeof line === "object" ? line.fault : line
  );
  assertEquals(shown, ["a", "too long", "c", undefined]);
});
