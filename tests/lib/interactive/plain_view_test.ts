import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { ServiceError } from "../../../lib/gateway.ts";
import { type Ending, runInteractive } from "../../../lib/interactive.ts";
import { CtrlC } from "../../../lib/interactive/ctrl_c.ts";
import {
  PlainView,
  type PlainViewOptions,
} from "../../../lib/interactive/plain_view.ts";
import { FakeGateway, type FakeRun } from "../../support/fake_gateway.ts";

const HOSTILE = "a\x1b[31mb\x1b]0;t\x07c\x9b2Jd\u202ee";
const DUMB = { isTyped: true, hasSign: true, cleansReplies: true } as const;

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
      ...{ isQuiet: false, cleansReplies: false, hasColour: false },
      ...{ isTyped: false, hasSign: false, stylesErrors: false },
      ...{ showsTotals: false, now: () => this.time },
      ...options,
    });
  }

  /** Types lines, and waits until they were read. */
  async type(...lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      this.#typing.write(new TextEncoder().encode(`${line}\n`));
    }
    await setImmediate();
  }

  end(): void {
    this.#typing.close();
  }
}

/** A chat on the thread `thread-1`, whose runs the test drives. */
class Chat extends Plain {
  readonly ending: Promise<Ending>;
  readonly #gateway = new FakeGateway();

