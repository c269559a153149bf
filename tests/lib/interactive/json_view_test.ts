import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { JsonView } from "../../../lib/interactive/json_view.ts";
import { PromptLines } from "../../../lib/interactive/stdin_prompts.ts";
import { joinSafe } from "../../../lib/text.ts";
import { redacted, serviceId } from "../../support/texts.ts";

const NO_PROMPTS = new PromptLines(ReadableStream.from([]), false);

/** Standard output that a test reads. */
class Output {
  readonly writes: string[] = [];
  /** Holds up the writes. */
  reading = Promise.resolve();

  async write(bytes: Uint8Array): Promise<void> {
    this.writes.push(new TextDecoder().decode(bytes));
    await this.reading;
  }
}

const PROGRESS = {
  type: "progress",
  node: redacted("plan"),
  status: redacted("done"),
} as const;

Deno.test("JsonView queues progress, and waits until any other line is written", async () => {
  const output = new Output();
  const reading = Promise.withResolvers<void>();
  output.reading = reading.promise;
  const view = new JsonView(NO_PROMPTS, output);
  for (let i = 0; i < 100; i++) {
    assertEquals(view.show(PROGRESS), undefined);
  }
  let isWritten = false;
  const shown = Promise.resolve(
    view.show({ type: "error", message: redacted("no") }),
  )
    .then(() => isWritten = true);
  await setImmediate();
  assertEquals(isWritten, false);
  reading.resolve();
  await shown;
  assertEquals(output.writes.join("").split("\n").length, 102);
  assertLess(output.writes.length, 5);
});

Deno.test("JsonView waits while more than 1 MiB is queued", async () => {
  const output = new Output();
  const reading = Promise.withResolvers<void>();
  output.reading = reading.promise;
  const view = new JsonView(NO_PROMPTS, output);
  const part = redacted("x".repeat(16 * 1024));
  const large = { ...PROGRESS, status: joinSafe(Array(64).fill(part), " ") };
  const shown = view.show(large);
  assert(shown !== undefined);
  reading.resolve();
  await shown;
  assertEquals(view.show(PROGRESS), undefined);
});

Deno.test("JsonView rejects when the reader is gone", async () => {
  const stdout = { write: () => Promise.reject(new Deno.errors.BrokenPipe()) };
  const view = new JsonView(NO_PROMPTS, stdout);
  await assertRejects(
    async () => await view.show({ type: "thread", threadId: serviceId("t") }),
    Deno.errors.BrokenPipe,
  );

  const other = new JsonView(NO_PROMPTS, stdout);
  other.show(PROGRESS);
  await assertRejects(() => other.failed, Deno.errors.BrokenPipe);
});
