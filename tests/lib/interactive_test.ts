import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import type {
  CreationEvent,
  Fate,
  Gateway,
  TurnEvent,
} from "../../lib/gateway.ts";
import { Redactor } from "../../lib/text.ts";
import { eventsOf } from "../support/fake_gateway.ts";
import { serviceError } from "../support/service_errors.ts";
import { Conversation } from "../../lib/interactive/conversation.ts";
import { CtrlC } from "../../lib/interactive/ctrl_c.ts";
import type { Typing, View, ViewEvent } from "../../lib/interactive/view.ts";
import type { Input } from "../../lib/io/input_queue.ts";
import { VERSION } from "../../lib/version.ts";
import { FakeClock } from "../support/clocks.ts";

/** A view whose user types some lines, after which the input ends. */
class ScriptedView implements View {
  /** What happens, in order, without the beginnings and ends of operations. */
  readonly log: string[] = [];
  /** What happens, with these beginnings and ends. */
  readonly fullLog: string[] = [];
  /** Called before an event is shown. */
  onShow: (event: ViewEvent, signal?: AbortSignal) => void | Promise<void> =
    () => {};
  /** Called when a prompt is asked for and there is no line left. */
  onIdle: () => Promise<Input> = () => Promise.resolve({ kind: "end" });
  /** How many prompts wait, and whether something is typed. */
  waiting = 0;
  hasText = false;
  /** How often a connection was asked for ahead of a turn. */
  prepared = 0;
  typing: Typing | undefined = {
    dropWaiting: () => this.waiting,
    clear: () => this.hasText,
  };
  /** The conversation that this view shows. */
  conversation: Conversation | undefined;
  readonly #inputs: Input[];

  constructor(...inputs: readonly (string | Input)[]) {
    this.#inputs = inputs.map((input) =>
      typeof input === "string" ? { kind: "text", text: input } : input
    );
  }

  readPrompt(): Promise<Input> {
    this.log.push("prompt");
    const input = this.#inputs.shift();
    return input === undefined ? this.onIdle() : Promise.resolve(input);
  }

  async show(event: ViewEvent, signal?: AbortSignal): Promise<void> {
    await this.onShow(event, signal);
    const { type } = event;
    const line = [type, ...valuesOf(event)].join(" ").trimEnd();
    this.fullLog.push(line);
    if (type !== "begin" && type !== "end") this.log.push(line);
  }

  /** Sets what happens before a reply is shown. */
  set onReply(act: (signal?: AbortSignal) => void | Promise<void>) {
    this.onShow = ({ type }, signal) => {
      if (type === "reply") return act(signal);
    };
  }

  /** Never lets an event be written whole. Resolves when the writing has begun. */
  hold(held: ViewEvent["type"]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.onShow = ({ type }) => {
      if (type !== held) return;
      resolve();
      return new Promise(() => {});
    };
    return promise;
  }

  /** Presses Ctrl-C. Returns whether the program goes on. */
  ctrlC(): boolean {
    return this.conversation?.interrupt() ?? false;
  }
}

function valuesOf(event: ViewEvent): readonly unknown[] {
  switch (event.type) {
    case "error":
      return [event.message, event.failure?.fate];
    case "end":
      return [event.completed, event.total];
    case "reply":
      return [event.text];
    default: {
      const { type: _, ...fields } = event;
      return Object.values(fields);
    }
  }
}

/** The options of a test's prompt loop and gateway. */
interface Script {
  /** The thread to continue, and the prompts of the command line. */
  readonly threadId?: string;
  readonly prompts?: readonly string[] | undefined;
  readonly createThread?: (
    ...call: Parameters<Gateway["createThread"]>
  ) => AsyncGenerator<CreationEvent>;
  readonly runTurn?: (
    ...call: Parameters<Gateway["runTurn"]>
  ) => AsyncGenerator<TurnEvent>;
  readonly fate?: Fate;
  readonly now?: () => number;
}

/** Runs the prompt loop, and records the calls of the gateway too. */
async function play(
  view: ScriptedView,
  script: Script = {},
): Promise<number> {
  const { createThread = create, runTurn = echo, prompts } = script;
  const gateway: Gateway = {
    redactor: new Redactor(""),
    prepare() {
      view.prepared++;
    },
    createThread(options) {
      view.log.push("create thread");
      return eventsOf(createThread(options));
    },
    runTurn(threadId, prompt, options) {
      view.log.push(`start ${threadId} ${JSON.stringify(prompt)}`);
      return eventsOf(runTurn(threadId, prompt, options), script.fate);
    },
  };
  const conversation = view.conversation = new Conversation({
    gateway,
    view,
    maskedKey: "test...cdef",
    baseUrl: "https://brain.example",
    threadId: script.threadId,
    timeLimit: 7_000,
    now: script.now,
  });
  return prompts === undefined
    ? await conversation.runInteractive()
    : await conversation.runPrompts(prompts);
}

