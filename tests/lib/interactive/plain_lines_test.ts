import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { ChatView } from "../../../lib/interactive/chat_view.ts";
import {
  PlainLines,
  type PlainLinesOptions,
} from "../../../lib/interactive/plain_lines.ts";
import { PromptLines } from "../../../lib/interactive/stdin_prompts.ts";
import type { Terminal } from "../../../lib/interactive/terminal.ts";
import type { ViewEvent } from "../../../lib/interactive/view.ts";
import type { ReplyWriter } from "../../../lib/interactive/write_reply.ts";
import { PLAIN } from "../../../lib/text.ts";
import { FakeClock } from "../../support/clocks.ts";
import { redacted, serviceId } from "../../support/texts.ts";
import { unchanged } from "../../../lib/text.ts";
import { shownText } from "../../support/texts.ts";

const PIPES: Terminal = {
  isTyped: false,
  isScreen: false,
  isAscii: false,
  isQuiet: false,
  isPlain: false,
  style: PLAIN,
  replies: "unchanged",
  mixesReplies: false,
  endsProgress: false,
  keys: undefined,
};
const DUMB: Terminal = { ...PIPES, isTyped: true, keys: redacted("the keys") };

/** A chat on plain lines, and what it wrote. */
class Lines {
  readonly view: ChatView;
  readonly replies: string[] = [];
  stderr = "";
  /** Holds up the writing of replies. */
  reading = Promise.resolve();
  readonly #typing: WritableStreamDefaultWriter<Uint8Array>;

  constructor(terminal: Terminal = PIPES, options: {
    readonly stderr?: PlainLinesOptions["stderr"];
    readonly reply?: ReplyWriter;
  } = {}) {
    const { readable, writable } = new TransformStream<
      Uint8Array,
      Uint8Array
    >();
    this.#typing = writable.getWriter();
    const surface = new PlainLines({
      prompts: new PromptLines(readable, terminal.isTyped),
      stderr: (text) => this.stderr += text,
      sign: shownText(terminal.keys === undefined ? "" : "> "),
      ...options,
    });
    const reply = async (text: string) => {
      this.replies.push(text);
      await this.reading;
    };
    this.view = new ChatView({ surface, reply, terminal, ...options });
  }

  /** Types a line, and waits until it was read. */
  async type(line: string): Promise<void> {
    this.#typing.write(new TextEncoder().encode(`${line}\n`));
    await setImmediate();
  }

  end(): void {
    this.#typing.close();
  }

  show(...events: readonly ViewEvent[]): void {
    for (const event of events) this.view.show(event);
  }

  /** What standard error got since the last call. */
  takeError(): string {
    const { stderr } = this;
    this.stderr = "";
    return stderr;
  }
}

Deno.test("a chat without a terminal writes everything but replies to standard error, progress as such", async () => {
  const kinds: unknown[] = [];
  const lines: Lines = new Lines(PIPES, {
    stderr: (text, kind) => {
      lines.stderr += text;
      kinds.push(kind);
    },
  });
  lines.show(
    { type: "banner", text: redacted("a banner of some words") },
    { type: "progress", node: redacted("plan"), status: redacted("done") },
  );
  await lines.view.show({
    type: "reply",
    text: unchanged("reply"),
    isNotice: false,
  });
  assertEquals(lines.replies, ["reply"]);
  assertEquals(lines.stderr, "a banner of some words\nplan: done\n");
  assertEquals(kinds, [undefined, "progress", undefined]);
});

Deno.test("a chat waits until a reply is written, and rejects when its reader is gone", async () => {
  const lines = new Lines();
  const { promise, resolve } = Promise.withResolvers<void>();
  lines.reading = promise;
  let isWritten = false;
  const shown = lines.view.show({
    type: "reply",
    text: unchanged("reply"),
    isNotice: false,
  })
    ?.then(() => isWritten = true);
  await setImmediate();
  assertFalse(isWritten);
  resolve();
  await shown;

  const gone = () => Promise.reject(new Deno.errors.BrokenPipe());
  const { view } = new Lines(PIPES, { reply: gone });
  await assertRejects(
    async () =>
      await view.show({ type: "reply", text: unchanged("x"), isNotice: false }),
    Deno.errors.BrokenPipe,
  );
});

