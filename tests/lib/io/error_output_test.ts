import { assertEquals, assertMatch } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { ErrorOutput } from "../../../lib/io/error_output.ts";
import { failureLine } from "../../../lib/io/failure_line.ts";
import {
  type ByteSink,
  InputError,
  OutputError,
} from "../../../lib/io/standard_streams.ts";
import { FakeClock } from "../../support/clocks.ts";
import { until } from "../../support/waits.ts";
import { shownText } from "../../support/texts.ts";

const MIB = 1024 * 1024;

/** A sink that writes nothing before it is released. */
class Held implements ByteSink {
  text = "";
  readonly #released = Promise.withResolvers<void>();
  readonly release: () => void = this.#released.resolve;

  async write(bytes: Uint8Array): Promise<void> {
    await this.#released.promise;
    this.text += new TextDecoder().decode(bytes);
  }
}

Deno.test("ErrorOutput drops progress while more than 1 MiB waits, and nothing else", async () => {
  const sink = new Held();
  const output = new ErrorOutput(sink);

  output.write(shownText("x".repeat(MIB)));
  output.write(shownText("still taken\n"), "progress");
  output.write(shownText("dropped\n"), "progress");
  output.write(shownText("error\n"));
  sink.release();
  await output.flush(60_000);
  output.write(shownText("taken again\n"), "progress");
  await output.flush(60_000);

  assertEquals(sink.text.slice(MIB), "still taken\nerror\ntaken again\n");
});

Deno.test("ErrorOutput.write() of an empty text writes nothing", async () => {
  let writes = 0;
  const write = () => Promise.resolve(void writes++);
  const output = new ErrorOutput({ write });
  output.write(shownText(""));
  await output.flush(60_000);
  assertEquals(writes, 0);
});

Deno.test("ErrorOutput.flush() gives up after its limit, and when the stream has failed", async () => {
  const sink = new Held();
  const output = new ErrorOutput(sink);
  output.write(shownText("text\n"));
  await output.flush(1);
  assertEquals(sink.text, "");
  sink.release();

  const write = () => Promise.reject(new Deno.errors.BrokenPipe());
  const broken = new ErrorOutput({ write });
  for (let i = 0; i < 2; i++) {
    broken.write(shownText("text\n"));
    await broken.flush(2 ** 30);
  }
});

Deno.test("ErrorOutput.inOrder() writes to the other stream after the text queued before", async () => {
  let written = "";
  const sink: ByteSink = {
    async write(bytes) {
      await undefined;
      written += new TextDecoder().decode(bytes);
    },
  };
  const output = new ErrorOutput(sink);
  const other = output.inOrder(sink, false);

  output.write(shownText("1"));
  await other.write(new TextEncoder().encode("2"));
  output.write(shownText("3"));
  await output.flush(60_000);

  assertEquals(written, "123");
});

Deno.test("ErrorOutput.inOrder() waits a second once for a reader that does not read, and again when it has caught up", async () => {
  using clock = new FakeClock();
  const held = new Held();
  const output = new ErrorOutput(held);
  const before: string[] = [];
  const stdout = output.inOrder({
    write: () => Promise.resolve(void before.push(held.text)),
  }, false);
  const write = () => stdout.write(new Uint8Array(1));
  output.write(shownText("one\n"));

  const late = write();
  clock.pass();
  await late;
  await write();
  assertEquals([before, clock.time], [["", ""], 1000]);

  held.release();
  await output.flush(60_000);
  await write();
  output.write(shownText("two\n"));
  await write();
  assertEquals(before.slice(2), ["one\n", "one\ntwo\n"]);
});

Deno.test("ErrorOutput.inOrder() on one terminal never lets a stream overtake the other, however slow it is", async () => {
  using clock = new FakeClock();
  let written = "";
  const turns: (() => void)[] = [];
  const sink: ByteSink = {
    async write(bytes) {
      await new Promise<void>((resolve) => turns.push(resolve));
      written += new TextDecoder().decode(bytes);
    },
  };
  const output = new ErrorOutput(sink);
  const stdout = output.inOrder(sink, true);

  output.write(shownText("echo\n"));
  const reply = stdout.write(new TextEncoder().encode("reply\n"));
  clock.passTo(10_000);
  for (let turn = 0; turn < 3; turn++) {
    await until(() => turns.length !== turn);
    if (turn === 1) output.write(shownText("prompt\n"));
    await setImmediate();
    assertEquals(turns.length, turn + 1); // one at a time
    turns[turn]?.();
  }
  await reply;
  await output.flush(60_000);

  assertEquals(written, "echo\nreply\nprompt\n");
});

Deno.test("ErrorOutput.settle() waits for a terminal that takes something each second, and gives up one that does not, for good", async () => {
  using clock = new FakeClock();
  const turns: (() => void)[] = [];
  const write = () => new Promise<void>((resolve) => turns.push(resolve));
  const output = new ErrorOutput({ write });
  const stdout = output.inOrder({ write }, true);
  assertEquals([output.isWritten, await output.settle(800)], [true, true]);

  void stdout.write(new TextEncoder().encode("reply\n"));
  await until(() => turns.length === 1);
  output.write(shownText("prompt\n"));
  const settled = output.settle(800);
  for (const turn of [0, 1]) {
    await until(() => turns.length === turn + 1);
    assertEquals(output.isWritten, false);
    clock.elapse(700);
    turns[turn]?.();
  }
  assertEquals([await settled, output.isWritten], [true, true]);

  output.write(shownText("nobody reads this\n"));
  const stuck = output.settle(800);
  await until(() => turns.length === 3);
  clock.elapse(800);
  assertEquals([await stuck, await output.settle(Infinity)], [false, false]);
  await output.flush(1_000); // without a wait
  assertEquals(clock.time, 2_200);
});

const DEFECT =
  ": this is a defect, please report it at https://github.com/agent-gateway/agent-gateway/issues";

Deno.test("failureLine() is the message of a failed stream or a missing permission, on one line", () => {
  assertEquals(failureLine(new InputError("Cannot\nread")), "Cannot read");
  assertEquals(failureLine(new OutputError("Cannot write")), "Cannot write");
  assertEquals(
    failureLine(new Deno.errors.NotCapable("Requires net access")),
    "Requires net access",
  );
});

Deno.test("failureLine() gives the class and the place of a defect, never its message", () => {
  for (const message of ["", "secret", "secret\n    at secret (x.ts:1:1)"]) {
    const line = failureLine(new RangeError(message));

    assertMatch(
      line,
      /^Internal error \(RangeError at error_output_test\.ts:\d+:\d+\): /,
    );
    assertEquals(line.slice(line.indexOf("): ") + 1), DEFECT);
  }
});

Deno.test("failureLine() needs neither a stack nor an error", () => {
  const error = new Error("secret");
  delete error.stack;

  assertEquals(failureLine(error), `Internal error (Error)${DEFECT}`);
  assertEquals(failureLine("secret"), `Internal error (string)${DEFECT}`);
});