  constructor(options: Partial<PlainViewOptions> = {}) {
    super({ isQuiet: true, ...options });
    this.ending = runInteractive({
      ...{ gateway: this.#gateway, view: this.view },
      ...{ maskedKey: "****", baseUrl: "https://service.example" },
    });
  }

  get run(): FakeRun {
    return this.#gateway.run;
  }

  /** What standard error got since the last call. */
  takeError(): string {
    const { stderr } = this;
    this.stderr = "";
    return stderr;
  }

  /** Presses Ctrl-C at a time. Returns whether the program goes on. */
  async ctrlC(milliseconds: number): Promise<boolean> {
    this.time = milliseconds;
    const goesOn = this.view.interrupt();
    await setImmediate();
    return goesOn;
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
  plain.view.show({ type: "banner", text: `a banner of ${HOSTILE} words` });
  plain.view.show({ type: "thread", threadId: "t" });
  plain.view.show({
    type: "wait",
    operation: "stream run",
    reason: `busy\n${HOSTILE}`,
    milliseconds: 65_000,
  });
  plain.view.show({ type: "progress", node: HOSTILE, status: "x\ny\rz" });
  plain.view.show({ type: "progress", node: "", status: "" });
  plain.view.show({ type: "error", message: `${HOSTILE}\nsecond line` });
  assertEquals(
    [plain.stdout, plain.stderr],
    [
      "",
      "a banner of abcde\nwords\nthread t\n" +
      "busy abcde, again in 1 min 5 s\nabcde: x y z\n: \n" +
      "Error: abcde second line\n",
    ],
  );
  assertEquals([...kinds], ["progress"]);
});

Deno.test("PlainView leaves out banner, progress, pauses and totals if quiet", async () => {
  const plain = new Plain({ isQuiet: true, showsTotals: true });
  plain.view.show({ type: "banner", text: "banner" });
  plain.view.begin(new AbortController());
  plain.view.show({ type: "progress", node: "plan", status: "started" });
  plain.view.show({
    ...{ type: "wait", operation: "stream run" } as const,
    ...{ reason: "busy", milliseconds: 1 },
  });
  await plain.view.show({ type: "reply", text: "reply" });
  plain.view.show({ type: "error", message: "wrong" });
  assertEquals([plain.stdout, plain.stderr], ["reply\n", "Error: wrong\n"]);
});

Deno.test("PlainView shows the total of a run at its end, and of no other error; without a person, not how to go on", async () => {
  const plain = new Plain({ showsTotals: true });
  plain.view.show({ type: "thread", threadId: "t" });
  plain.view.show({ type: "error", message: "refused" });
  plain.time = 500;
  plain.view.begin(new AbortController());
  plain.time = 2_200;
  await plain.view.show({ type: "reply", text: "reply" });
  plain.view.begin(new AbortController());
  plain.view.show({ type: "run", runId: "r" });
  plain.view.show({ type: "error", message: "wrong" });
  plain.view[Symbol.dispose]();
  assertEquals(
    plain.stderr,
    "thread t\nError: refused\ntotal 1.7 s\ntotal 0.0 s\nError: wrong\n",
  );
});

Deno.test("PlainView styles errors if it is asked to", () => {
  const plain = new Plain({ stylesErrors: true });
  plain.view.show({ type: "error", message: "wrong" });
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
  for (let time = 0; time < 2; time++) {
    await assertRejects(
      async () => await view.show({ type: "reply", text: "x" }),
      Deno.errors.BrokenPipe,
    );
  }
});

Deno.test("lines that cannot be prompts are errors, the next one runs, and the chat has failed at its end", async () => {
  const chat = new Chat();
  await chat.type("a\0b", "one");
  chat.run.complete("One.");
  chat.end();

  assertEquals(await chat.ending, "failed");
  assertEquals(chat.stdout, "One.\n");
  assertEquals(
    chat.stderr,
    "Error: Cannot take a line as a prompt: it holds a NUL character\n",
  );
});

Deno.test("Ctrl-C leaves at once where nobody types", async () => {
  const chat = new Chat();
  await chat.type("one");
  assertFalse(await chat.ctrlC(0));
});

Deno.test("a dumb terminal shows the keys once, a sign before each prompt, and at the end how to go on", async () => {
  const chat = new Chat({ ...DUMB, isQuiet: false, columns: () => 40 });
  await chat.type("one");
  chat.takeError();
  chat.run.complete("One.");
  await setImmediate();
  assertEquals(chat.takeError(), "> ");
  chat.end();
  assertEquals(await chat.ending, "done");
  chat.view[Symbol.dispose]();
  chat.view[Symbol.dispose]();
  assertEquals(chat.takeError(), "\nagent-gateway --thread thread-1\n");

  const other = new Chat({ ...DUMB, isQuiet: false });
  await setImmediate();
  assertEquals(
    other.takeError().split("\n").slice(2),
    ["thread thread-1", "Ctrl-C stops, Ctrl-D or exit leaves", "> "],
  );
  assert(await other.ctrlC(0));
  assertEquals(other.takeError(), "\nCtrl-C again leaves\n> ");
  other.view[Symbol.dispose]();
  assertEquals(other.takeError(), "");
});

Deno.test("Ctrl-C on a dumb terminal drops the run and the lines that wait", async () => {
  const chat = new Chat(DUMB);
  await chat.type("one", "two", "three");
  chat.takeError();

  assert(await chat.ctrlC(0));

  assert(chat.run.options.signal?.aborted);
  assertEquals(
    chat.takeError(),
    "Run dropped, and 2 waiting prompts; the run may still go on at the service\n> ",
  );
  await chat.type("four");
  assertEquals(chat.run.prompt, "four");
  await chat.ctrlC(5_000);
  assertEquals(
    chat.takeError(),
    "Run dropped; the run may still go on at the service\n> ",
  );
});

Deno.test("Ctrl-C at a prompt of a dumb terminal announces to leave, and leaves within 2 s", async () => {
  const chat = new Chat(DUMB);
  await chat.type("one");
  chat.run.fail(new ServiceError({ operation: "stream run", reason: "no" }));
  await setImmediate();
  chat.takeError();
  assert(await chat.ctrlC(0));
  assertEquals(chat.takeError(), "\nCtrl-C again leaves\n> ");
  assert(await chat.ctrlC(1_999));
  assertEquals(await chat.ending, "interrupted");
  assertEquals(chat.takeError(), "\n");
});

Deno.test("Ctrl-C on a dumb terminal only shows the sign again within a second after a reply or a drop", async () => {
  const chat = new Chat(DUMB);
  await chat.type("one");
  chat.run.complete("One.");
  await setImmediate();
  chat.takeError();
  assert(await chat.ctrlC(999));
  assertEquals(chat.takeError(), "\n> ");

  await chat.type("two");
  await chat.ctrlC(5_000);
  chat.takeError();
  assert(await chat.ctrlC(5_999));
  assertEquals(chat.takeError(), "\n> ");
  assert(await chat.ctrlC(6_000));
  assertEquals(chat.takeError(), "\nCtrl-C again leaves\n> ");
});

Deno.test("Ctrl-C on a dumb terminal stops a reply that is being written", async () => {
  const chat = new Chat(DUMB);
  const { promise, resolve } = Promise.withResolvers<void>();
  chat.reading = promise;
  await chat.type("one", "two");
  chat.takeError();
  chat.run.complete("x".repeat(10_000));
  await setImmediate();

  assert(await chat.ctrlC(0));
  resolve();
  await setImmediate();

  assertEquals(chat.stdout, `${"x".repeat(4096)}\n`);
  assertEquals(
    chat.takeError(),
    "Rest of the reply dropped, and 1 waiting prompt\n> ",
  );
});

Deno.test("Ctrl-C on a dumb terminal leaves although the reader of a reply that was stopped does not read on", async () => {
  const chat = new Chat(DUMB);
  chat.reading = new Promise(() => {});
  await chat.type("one");
  chat.run.complete("One.");
  await setImmediate();
  chat.takeError();

  assert(await chat.ctrlC(0));
  assert(await chat.ctrlC(1_000));
  assertEquals(chat.takeError(), "\nCtrl-C again leaves\n");
  assertFalse(await chat.ctrlC(1_001));
});

type Call =
  | readonly [milliseconds: number, "settle" | "clear"]
  | readonly [milliseconds: number, "press", does: ReturnType<CtrlC["press"]>];

const SEQUENCES: Readonly<Record<string, readonly Call[]>> = {
  "announces, and leaves at a second one within 2 s": [
    [0, "press", "announce"],
    [1_999, "press", "leave"],
  ],
  "announces again after 2 s": [
    [0, "press", "announce"],
    [2_000, "press", "announce"],
    [3_999, "press", "leave"],
  ],
  "does nothing within a second after a drop or a reply, which is not the first one":
    [
      [0, "settle"],
      [999, "press", "nothing"],
      [1_000, "press", "announce"],
      [1_001, "press", "leave"],
    ],
  "announces again after a drop or a reply": [
    [0, "press", "announce"],
    [100, "settle"],
    [1_100, "press", "announce"],
  ],
  "announces again after one that cleared a text": [
    [0, "press", "announce"],
    [100, "clear"],
    [200, "press", "announce"],
  ],
};
for (const [rule, calls] of Object.entries(SEQUENCES)) {
  Deno.test(`CtrlC ${rule}`, () => {
    let time = 0;
    const ctrlC = new CtrlC(() => time);
    for (const [milliseconds, call, does] of calls) {
      time = milliseconds;
      assertEquals(ctrlC[call](), does, `${milliseconds} ms`);
    }
  });
}
