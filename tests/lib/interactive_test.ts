import { assert, assertEquals, assertRejects } from "@std/assert";
import type { CreationEvent, Gateway, TurnEvent } from "../../lib/gateway.ts";
import { ServiceError } from "../../lib/gateway/failure/service_error.ts";
import { runInteractive, runPrompts } from "../../lib/interactive.ts";
import type { Input, View, ViewEvent } from "../../lib/interactive/view.ts";
import { VERSION } from "../../lib/version.ts";

/** A view whose user types these lines; then the input ends. */
class ScriptedView implements View {
  /** Everything that happens, in order. */
  readonly log: string[] = [];
  readonly #inputs: Input[];
  #operation: AbortController | undefined;
  /** Called before a reply is shown. */
  onReply: () => void | Promise<void> = () => {};

  constructor(...inputs: readonly (string | Input)[]) {
    this.#inputs = inputs.map((input) =>
      typeof input === "string" ? { kind: "prompt", text: input } : input
    );
  }

  readPrompt(): Promise<Input> {
    this.log.push("prompt");
    return Promise.resolve(this.#inputs.shift() ?? { kind: "end" });
  }

  begin(operation: AbortController): void {
    this.#operation = operation;
  }

  async show(event: ViewEvent): Promise<void> {
    if (event.type === "reply") await this.onReply();
    const { type, ...fields } = event;
    this.log.push([type, ...Object.values(fields)].join(" ").trimEnd());
  }

  /** The user drops what is going on. */
  drop(): void {
    this.#operation?.abort();
  }

  [Symbol.dispose](): void {}
}

/** The options of a test's prompt loop and gateway. */
interface Script {
  /** The thread to continue, and the prompts of the command line. */
  readonly threadId?: string;
  readonly prompts?: readonly string[] | undefined;
  readonly createThread?: Gateway["createThread"];
  readonly runTurn?: Gateway["runTurn"];
}

/** Runs the prompt loop, and records the calls of the gateway too. */
async function play(view: ScriptedView, script: Script = {}): Promise<string> {
  const { createThread = create, runTurn = echo, threadId, prompts } = script;
  const gateway: Gateway = {
    createThread(options) {
      view.log.push("create thread");
      return createThread(options);
    },
    runTurn(threadId, prompt, options) {
      view.log.push(`start ${threadId} ${JSON.stringify(prompt)}`);
      return runTurn(threadId, prompt, options);
    },
  };
  const options = {
    gateway,
    view,
    maskedKey: "test...cdef",
    baseUrl: "https://brain.example",
    threadId,
    timeLimit: 7_000,
  };
  return prompts === undefined
    ? await runInteractive(options)
    : await runPrompts(prompts, options);
}

async function* create(): AsyncGenerator<readonly CreationEvent[]> {
  yield [{ type: "thread", threadId: "thread-1" }];
}

async function* echo(
  _threadId: string,
  prompt: string,
): AsyncGenerator<readonly TurnEvent[]> {
  yield [{ type: "run", runId: "r" }];
  const progress = { type: "progress", node: "write", status: "done" } as const;
  yield [progress, { type: "reply", text: `You said: ${prompt}` }];
}

/** What `echo()` shows. */
const ECHO = ["run r", "progress write done"];

// deno-lint-ignore require-yield -- it fails before its first event
async function* fail(): AsyncGenerator<never> {
  const reason = "out of order";
  throw new ServiceError({ operation: "create run", reason, status: 503 });
}
const FAILURE = "error Cannot start a run: out of order create run 503";

async function* failAtFail(threadId: string, prompt: string) {
  yield* prompt === "fail" ? fail() : echo(threadId, prompt);
}

/** The log up to the first prompt. */
const START = [
  `banner agent-gateway ${VERSION}, agent the-brain, key test...cdef`,
  "banner service https://brain.example",
  "create thread",
  "thread thread-1",
];

Deno.test("runInteractive() shows the masked key, creates a thread, and runs each prompt on it (interface 1, Interactive mode rules 1 and 4)", async () => {
  const view = new ScriptedView("hello", "  again ");
  assertEquals(await play(view), "done");
  assertEquals(view.log, [
    ...START,
    "prompt",
    'start thread-1 "hello"',
    ...ECHO,
    "reply You said: hello",
    "prompt",
    'start thread-1 "  again "',
    ...ECHO,
    "reply You said:   again",
    "prompt",
  ]);
});

Deno.test("runInteractive() continues a thread and creates none", async () => {
  const view = new ScriptedView();
  assertEquals(await play(view, { threadId: "thread-7" }), "done");
  assertEquals(view.log.slice(2), ["thread thread-7", "prompt"]);
});

Deno.test("runInteractive() prompts again after empty input (interface 1, Interactive mode rules 2)", async () => {
  const view = new ScriptedView("", "  \t");
  assertEquals(await play(view), "done");
  assertEquals(view.log, [...START, "prompt", "prompt", "prompt"]);
});