Deno.test("a script whose replies go to another program shows no progress after the first one, but errors", async () => {
  for (const endsProgress of [false, true]) {
    using clock = new FakeClock();
    const lines = new Lines({ ...PIPES, endsProgress });
    await lines.view.show({
      type: "reply",
      text: unchanged("One."),
      isNotice: false,
    });
    lines.show(
      { type: "begin" },
      { type: "wait", reason: "service busy", milliseconds: 5_100 },
      { type: "progress", node: redacted("plan"), status: redacted("on") },
    );
    clock.elapse(10_000);
    lines.show(
      { type: "end", completed: false },
      { type: "error", message: redacted("no") },
    );
    const progress = "service busy, again in 6 s\nplan: on\nrunning, 10 s\n";
    assertEquals(
      lines.stderr,
      (endsProgress ? "" : progress) + "agent-gateway: error: no\n",
    );
  }
});

Deno.test("a dumb terminal shows the keys once, a sign before each prompt, and at the end how to go on", async () => {
  const lines = new Lines(DUMB);
  const one = lines.view.readPrompt();
  assertEquals(
    lines.takeError(),
    "the keys\n> ",
  );
  await lines.type("one");
  await lines.type("waits");
  assertEquals(await one, { kind: "text", text: "one" });
  assertEquals(lines.view.typing?.dropWaiting(), 1);
  const end = lines.view.readPrompt();
  assertEquals(lines.takeError(), "> ");
  lines.end();
  assertEquals(await end, { kind: "end" });
  lines.show({ type: "farewell", threadId: serviceId("thread-1") });
  assertEquals(lines.takeError(), "\nagent-gateway --thread thread-1\n");
});

Deno.test("Ctrl-C at the prompt of a dumb terminal shows the sign again, and during a run only the hint", async () => {
  const lines = new Lines({ ...DUMB, isQuiet: true });
  const one = lines.view.readPrompt();
  lines.show({ type: "ctrl-c", isFirst: true });
  assertEquals(lines.takeError(), "> \nCtrl-C again leaves\n> ");
  lines.show({ type: "ctrl-c", isFirst: false });
  assertEquals(lines.takeError(), "\n> ");
  await lines.type("one");
  await one;
  lines.show({ type: "ctrl-c", isFirst: true });
  lines.show({ type: "ctrl-c", isFirst: false });
  assertEquals(lines.takeError(), "\nCtrl-C again leaves\n");
  lines.show({ type: "farewell", threadId: undefined });
  assertEquals(lines.takeError(), "");
});

Deno.test("lines that were typed ahead on a dumb terminal appear after the sign when their turn comes", async () => {
  const lines = new Lines(DUMB);
  const one = lines.view.readPrompt();
  await lines.type("one");
  await one;
  await lines.type("two\x1b[2J");
  await lines.type("");
  await lines.type("no\0");
  lines.takeError();

  await lines.view.readPrompt();
  lines.show({
    type: "progress",
    node: redacted("plan"),
    status: redacted("done"),
  });
  assertEquals(lines.takeError(), "> two\nplan: done\n");
  await lines.view.readPrompt();
  await lines.view.readPrompt();
  lines.show({ type: "error", message: redacted("It contains a NUL") });
  assertEquals(lines.takeError(), "> \nerror: It contains a NUL\n");
  void lines.view.readPrompt();
  assertEquals(lines.takeError(), "> ");
});

Deno.test("a person whose terminal does not show standard error gets no sign, and no line again", async () => {
  const lines = new Lines({ ...DUMB, keys: undefined });
  await lines.type("one");
  assertEquals(await lines.view.readPrompt(), { kind: "text", text: "one" });
  lines.end();
  assertEquals(await lines.view.readPrompt(), { kind: "end" });
  lines.show({ type: "farewell", threadId: serviceId("thread-1") });
  assertEquals(lines.stderr, "");
});

Deno.test("a chat without a person shows neither a sign nor how to go on", async () => {
  const lines = new Lines();
  await lines.type("one");
  assertEquals(await lines.view.readPrompt(), { kind: "text", text: "one" });
  assertEquals(lines.view.typing, undefined);
  lines.show({ type: "farewell", threadId: serviceId("thread-1") });
  assertEquals(lines.stderr, "");
});
