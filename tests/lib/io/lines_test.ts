import { assert, assertEquals } from "@std/assert";
import v8 from "node:v8";
import vm from "node:vm";
import {
  type Line,
  readEachLine,
  type ReadLinesOptions,
  WholeLines,
} from "../../../lib/io/lines.ts";
import fc from "../../support/generated.ts";

const encoder = new TextEncoder();
const MIB = 1024 * 1024;
const ANY: ReadLinesOptions = { maxBytes: 16 * MIB };

const textOrFault = (line: Line) =>
  typeof line === "string" ? line : line.fault;

/** The lines of some chunks, with its fault in place of a line that could not be read. */
async function read(
  chunks: Iterable<Uint8Array>,
  options: ReadLinesOptions = ANY,
): Promise<string[]> {
  const source = ReadableStream.from(chunks);
  return await Array.fromAsync(readEachLine(source, options), textOrFault);
}

/** Cuts bytes into chunks of a size. */
function* cut(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) {
    yield bytes.slice(start, start + size);
  }
}

/** Texts that the generated test below does not cover, and their lines. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  "\n": [""],
  "a": ["a"],
  "a\r\nlast\r": ["a", "last"],
  "a\n\n\nb": ["a", "", "", "b"],
  "a\u2028b\u0085c\n": ["a\u2028b\u0085c"],
  "\ufeff\ufeffa": ["\ufeffa"],
  "\n\ufeffb\n": ["", "\ufeffb"],
};

for (const [text, lines] of Object.entries(TEXTS)) {
  Deno.test(`readEachLine() splits ${JSON.stringify(text)}, however it is cut`, async () => {
    const bytes = encoder.encode(text);
    for (let size = 1; size <= bytes.length; size++) {
      for (const isStrict of [false, true]) {
        const options = { ...ANY, isStrict };
        assertEquals(await read(cut(bytes, size), options), lines);
      }
    }
  });
}

/** A byte that begins nothing, two characters that are cut, and a lone surrogate. */
const INVALID = [[0xff], [0x61, 0xc3], [0xe2, 0x82, 0x62], [0xed, 0xa0, 0x80]];

Deno.test("readEachLine() reads what a plain split reads, line by line, however the bytes are cut", async () => {
  const unit = fc.constantFrom("a", "é", "😀", "\ufeff", "\r");
  const text = fc.string({ unit, maxLength: 12 })
    .map((text) => encoder.encode(`${text}.`));
  const bad = fc.constantFrom(...INVALID.map((it) => Uint8Array.from(it)));
  const line = fc.oneof({ arbitrary: text, weight: 5 }, bad);
  const property = fc.asyncProperty(
    fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), {
      minLength: 1,
      maxLength: 12,
    }),
    fc.integer({ min: 1, max: 20 }),
    fc.boolean(),
    fc.integer({ min: 1, max: 30 }),
    async (lines, maxBytes, isStrict, size) => {
      const bytes = lines.flatMap(([line, end]) => [
        ...line,
        ...encoder.encode(end),
      ]);
      const expected = lines.map(([line, end], index) => {
        if (line.length + end.length - 1 > maxBytes) return "too long";
        const decoder = new TextDecoder("utf-8", { ignoreBOM: index > 0 });
        const text = decoder.decode(line);
        return isStrict && text.includes("\ufffd") ? "not UTF-8" : text;
      });
      const chunks = cut(Uint8Array.from(bytes), size);
      assertEquals(await read(chunks, { maxBytes, isStrict }), expected);
    },
  );
  await fc.assert(property, { numRuns: 1000 });
});

Deno.test("WholeLines reads the lines that end in each chunk, tells at once of a line that is too long, and has a line without an end at the end", () => {
  const texts = ["12\n\n34", "5\n1234", "56", "789", "a\n\ufeffb\nc", "d"];
  const whole = new WholeLines({ maxBytes: 5 });
  const lines = texts.map((text) =>
    whole.endingIn(encoder.encode(text)).map((line) =>
      typeof line === "string" ? line : `${line.fault}: ${line.text}`
    )
  );
  assertEquals(lines, [
    ["12\n", "\n"],
    ["345\n"],
    ["too long: 123456"],
    [],
    ["\ufeffb\n"],
    [],
  ]);
  assertEquals(whole.atEnd(), "cd");
});

Deno.test("readEachLine() holds no more of an endless line than the limit", async () => {
  const chunk = encoder.encode("x".repeat(MIB));
  function* huge() {
    for (let i = 0; i < 2048; i++) yield chunk; // 2 GiB, more than a string holds
    yield encoder.encode("\nnext\n");
  }
  assertEquals(await read(huge(), { maxBytes: 1024 }), ["too long", "next"]);
});

Deno.test("readEachLine() reads long lines whole, and holds no bytes of them after", async () => {
  v8.setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = vm.runInNewContext("gc");
  const heldBytes = () => {
    collectGarbage();
    return Deno.memoryUsage().external; // of array buffers
  };
  const before = heldBytes();
  const lengths = [1, 1023, 70_000, 65_536, 32 * MIB, 65_535, 2, 200_001];
  const expected = lengths.map((length, i) => String(i).repeat(length));
  const bytes = encoder.encode(`${expected.join("\n")}\n`);
  const chunks = ReadableStream.from(cut(bytes, 65_000));
  let at = 0;
  for await (const line of readEachLine(chunks, { maxBytes: 32 * MIB })) {
    assert(line === expected[at], `line ${at}`);
    at++;
    if (at < 6) continue;
    const grown = heldBytes() - before - bytes.length;
    assert(grown < 8 * MIB, `${grown} bytes are held`);
  }
  assertEquals(at, lengths.length);
});

Deno.test("readEachLine() takes no more from its source than its reader asks for", async () => {
  let taken = 0;
  async function* endless() {
    for (;; taken++) yield await Promise.resolve(encoder.encode("line\n"));
  }
  const lines = readEachLine(endless(), ANY);
  await lines.next();
  await lines.next();
  await lines.return(undefined);
  assertEquals(taken, 1); // and one whose chunk is in use
});
