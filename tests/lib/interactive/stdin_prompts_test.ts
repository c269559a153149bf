import { assert, assertEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import {
  addInput,
  PromptLines,
} from "../../../lib/interactive/stdin_prompts.ts";
import type { Input } from "../../../lib/io/input_queue.ts";
import { InputError } from "../../../lib/io/standard_streams.ts";
import { redacted } from "../../support/texts.ts";

const MIB = new Uint8Array(1024 * 1024).fill(0x61);
const END: Input = { kind: "end" };
const CONVERT = Deno.build.os === "windows"
  ? "run chcp 65001 first, or save it as UTF-8"
  : "convert it, for example with iconv -t UTF-8";

/** The bytes of these parts, a chunk each. */
function input(
  ...parts: readonly (string | Uint8Array)[]
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return ReadableStream.from(
    parts.map((part) => typeof part === "string" ? encoder.encode(part) : part),
  );
}

const prompt = (text: string): Input => ({ kind: "text", text });
const refused = (why: string): Input => ({
  kind: "refused",
  reason: redacted(`A line was rejected: it ${why}`),
});
const TOO_LONG: Input = {
  kind: "refused",
  reason: redacted("The prompt is larger than 16 MiB"),
};

for (const isTyped of [false, true]) {
  Deno.test(`PromptLines takes each line that is ${isTyped ? "typed" : "piped"}, and refuses one that cannot be a prompt`, async () => {
    const lines = new PromptLines(
      input(
        ...["on", "e\r\n\na\0b\n", Uint8Array.of(0x61, 0xff, 0x0a), "ä\n"],
        ...[...Array(16).fill(MIB), "\n", ...Array(16).fill(MIB), "a\n"],
        "last",
      ),
      isTyped,
    );
    const inputs: Input[] = [];
    while (inputs.at(-1)?.kind !== "end") inputs.push(await lines.next());

    const [longest] = inputs.splice(5, 1);
    assert(longest?.kind === "text");
    assertEquals(longest.text.length, 16 * 1024 * 1024);
    assertEquals(inputs, [
      ...[prompt("one"), prompt(""), refused("contains a NUL character")],
      ...[refused(`is not UTF-8; ${CONVERT}`), prompt("ä")],
      ...[TOO_LONG, prompt("last"), END],
    ]);
    assertEquals(await lines.next(), END);
  });
}

Deno.test("PromptLines.dropWaiting() drops the typed lines that wait, but not the end", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const keyboard = writable.getWriter();
  const lines = new PromptLines(readable, true);
  keyboard.write(new TextEncoder().encode("one\ntwo\n"));
  await setImmediate();
  assertEquals(lines.dropWaiting(), 2);
  assertEquals(lines.dropWaiting(), 0);

  const next = lines.next();
  keyboard.write(new TextEncoder().encode("three\nfour\n"));
  assertEquals(await next, prompt("three"));
  keyboard.close();
  await setImmediate();
  assertEquals(lines.dropWaiting(), 1);
  assertEquals(await lines.next(), END);
});

Deno.test("PromptLines rejects when typed lines cannot be read", async () => {
  // deno-lint-ignore require-yield -- it fails before its first chunk
  async function* broken(): AsyncGenerator<Uint8Array> {
    throw new InputError("Cannot read standard input");
  }
  const lines = new PromptLines(broken(), true);
  await assertRejects(() => lines.next(), InputError);
  await assertRejects(() => lines.next(), InputError);
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
  const bytes = new TextEncoder().encode(`${text}\n`);
  for (let length = 1; length <= bytes.length; length++) {
    assertEquals(await addInput([], reused(bytes, length)), [text]);
    assertEquals(
      await addInput(["one", "two"], reused(bytes, length)),
      ["one", `two\n\n${text}`],
    );
  }
});

Deno.test("addInput() adds nothing blank, and refuses blank input alone", async () => {
  assertEquals(await addInput(["one"], input(" \n\t")), ["one"]);
  await assertRejects(
    () => addInput([], input(" \n\t")),
    InputError,
    "Standard input contains no prompt",
  );
});

const BAD = [
  ["a\0b", "contains a NUL character"],
  [Uint8Array.of(0x61, 0xff), `is not UTF-8; ${CONVERT}`],
  [Uint8Array.of(0xc3), `is not UTF-8; ${CONVERT}`],
] as const;
for (const [part, why] of BAD) {
  Deno.test(`addInput() refuses input that ${why} (${part})`, async () => {
    await assertRejects(
      () => addInput([], input(part)),
      InputError,
      `Standard input cannot be a prompt: it ${why}`,
    );
  });
}

Deno.test("addInput() measures the prompt, without the newline at its end and with the text before it", async () => {
  const largest = Array(16).fill(MIB);
  for (const end of ["\n", "\r\n"]) {
    const [longest] = await addInput([], input(...largest, end));
    assertEquals(longest?.length, 16 * 1024 * 1024);
  }
  const rest = MIB.subarray("é\n\n".length + 1);
  const joined = [...largest.slice(1), rest];
  const [last] = await addInput(["é"], input(...joined));
  assertEquals(last?.length, 16 * 1024 * 1024 - 1);

  for (
    const [prompts, ...parts] of [
      [[], ...largest, "\n\n"],
      [[], ...largest, "x"],
      [["é"], ...joined, "x"],
    ] as const
  ) {
    await assertRejects(
      () => addInput(prompts, input(...parts)),
      InputError,
      "The prompt is larger than 16 MiB",
    );
  }
});

Deno.test("addInput() takes 16 MiB, and stops reading after them", async () => {
  const [longest] = await addInput([], input(...Array(16).fill(MIB)));
  assertEquals(longest?.length, 16 * 1024 * 1024);
  let chunks = 0;
  async function* endless() {
    for (;; chunks++) yield MIB;
  }
  await assertRejects(
    () => addInput([], endless()),
    InputError,
    "The prompt is larger than 16 MiB",
  );
  assertEquals(chunks, 16);
});
