import { assertEquals, assertLess, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { JsonView } from "../../../lib/interactive/json_view.ts";
import { PromptLines } from "../../../lib/interactive/stdin_prompts.ts";
import { joinSafe } from "../../../lib/text.ts";
import { redacted } from "../../support/texts.ts";

const NO_PROMPTS = new PromptLines(ReadableStream.from([]), false);
const PROGRESS = {
  type: "progress",
  node: redacted("plan"),
  status: redacted("done"),
} as const;
const ERROR = { type: "error", message: redacted("no") } as const;

Deno.test("JsonView queues progress of less than 1 MiB, and waits until any other line is written", async () => {
  const part = redacted("x".repeat(16 * 1024));
  const large = { ...PROGRESS, status: joinSafe(Array(64).fill(part), " ") };
  for (const last of [ERROR, large]) {
    const reading = Promise.withResolvers<void>();
    const writes: string[] = [];
    const view = new JsonView(NO_PROMPTS, {
      async write(bytes) {
        writes.push(new TextDecoder().decode(bytes));
        await reading.promise;
      },
    });
    for (let i = 0; i < 100; i++) assertEquals(view.show(PROGRESS), undefined);
    let isWritten = false;
    const shown = Promise.resolve(view.show(last)).then(() => isWritten = true);
    await setImmediate();
    assertEquals(isWritten, false);
    reading.resolve();
    await shown;
    assertEquals(writes.join("").split("\n").length, 102);
    assertLess(writes.length, 20);
    assertEquals(view.show(PROGRESS), undefined);
  }
});

Deno.test("JsonView rejects when the reader is gone", async () => {
  const { BrokenPipe } = Deno.errors;
  const stdout = { write: () => Promise.reject(new BrokenPipe()) };
  const view = new JsonView(NO_PROMPTS, stdout);
  await assertRejects(async () => await view.show(ERROR), BrokenPipe);
  const other = new JsonView(NO_PROMPTS, stdout);
  other.show(PROGRESS);
  await assertRejects(() => other.failed, BrokenPipe);
});