async function* create(): AsyncGenerator<CreationEvent> {
  yield { type: "thread", threadId: "thread-1" };
}

async function* echo(
  _threadId: string,
  prompt: string,
): AsyncGenerator<TurnEvent> {
  yield { type: "run", runId: "r" };
  const progress = { type: "progress", node: "write", status: "done" } as const;
  yield progress;
  yield { type: "reply", text: `You said: ${prompt}`, isNotice: false };
}

/** What `echo()` shows. */
const ECHO = ["run r", "progress write done"];

// deno-lint-ignore require-yield -- it fails before its first event
async function* fail(): AsyncGenerator<never> {
  const reason = "Out of order";
  throw serviceError("create run", { reason, status: 503, stage: "refused" });
}
const FAILURE = "error Out of order. refused";

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

/** What a prompt that `echo()` runs leaves in the log. */
function ran(prompt: string): readonly string[] {
  const start = `start thread-1 ${JSON.stringify(prompt)}`;
  return [start, ...ECHO, `reply You said: ${prompt}`.trimEnd()];
}

const REFUSED = { kind: "refused", reason: "It is not UTF-8" } as const;

/** What a person types, and the log after its start, the first prompt included. */
const CHATS: Readonly<
  Record<string, readonly [(string | Input)[], log: readonly string[]]>
> = {
  "shows the masked key, creates a thread, and runs each prompt on it (interface 1, Interactive mode rules 1 and 4)":
    [
      ["hello", "  again "],
      ["prompt", ...ran("hello"), "prompt", ...ran("  again "), "prompt"],
    ],
  "prompts again after empty input (interface 1, Interactive mode rules 2)": [
    ["", "  \t"],
    ["prompt", "prompt", "prompt"],
  ],
  "shows why a run failed, and prompts again (interface 7)": [
    ["fail", "hello"],
    [
      ...["prompt", 'start thread-1 "fail"', FAILURE],
      ...["prompt", ...ran("hello"), "prompt"],
    ],
  ],
  "shows why a line was refused, and prompts again": [
    [REFUSED, "hello"],
    ["prompt", "error It is not UTF-8", "prompt", ...ran("hello"), "prompt"],
  ],
};

for (const [what, [inputs, log]] of Object.entries(CHATS)) {
  Deno.test(`runInteractive() ${what}`, async () => {
    const view = new ScriptedView(...inputs);
    assertEquals(await play(view, { runTurn: failAtFail }), 0);
    assertEquals(view.log, [...START, ...log]);
  });
}

Deno.test("runInteractive() has a connection opened after each reply to a person, and none after a failure or for a pipe", async () => {
  const view = new ScriptedView("hello", "fail", "again");
  await play(view, { runTurn: failAtFail });
  const piped = new ScriptedView("hello");
  piped.typing = undefined;
  await play(piped);
  assertEquals([view.prepared, piped.prepared], [2, 0]);
});

Deno.test("runInteractive() continues a thread and creates none", async () => {
  const view = new ScriptedView();
  assertEquals(await play(view, { threadId: "thread-7" }), 0);
  assertEquals(view.log.slice(2), ["thread thread-7", "prompt"]);
});

Deno.test("runInteractive() leaves at exit and quit, with 0 even after a failed run (interface 1, Interactive mode rules 3)", async () => {
  for (const word of ["exit", "quit", "EXIT", "Quit", " eXit "]) {
    const view = new ScriptedView("exit now?", word, "not read");
    assertEquals(await play(view, { runTurn: fail }), 0);
    assertEquals(view.log.filter((line) => line === "prompt").length, 2);
    assert(view.log.includes('start thread-1 "exit now?"'));
  }
});

Deno.test("runInteractive() and runPrompts() do not start without a thread (interface 7)", async () => {
  for (const prompts of [undefined, ["hello"]]) {
    const view = new ScriptedView("hello");
    const ending = await play(view, { createThread: fail, prompts });
    assertEquals(ending, 1);
    assertEquals(view.log.slice(2), ["create thread", FAILURE]);
  }
});

