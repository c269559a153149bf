import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import {
  PlainView,
  type PlainViewOptions,
} from "../../../lib/interactive/plain_view.ts";
import type { ViewEvent } from "../../../lib/interactive/view.ts";

const HOSTILE = "a\x1b[31mb\x1b]0;t\x07c\x9b2Jd\u202ee";
const DUMB = { isTyped: true, hasSign: true, cleansReplies: true } as const;

const BEGIN = { type: "begin" } as const;
const RUN = { type: "run", runId: "r" } as const;
const END = { type: "end", completed: true } as const;

/** A view of plain lines, and what it wrote. */
class Plain {
  readonly view: PlainView;
  stdout = "";
  stderr = "";
  /** In milliseconds. */
  time = 0;
  /** Holds up the writing of replies. */
  reading = Promise.resolve();
  readonly #typing: WritableStreamDefaultWriter<Uint8Array>;

  constructor(options: Partial<PlainViewOptions> = {}) {
    const { readable, writable } = new TransformStream<
      Uint8Array,
      Uint8Array
    >();
    this.#typing = writable.getWriter();
    this.view = new PlainView({
      stdin: () => readable,
      stdout: {
        write: async (bytes) => {
          this.stdout += new TextDecoder().decode(bytes);
          await this.reading;
        },
      },
      stderr: (text) => this.stderr += text,
      ...{ isQuiet: false, isPlain: false, cleansReplies: false },
      ...{ hasColour: false, isTyped: false, hasSign: false },
      ...{ stylesErrors: false, now: () => this.time },
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

Deno.test("PlainView writes banner, progress, pauses and errors to standard error, cleaned, a line each", () => {
  const kinds = new Set<string | undefined>();
  const plain: Plain = new Plain({
    columns: () => 20,
    stderr: (text, kind) => {
      plain.stderr += text;
      if (text.startsWith("abcde")) kinds.add(kind);
    },
  });
  const operation = "stream run";
  plain.show(
    { type: "banner", text: `a banner of ${HOSTILE} words` },
    { type: "thread", threadId: "t" },
    {
      ...{ type: "wait", operation } as const,
      ...{ reason: `busy\n${HOSTILE}`, milliseconds: 65_000 },
    },
    { type: "progress", node: HOSTILE, status: "x\ny\rz" },
    { type: "progress", node: "", status: "" },
    { type: "error", message: `${HOSTILE}\nsecond line` },
  );
  assertEquals(plain.stdout, "");
  assertEquals(
    plain.stderr,
    "a banner of abcde\nwords\nthread t\n" +
      "busy abcde, again in 1 min 5 s\nabcde: x y z\n: \n" +
      "Error: abcde second line\n",
  );
  assertEquals([...kinds], ["progress"]);
});

Deno.test("PlainView leaves out banner, progress, pauses and totals if quiet", async () => {
  const plain = new Plain({ isQuiet: true, isPlain: true });
  plain.show(
    { type: "banner", text: "banner" },
    ...[BEGIN, RUN],
    { type: "progress", node: "plan", status: "started" },
    {
      ...{ type: "wait", operation: "stream run" } as const,
      ...{ reason: "busy", milliseconds: 1 },
    },
    END,
  );
  await plain.view.show({ type: "reply", text: "reply" });
  plain.show({ type: "error", message: "wrong" });
  assertEquals([plain.stdout, plain.stderr], ["reply\n", "Error: wrong\n"]);
});

Deno.test("PlainView shows the total of each run with --plain, and not of the creation of a thread", () => {
  const plain = new Plain({ isPlain: true });
  plain.show(BEGIN, END, BEGIN, RUN);
  plain.time = 1_700;
  plain.show(END, BEGIN, END);
  assertEquals(plain.stderr, "total 1.7 s\n");
});

Deno.test("PlainView styles errors if it is asked to", () => {
  const plain = new Plain({ stylesErrors: true });
  plain.show({ type: "error", message: "wrong" });
  assertEquals(plain.stderr, "\x1b[31mError: wrong\x1b[39m\n");
});

Deno.test("PlainView takes its next event when a reply is written, and rejects when its reader is gone", async () => {
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

Deno.test("PlainView without a person shows neither a sign nor how to go on", async () => {
  const plain = new Plain();
  await plain.type("one");
  assertEquals(await plain.view.readPrompt(), { kind: "prompt", text: "one" });
  assertEquals(plain.view.typing, undefined);
  plain.show({ type: "farewell", threadId: "thread-1" });
  assertEquals(plain.stderr, "");
});
