import { assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import {
  addInput,
  PromptLines,
} from "../../../lib/interactive/stdin_prompts.ts";
import { StreamError } from "../../../lib/io/standard_streams.ts";
import { testRows } from "../../support/tables.ts";

const MIB = new Uint8Array(1024 * 1024).fill(0x61);
const LARGEST = Array(16).fill(MIB);
const TOO_LONG = "The prompt is larger than 16 MiB";
const NOT_UTF_8 = Deno.build.os === "windows"
  ? "is not UTF-8; run chcp 65001 first, or save it as UTF-8"
  : "is not UTF-8; convert it, for example with iconv -t UTF-8";

type Part = string | Uint8Array;
const bytesOf = (part: Part) =>
  typeof part === "string" ? new TextEncoder().encode(part) : part;

/** The bytes of these parts, a chunk each. */
const input = (...parts: readonly Part[]) =>
  ReadableStream.from(parts.map(bytesOf));

/** The next prompt, why it was refused, or `end`; a long one by its length. */
async function next(lines: PromptLines): Promise<string | number> {
  const input = await lines.next();
  if (input.kind === "end") return "end";
  const text = input.kind === "text" ? `> ${input.text}` : input.reason;
  return text.length < 1_000 ? text : text.length;
}

for (const isTyped of [false, true]) {
  Deno.test(`PromptLines takes each line that is ${isTyped ? "typed" : "piped"}, and refuses one that cannot be a prompt`, async () => {
    const lines = new PromptLines(
      input(
        ...["on", "e\r\n\na\0b\n", Uint8Array.of(0x61, 0xff, 0x0a), "ä\n"],
        ...[...LARGEST, "\n", ...LARGEST, "a\n", "last"],
      ),
      isTyped,
    );
    const WANTED = [
      "> one",
      "> ",
      "A line was rejected: it contains a NUL character",
      `A line was rejected: it ${NOT_UTF_8}`,
      "> ä",
      "> ".length + 16 * 1024 * 1024,
      TOO_LONG,
      "> last",
      "end",
      "end",
    ];
    for (const wanted of WANTED) assertEquals(await next(lines), wanted);
  });
}

Deno.test("PromptLines.dropWaiting() drops the typed lines that wait, but not the end", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const keyboard = writable.getWriter();
  const lines = new PromptLines(readable, true);
  keyboard.write(bytesOf("one\ntwo\n"));
  await setImmediate();
  assertEquals([lines.dropWaiting(), lines.dropWaiting()], [2, 0]);
  const three = next(lines);
  keyboard.write(bytesOf("three\nfour\n"));
  assertEquals(await three, "> three");
  keyboard.close();
  await setImmediate();
  assertEquals([lines.dropWaiting(), await next(lines)], [1, "end"]);
});

Deno.test("PromptLines rejects when typed lines cannot be read", async () => {
  // deno-lint-ignore require-yield -- it fails before its first chunk
  async function* broken(): AsyncGenerator<Uint8Array> {
    throw new StreamError("Cannot read standard input");
  }
  const lines = new PromptLines(broken(), true);
  for (let i = 0; i < 2; i++) {
    await assertRejects(() => lines.next(), StreamError);
  }
});

/** Chunks as standard input yields them: each is overwritten by the next one. */
async function* reused(
  bytes: Uint8Array,
  length: number,
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(length);
  for (let start = 0; start < bytes.length; start += length) {
    const part = bytes.subarray(start, start + length);
    buffer.set(part);
    yield buffer.subarray(0, part.length);
  }
}

Deno.test("addInput() reads characters wherever they are cut", async () => {
  const text = "ä€😀\r\n\nx";
  const bytes = bytesOf(`${text}\n`);
  for (let length = 1; length <= bytes.length; length++) {
    const prompts = await addInput(["one", "two"], reused(bytes, length));
    assertEquals(prompts, ["one", `two\n\n${text}`]);
  }
});

// The prompt before the input, of which the first bytes are as many letters: their number
// and two bytes of é and an empty line are 16 MiB. Then the length of the prompt or why it
// is refused.
testRows(
  'addInput() after "{before}" of {letters} letters and {rest}: {result}',
  "before | letters | rest | result",
  String.raw`
  | 1        | "\n"      | 1
é | 0        | " \n\t"   | 1
  | 0        | " \n\t"   | Standard input contains no prompt
  | 1        | "\u0000b" | Standard input cannot be a prompt: it contains a NUL character
  | 1        | "\u00ff"  | Standard input cannot be a prompt: it ${NOT_UTF_8}
  | 0        | "\u00c3"  | Standard input cannot be a prompt: it ${NOT_UTF_8}
  | 16777216 | ""        | 16777216
  | 16777216 | "\n"      | 16777216
  | 16777216 | "\r\n"    | 16777216
  | 16777216 | "\n\n"    | ${TOO_LONG}
  | 16777216 | "x"       | ${TOO_LONG}
é | 16777212 | ""        | 16777215
é | 16777212 | "x"       | ${TOO_LONG}
`,
  async ({ before, letters, rest, result }) => {
    const bytes = new Uint8Array(Number(letters)).fill(0x61);
    const stdin = input(bytes, Buffer.from(JSON.parse(rest), "latin1"));
    const added = addInput(before === "" ? [] : [before], stdin);
    const told = await added
      .then(([prompt]) => prompt?.length, ({ message }) => message);
    assertEquals(`${told}`, result);
  },
);

Deno.test("addInput() stops reading after 16 MiB", async () => {
  let chunks = 0;
  async function* endless() {
    for (;; chunks++) yield MIB;
  }
  await assertRejects(() => addInput([], endless()), StreamError, TOO_LONG);
  assertEquals(chunks, 16);
});