Deno.test("Ctrl-C twice at an empty prompt ends as interrupted", async () => {
  const view = new ScriptedView();
  const isIdle = Promise.withResolvers<void>();
  view.onIdle = () => {
    isIdle.resolve();
    return new Promise(() => {});
  };
  const ending = play(view);
  await isIdle.promise;
  view.hasText = true;
  assert(view.ctrlC());
  view.hasText = false;
  assert(view.ctrlC());
  assert(view.ctrlC());
  assertEquals(await ending, 130);
  assertEquals(view.log, [...START, "prompt", "ctrl-c true"]);
});

Deno.test("Ctrl-C while the thread is created ends as interrupted", async () => {
  const view = new ScriptedView("not read");
  const ending = await play(view, {
    // deno-lint-ignore require-yield -- it is dropped before its first event
    async *createThread(options) {
      view.ctrlC();
      throw options?.signal?.reason;
    },
  });
  assertEquals(ending, 130);
  assertEquals(view.log.slice(2), ["create thread", "dropped thread 0"]);
});

Deno.test("Ctrl-C drops the run and the prompts that wait; and the next prompt runs", async () => {
  const view = new ScriptedView("think", "hello");
  view.waiting = 2;
  const ending = await play(view, {
    async *runTurn(threadId, prompt, options) {
      if (prompt === "think") view.ctrlC();
      options?.signal?.throwIfAborted();
      yield* echo(threadId, prompt);
    },
  });
  assertEquals(ending, 0);
  assertEquals(view.log.slice(START.length, START.length + 5), [
    "prompt",
    'start thread-1 "think"',
    "dropped run 2",
    "prompt",
    'start thread-1 "hello"',
  ]);
});

Deno.test("Ctrl-C as a run fails does not hide the error", async () => {
  const view = new ScriptedView("hello");
  await play(view, {
    async *runTurn() {
      view.ctrlC();
      yield* fail();
    },
  });
  assertEquals(view.log.slice(-2), [FAILURE, "prompt"]);
});

Deno.test("Ctrl-C before a prompt was sent says that it did not run", async () => {
  const view = new ScriptedView("think");
  await play(view, {
    // deno-lint-ignore require-yield -- it is dropped before its first event
    async *runTurn(_threadId, _prompt, options) {
      view.ctrlC();
      throw options?.signal?.reason;
    },
    fate: "not run",
  });
  assert(view.log.includes("dropped prompt 0"));
});

Deno.test("Ctrl-C while a reply is written drops its rest; its run is done", async () => {
  const view = new ScriptedView("hello");
  view.onReply = () => void view.ctrlC();
  assertEquals(await play(view), 0);
  assertEquals(view.log.slice(-3), [
    "reply You said: hello",
    "dropped reply 0",
    "prompt",
  ]);
});

Deno.test("Ctrl-C leaves although the reader of a reply that was stopped does not read on", async () => {
  let time = 0;
  const view = new ScriptedView("hello");
  const isWriting = view.hold("reply");
  void play(view, { now: () => time });
  await isWriting;
  assert(view.ctrlC());
  time = 1_000;
  assert(view.ctrlC());
  assertFalse(view.ctrlC());
});

Deno.test("Ctrl-C at an empty prompt does nothing within a second after a drop or a reply", async () => {
  for (const isDropped of [true, false]) {
    let time = 0;
    const view = new ScriptedView("hello");
    view.onIdle = () => {
      for (time of [999, 1_000]) assert(view.ctrlC());
      return Promise.resolve({ kind: "end" });
    };
    view.onReply = () => void (isDropped && view.ctrlC());
    await play(view, { now: () => time });
    assertEquals(view.log.slice(-2), ["ctrl-c false", "ctrl-c true"]);
  }
});

Deno.test("Ctrl-C leaves at once where nobody types", async () => {
  const view = new ScriptedView();
  view.typing = undefined;
  view.onReply = () => assertFalse(view.ctrlC());
  assertEquals(await play(view, { prompts: ["one"] }), 0);
});

type Call =
  | readonly [milliseconds: number, "settle"]
  | readonly [
    milliseconds: number,
    "press" | "press while running" | "press after typing",
    does: ReturnType<CtrlC["press"]>,
  ];

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
  "announces again after a drop or a reply": [
    [0, "press", "announce"],
    [100, "settle"],
    [1_099, "press", "nothing"],
    [1_100, "press", "announce"],
  ],
  "announces again after one that cleared a text": [
    [0, "press", "announce"],
    [100, "press after typing", "clear"],
    [200, "press", "announce"],
  ],
  "drops what is running, and then does nothing for a second": [
    [0, "press", "announce"],
    [100, "press while running", "drop"],
    [1_099, "press", "nothing"],
    [1_100, "press", "announce"],
  ],
};
for (const [rule, calls] of Object.entries(SEQUENCES)) {
  Deno.test(`CtrlC ${rule}`, () => {
    let time = 0;
    const ctrlC = new CtrlC(() => time);
    for (const [milliseconds, call, does] of calls) {
      time = milliseconds;
      const effect = call === "settle" ? ctrlC.settle() : ctrlC.press(
        call === "press while running",
        () => call === "press after typing",
      );
      assertEquals(effect, does, `${milliseconds} ms`);
    }
  });
}

