import { assertEquals } from "@std/assert";
import { ErrorOutput } from "../../../lib/io/error_output.ts";
import { failureLine } from "../../../lib/io/failure_line.ts";
import { StreamError } from "../../../lib/io/standard_streams.ts";
import { FakeClock } from "../../support/clocks.ts";
import { until } from "../../support/waits.ts";
import { shownText } from "../../support/texts.ts";

const MIB = 1024 * 1024;
const reply = new TextEncoder().encode("reply\n");

/** Standard error and standard output, whose writes end when the test takes them. */
class Streams {
  text = "";
  /** The writes that have begun. */
  begun = 0;
  #taken = 0;
  readonly error = new ErrorOutput(this);
  readonly output;

  constructor({ isOneTerminal = true } = {}) {
    this.output = this.error.inOrder(this, isOneTerminal);
  }

  async write(bytes: Uint8Array): Promise<void> {
    const turn = this.begun++;
    while (this.#taken <= turn) await new Promise(setImmediate);
    this.text += new TextDecoder().decode(bytes);
  }

  print(text: string, kind?: "progress"): void {
    this.error.write(shownText(text), kind);
  }

  /** Waits until a write has begun, and ends this number of them. */
  async take(count = 1): Promise<void> {
    await until(() => this.begun > this.#taken);
    this.#taken += count;
  }
}

Deno.test("ErrorOutput drops progress while more than 1 MiB waits, and nothing else", async () => {
  const streams = new Streams();
  streams.print(""); // writes nothing
  streams.print("x".repeat(MIB));
  streams.print("::still taken\n", "progress");
  streams.print("dropped\n", "progress");
  streams.print("error\n");
  await streams.take(1_000);
  await streams.error.flush(60_000);
  const writes = streams.begun;
  streams.print("");
  streams.print("taken again\n", "progress");
  await streams.error.flush(60_000);

  assertEquals(streams.text.slice(MIB), "::still taken\nerror\ntaken again\n");
  assertEquals(streams.begun, writes + 1);
});

Deno.test("ErrorOutput.flush() gives up after its limit, and when the stream has failed", async () => {
  const streams = new Streams();
  streams.print("text\n");
  await streams.error.flush(1);
  assertEquals(streams.text, "");
  await streams.take();

  const write = () => Promise.reject(new Deno.errors.BrokenPipe());
  const broken = new ErrorOutput({ write });
  for (let i = 0; i < 2; i++) {
    broken.write(shownText("text\n"));
    await broken.flush(2 ** 30);
  }
});

Deno.test("ErrorOutput.inOrder() waits a second once for a reader that does not read, and again when it has caught up", async () => {
  using clock = new FakeClock();
  const streams = new Streams({ isOneTerminal: false });
  streams.print("one\n");
  const late = streams.output.write(reply);
  await until(() => streams.begun === 1);
  clock.pass();
  await until(() => streams.begun === 2);
  const next = streams.output.write(reply);
  await until(() => streams.begun === 3);
  assertEquals([streams.text, clock.time], ["", 1000]);

  await streams.take(1_000);
  await Promise.all([late, next, streams.error.flush(60_000)]);
  await streams.output.write(reply);
  streams.print("two\n");
  await streams.output.write(reply);
  assertEquals(streams.text.slice(-10), "two\nreply\n");
});

Deno.test("ErrorOutput.inOrder() on one terminal never lets a stream overtake the other, however slow it is", async () => {
  using clock = new FakeClock();
  const streams = new Streams();
  streams.print("echo\n");
  const written = streams.output.write(reply);
  clock.passTo(10_000);
  for (let turn = 1; turn <= 3; turn++) {
    await until(() => streams.begun === turn);
    if (turn === 2) streams.print("prompt\n");
    await new Promise(setImmediate);
    assertEquals(streams.begun, turn); // one at a time
    await streams.take();
  }
  await written;
  await streams.error.flush(60_000);
  assertEquals(streams.text, "echo\nreply\nprompt\n");
});

Deno.test("ErrorOutput.settle() waits for a terminal that takes something each second, and gives up one that does not, for good", async () => {
  using clock = new FakeClock();
  const streams = new Streams();
  const { error } = streams;
  assertEquals([error.isWritten, await error.settle(800)], [true, true]);

  void streams.output.write(reply);
  await until(() => streams.begun === 1);
  streams.print("prompt\n");
  const settled = error.settle(800);
  for (const turn of [1, 2]) {
    await until(() => streams.begun === turn);
    assertEquals(error.isWritten, false);
    clock.elapse(700);
    await streams.take();
  }
  assertEquals([await settled, error.isWritten], [true, true]);

  streams.print("nobody reads this\n");
  const stuck = error.settle(800);
  await until(() => streams.begun === 3);
  clock.elapse(800);
  assertEquals([await stuck, await error.settle(Infinity)], [false, false]);
  await error.flush(1_000); // without a wait
  assertEquals(clock.time, 2_200);
  await streams.take();
});

const DEFECT =
  "this is a defect, please report it at https://github.com/agent-gateway/agent-gateway/issues";

Deno.test("failureLine() is the message of a failed stream or a missing permission, and of a defect its class and place", () => {
  const { NotCapable } = Deno.errors;
  const withoutStack = new Error("secret");
  delete withoutStack.stack;
  const place = "RangeError at error_output_test.ts:L:C";
  for (
    const [error, line] of [
      [new StreamError("Cannot\nread"), "Cannot read"],
      [new StreamError("Cannot write"), "Cannot write"],
      [new NotCapable("Requires net access"), "Requires net access"],
      ...["", "secret", "secret\n    at secret (x.ts:1:1)"].map((message) =>
        [
          new RangeError(message),
          `Internal error (${place}): ${DEFECT}`,
        ] as const
      ),
      [withoutStack, `Internal error (Error): ${DEFECT}`],
      ["secret", `Internal error (string): ${DEFECT}`],
    ] as const
  ) {
    const shown = failureLine(error).replace(/:\d+:\d+\)/, ":L:C)");
    assertEquals(shown, line);
  }
});