Deno.test("runInteractive() leaves at exit and quit, done even after a failed run (interface 1, Interactive mode rules 3)", async () => {
  for (const word of ["exit", "quit", "EXIT", "Quit", " eXit "]) {
    const view = new ScriptedView("exit now?", word, "not read");
    assertEquals(await play(view, { runTurn: fail }), "done");
    assertEquals(view.log.filter((line) => line === "prompt").length, 2);
    assert(view.log.includes('start thread-1 "exit now?"'));
  }
});

Deno.test("runInteractive() shows why a run failed or a line was refused, prompts again, and ends as failed (interface 7)", async () => {
  const refused = { kind: "refused", reason: "It is not UTF-8" } as const;
  for (const input of ["fail", refused]) {
    const view = new ScriptedView(input, "hello", "");
    assertEquals(await play(view, { runTurn: failAtFail }), "failed");
    assertEquals(view.log.slice(START.length), [
      "prompt",
      ...(input === "fail"
        ? ['start thread-1 "fail"', FAILURE]
        : ["error It is not UTF-8"]),
      "prompt",
      'start thread-1 "hello"',
      ...ECHO,
      "reply You said: hello",
      "prompt",
      "prompt",
    ]);
  }
});

Deno.test("runInteractive() and runPrompts() do not start without a thread (interface 7)", async () => {
  for (const prompts of [undefined, ["hello"]]) {
    const view = new ScriptedView("hello");
    const ending = await play(view, { createThread: fail, prompts });
    assertEquals(ending, "not started");
    assertEquals(view.log.slice(2), ["create thread", FAILURE]);
  }
});

Deno.test("runInteractive() ends as interrupted at Ctrl-C that leaves, and while the thread is created", async () => {
  const view = new ScriptedView({ kind: "interrupt" }, "not read");
  assertEquals(await play(view), "interrupted");
  assertEquals(view.log, [...START, "prompt"]);

  const early = new ScriptedView("not read");
  const ending = await play(early, {
    // deno-lint-ignore require-yield -- it is dropped before its first event
    async *createThread(options) {
      early.drop();
      throw options?.signal?.reason;
    },
  });
  assertEquals(ending, "interrupted");
  assertEquals(early.log.slice(2), ["create thread", "dropped thread"]);
});

Deno.test("runInteractive() prompts again after a dropped run, and ends as failed", async () => {
  const view = new ScriptedView("think", "hello");
  const ending = await play(view, {
    async *runTurn(threadId, prompt, options) {
      if (prompt === "think") view.drop();
      options?.signal?.throwIfAborted();
      yield* echo(threadId, prompt);
    },
  });
  assertEquals(ending, "failed");
  assertEquals(view.log.slice(START.length, START.length + 5), [
    "prompt",
    'start thread-1 "think"',
    "dropped run",
    "prompt",
    'start thread-1 "hello"',
  ]);
});

Deno.test("runInteractive() shows the error of a run that fails as it is dropped", async () => {
  const view = new ScriptedView("hello");
  await play(view, {
    async *runTurn() {
      view.drop();
      yield* fail();
    },
  });
  assertEquals(view.log.slice(-2), [FAILURE, "prompt"]);
});

Deno.test("runInteractive() says that a reply was dropped while it was written; its run is done", async () => {
  const view = new ScriptedView("hello");
  view.onReply = () => view.drop();
  assertEquals(await play(view), "done");
  assertEquals(view.log.slice(-3), [
    "reply You said: hello",
    "dropped reply",
    "prompt",
  ]);
});

Deno.test("runInteractive() ends at a defect, and when nobody reads the replies", async () => {
  const view = new ScriptedView("hello", "not read");
  const runTurn = () => {
    throw new TypeError("a defect");
  };
  await assertRejects(() => play(view, { runTurn }), TypeError, "a defect");

  view.onReply = () => Promise.reject(new Deno.errors.BrokenPipe());
  await assertRejects(() => play(view), Deno.errors.BrokenPipe);
});

Deno.test("runPrompts() runs the prompts in order on one thread, each with the time limit; exit is one like any other", async () => {
  const view = new ScriptedView("not read");
  const limits: unknown[] = [];
  const ending = await play(view, {
    prompts: ["one", "exit"],
    runTurn(threadId, prompt, options) {
      limits.push(options?.timeLimit?.milliseconds);
      return echo(threadId, prompt);
    },
  });
  assertEquals(ending, "done");
  assertEquals(limits, [7_000, 7_000]);
  assertEquals(view.log, [
    ...START,
    'start thread-1 "one"',
    ...ECHO,
    "reply You said: one",
    'start thread-1 "exit"',
    ...ECHO,
    "reply You said: exit",
  ]);
});

Deno.test("runPrompts() ends at the first run that fails", async () => {
  const view = new ScriptedView();
  const prompts = ["one", "fail", "three"];
  assertEquals(await play(view, { prompts, runTurn: failAtFail }), "failed");
  assertEquals(view.log.at(-1), FAILURE);
});