Deno.test("Conversation tells its view where operations begin and end, and once how to go on", async () => {
  const view = new ScriptedView("hello", "fail");
  let time = 0;
  const now = () => time += 1_700; // read at the beginning and at the end
  await play(view, { runTurn: failAtFail, now });
  await view.conversation?.leave();
  await view.conversation?.leave();
  assertEquals(view.fullLog.slice(2), [
    ...["begin", "end true", "thread thread-1"],
    ...["begin", ...ECHO, "end true 1700", "reply You said: hello"],
    ...["begin", "end false", FAILURE],
    "farewell thread-1",
  ]);
});

Deno.test("Conversation that is left during a run ends it; without a run, or a person, it does not tell how to go on", async () => {
  const view = new ScriptedView("hello");
  void play(view, {
    async *runTurn() {
      yield { type: "run", runId: "r" };
      await new Promise(() => {});
    },
    now: () => 0,
  });
  while (!view.log.includes("run r")) await setImmediate();
  await view.conversation?.leave();
  assertEquals(view.fullLog.slice(-2), ["end false 0", "farewell thread-1"]);

  const [idle, script] = [new ScriptedView(), new ScriptedView()];
  script.typing = undefined;
  await play(idle);
  await play(script, { prompts: ["hello"] });
  for (const view of [idle, script]) {
    await view.conversation?.leave();
    assertEquals(view.log.at(-1), "farewell");
  }
});

Deno.test("Conversation that is left while a reply is written stops it, and waits for its end before the farewell", async () => {
  const view = new ScriptedView("hello", "not run");
  const [isWriting, isWritten] = [0, 1].map(() =>
    Promise.withResolvers<void>()
  );
  view.onReply = (signal) => {
    isWriting?.resolve();
    signal?.addEventListener("abort", () => isWritten?.resolve());
    return isWritten?.promise;
  };
  void play(view);
  await isWriting?.promise;
  await view.conversation?.leave(60_000);
  await setImmediate();
  assertEquals(view.log.slice(-2), [
    "reply You said: hello",
    "farewell thread-1",
  ]);
});

Deno.test("Conversation that is left has no farewell if nobody reads the reply", async () => {
  using clock = new FakeClock();
  const view = new ScriptedView("hello");
  const isWriting = view.hold("reply");
  void play(view);
  await isWriting;
  const left = view.conversation?.leave(400);
  clock.passTo(400);
  await left;
  assertEquals([view.log.at(-1), clock.time], ["farewell", 400]);
});

Deno.test("runInteractive() ends at a defect, and when nobody reads the replies", async () => {
  const view = new ScriptedView("hello", "not read");
  const runTurn = () => {
    throw new TypeError("a defect");
  };
  await assertRejects(() => play(view, { runTurn }), TypeError, "a defect");

  const unread = new ScriptedView("hello");
  unread.onReply = () => Promise.reject(new Deno.errors.BrokenPipe());
  await assertRejects(() => play(unread), Deno.errors.BrokenPipe);
  const ends = unread.fullLog.filter((line) => line.startsWith("end"));
  assertEquals(ends.length, 2); // of the thread and of the run
});

Deno.test("nothing is asked of the service before the view has shown the beginning", async () => {
  const view = new ScriptedView("hello");
  const [begun, shown] = [0, 1].map(() => Promise.withResolvers<void>());
  let isAsked = false;
  view.onShow = ({ type }) => {
    if (type !== "begin") return;
    begun?.resolve();
    return shown?.promise;
  };
  const ending = play(view, {
    async *createThread() {
      isAsked = true;
      yield* create();
    },
  });
  await begun?.promise;
  await setImmediate();
  assertFalse(isAsked);
  shown?.resolve();
  await ending;
  assert(isAsked);
});

Deno.test("the error of a piped prompt says which one it was, if it was not the first", async () => {
  const view = new ScriptedView("fail", "fail");
  view.typing = undefined;
  assertEquals(await play(view, { runTurn: fail }), 1);
  assertEquals(view.log.filter((line) => line.startsWith("error")), [
    FAILURE,
    "error Prompt 2 on thread thread-1: Out of order. refused",
  ]);
});

