import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import {
  LineView,
  type LineViewOptions,
} from "../../../lib/interactive/line_view.ts";
import type { ViewEvent } from "../../../lib/interactive/view.ts";

const DUMB = {
  isTyped: true,
  stderrIsTerminal: true,
  cleansReplies: true,
} as const;

/** A view of plain lines, and what it wrote. */
class Plain {
  readonly view: LineView;
  stdout = "";
  stderr = "";
  /** Holds up the writing of replies. */
  reading = Promise.resolve();
  readonly #typing: WritableStreamDefaultWriter<Uint8Array>;

  constructor(options: Partial<LineViewOptions> = {}) {
    const { readable, writable } = new TransformStream<
      Uint8Array,
      Uint8Array
    >();
    this.#typing = writable.getWriter();
    this.view = new LineView({
      stdin: () => readable,
      stdout: {
        write: async (bytes) => {
          this.stdout += new TextDecoder().decode(bytes);
          await this.reading;
        },
      },
      stderr: (text) => this.stderr += text,
      ...{ isQuiet: false, isPlain: false, cleansReplies: false },
      ...{ hasColour: false, isTyped: false, stderrIsTerminal: false },
      stylesErrors: false,
      ...options,
    });
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

Deno.test("LineView writes everything but replies to standard error, progress as such", async () => {
  const kinds: unknown[] = [];
  const plain: Plain = new Plain({
    stderr: (text, kind) => {
      plain.stderr += text;
      kinds.push(kind);
    },
  });
  plain.show(
    { type: "banner", text: "a banner of some words" },
    { type: "progress", node: "plan", status: "done" },
  );
  await plain.view.show({ type: "reply", text: "reply" });
  assertEquals(plain.stdout, "reply\n");
  assertEquals(plain.stderr, "a banner of some words\nplan: done\n");
  assertEquals(kinds, [undefined, "progress", undefined]);
});

Deno.test("LineView styles errors if it is asked to", () => {
  const plain = new Plain({ stylesErrors: true });
  plain.show({ type: "error", message: "wrong" });
  assertEquals(plain.stderr, "\x1b[31mError: wrong\x1b[39m\n");
});

Deno.test("LineView takes its next event when a reply is written, and rejects when its reader is gone", async () => {
  const plain = new Plain();
  const { promise, resolve } = Promise.withResolvers<void>();
  plain.reading = promise;
  let isWritten = false;
  const shown = plain.view.show({ type: "reply", text: "reply" })
    ?.then(() => isWritten = true);
  await setImmediate();
  assertFalse(isWritten);
  resolve();
  await shown;

  const gone = () => Promise.reject(new Deno.errors.BrokenPipe());
  const { view } = new Plain({ stdout: { write: gone } });
  await assertRejects(
    async () => await view.show({ type: "reply", text: "x" }),
    Deno.errors.BrokenPipe,
  );
});

Deno.test("a dumb terminal shows the keys once, a sign before each prompt, and at the end how to go on", async () => {
  const plain = new Plain(DUMB);
  const one = plain.view.readPrompt();
  assertEquals(
    plain.takeError(),
    "Ctrl-C: stop, Ctrl-D or exit: leave\n> ",
  );
  await plain.type("one");
  await plain.type("waits");
  assertEquals(await one, { kind: "prompt", text: "one" });
  assertEquals(plain.view.typing?.dropWaiting(), 1);
  const end = plain.view.readPrompt();
  assertEquals(plain.takeError(), "> ");
  plain.end();
  assertEquals(await end, { kind: "end" });
  plain.show({ type: "farewell", threadId: "thread-1" });
  assertEquals(plain.takeError(), "\nagent-gateway --thread thread-1\n");
});

Deno.test("Ctrl-C at the prompt of a dumb terminal shows the sign again, and during a run only the hint", async () => {
  const plain = new Plain({ ...DUMB, isQuiet: true });
  const one = plain.view.readPrompt();
  plain.show({ type: "ctrl-c", isFirst: true });
  assertEquals(plain.takeError(), "> \nCtrl-C again leaves\n> ");
  plain.show({ type: "ctrl-c", isFirst: false });
  assertEquals(plain.takeError(), "\n> ");
  await plain.type("one");
  await one;
  plain.show({ type: "ctrl-c", isFirst: true });
  plain.show({ type: "ctrl-c", isFirst: false });
  assertEquals(plain.takeError(), "\nCtrl-C again leaves\n");
  plain.show({ type: "farewell", threadId: undefined });
  assertEquals(plain.takeError(), "");
});

Deno.test("LineView without a person shows neither a sign nor how to go on", async () => {
  const plain = new Plain();
  await plain.type("one");
  assertEquals(await plain.view.readPrompt(), { kind: "prompt", text: "one" });
  assertEquals(plain.view.typing, undefined);
  plain.show({ type: "farewell", threadId: "thread-1" });
  assertEquals(plain.stderr, "");
});