Deno.test("runPrompts() runs the prompts in order on one thread, each with the time limit, the first one with the thread; exit is one like any other", async () => {
  using clock = new FakeClock();
  const view = new ScriptedView("not read");
  const over: unknown[] = [];
  /** Whether the time of an operation is over at these times. */
  const pass = (signal: AbortSignal | undefined, ...times: number[]) => {
    for (const time of times) {
      clock.passTo(time);
      over.push(signal?.aborted);
    }
  };
  const ending = await play(view, {
    prompts: ["one", "exit"],
    createThread(options) {
      pass(options?.signal, 6_999);
      return create();
    },
    runTurn(threadId, prompt, options) {
      if (prompt === "one") pass(options?.signal, 6_999, 7_000);
      else pass(options?.signal, 13_999, 14_000);
      return echo(threadId, prompt);
    },
  });
  assertEquals(ending, 0);
  assertEquals(over, [false, false, true, false, true]);
  assertEquals(view.log, [...START, ...ran("one"), ...ran("exit")]);
});

Deno.test("runPrompts() ends at the first run that fails", async () => {
  const view = new ScriptedView();
  const prompts = ["one", "fail", "three"];
  assertEquals(await play(view, { prompts, runTurn: failAtFail }), 1);
  assertEquals(view.log.at(-1), FAILURE);
});

const REPLY = { type: "reply", text: "One.", isNotice: false } as const;

/** Lets the time limit of `play()` pass, and what is left for writing. */
async function passTime(clock: FakeClock): Promise<void> {
  clock.passTo(7_000);
  await setImmediate();
  clock.passTo(12_000);
  await setImmediate();
}

Deno.test("a reply that nobody reads when the time is over is given up 5 s later; a script fails, and a chat continues", async () => {
  for (const isTyped of [true, false]) {
    using clock = new FakeClock();
    const view = new ScriptedView("one", "two");
    if (!isTyped) view.typing = undefined;
    const isWriting = view.hold("reply");
    const ending = play(view, {
      async *runTurn(_id, prompt) {
        yield { type: "run", runId: prompt };
        yield REPLY;
      },
    });
    await isWriting;
    view.onShow = () => {};
    await passTime(clock);
    assertEquals(await ending, isTyped ? 0 : 1);
    const rest = view.log.slice(START.length + 3);
    assertEquals(rest, [
      "error The time limit has passed, and nothing reads standard output: the rest of the reply was dropped",
      ...isTyped
        ? ["prompt", 'start thread-1 "two"', "run two", "reply One.", "prompt"]
        : [],
    ]);
  }
});

Deno.test("the error of a rejected line that nobody reads is given up like a reply: a script fails, and a chat continues", async () => {
  for (const isTyped of [true, false]) {
    using clock = new FakeClock();
    const view = new ScriptedView(REFUSED, "two");
    if (!isTyped) view.typing = undefined;
    const isWriting = view.hold("error");
    const ending = play(view);
    await isWriting;
    assertEquals(clock.pending, 1);
    await passTime(clock);
    assertEquals(await ending, isTyped ? 0 : 1);
    const rest = view.log.slice(START.length + 1);
    assertEquals(rest, isTyped ? ["prompt", ...ran("two"), "prompt"] : []);
    assertEquals(clock.pending, 0);
  }
});

Deno.test("a reply that was given up is written no further", async () => {
  using clock = new FakeClock();
  const view = new ScriptedView("one");
  let writing: AbortSignal | undefined;
  view.onReply = (signal) => {
    writing = signal;
    return new Promise(() => {});
  };
  const ending = play(view);
  while (writing === undefined) await setImmediate();
  clock.passTo(7_000);
  await setImmediate();
  assertFalse(writing.aborted);
  clock.passTo(12_000);
  await ending;
  assert(writing.aborted);
});

Deno.test("a conversation that is left while a reply is written runs no further prompt of a script", async () => {
  const view = new ScriptedView();
  view.typing = undefined;
  let isWriting = false;
  view.onReply = (signal) => {
    isWriting = true;
    return new Promise((resolve) =>
      signal?.addEventListener("abort", () => resolve())
    );
  };
  const ending = play(view, { prompts: ["one", "two"] });
  while (!isWriting) await setImmediate();
  await view.conversation?.leave(60_000);
  await ending;
  await setImmediate();
  assertFalse(view.log.some((line) => line.includes('"two"')));
});
