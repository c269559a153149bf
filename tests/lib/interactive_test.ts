import {
  assert,
  assertEquals,
  assertFalse,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { setImmediate } from "node:timers/promises";
import type { Fate, Gateway } from "../../lib/gateway.ts";
import type { Failure } from "../../lib/gateway/failure/failure.ts";
import { Conversation } from "../../lib/interactive/conversation.ts";
import { CtrlC } from "../../lib/interactive/ctrl_c.ts";
import type { Typing, View, ViewEvent } from "../../lib/interactive/view.ts";
import type { Input } from "../../lib/io/input_queue.ts";
import { Redactor } from "../../lib/text.ts";
import { VERSION } from "../../lib/version.ts";
import { blocksOf } from "../support/blocks.ts";
import { FakeClock } from "../support/clocks.ts";
import { eventsOf } from "../support/fake_gateway.ts";
import { serviceError } from "../support/service_errors.ts";
import { redacted, serviceId } from "../support/texts.ts";
import { until } from "../support/waits.ts";

/** What a test sets; a person types the inputs, or a script has the prompts. */
interface Script {
  readonly inputs?: readonly (string | Input)[];
  readonly prompts?: readonly string[];
  readonly isPiped?: boolean;
  /** Whether it is left at the end. */
  readonly isLeft?: boolean;
  /** What the service does as it creates the thread: words of {@linkcode Story.#act}. */
  readonly thread?: string;
  readonly threadId?: string;
  /** What happens before an event is shown. */
  readonly at?: Partial<
    Record<ViewEvent["type"] | "idle", (signal?: AbortSignal) => unknown>
  >;
  /** How many prompts wait. */
  readonly waiting?: number;
  /** What has become of a prompt that has not ended. */
  readonly fate?: Fate;
  /** Called when something is asked of the service. */
  readonly onAsked?: (signal?: AbortSignal) => void;
}

/**
 * A conversation whose prompts say, word by word, what the service does with them, and
 * its log: what was asked of the service and shown, in order.
 */
class Story implements View {
  readonly log: string[] = [];
  hasText = false;
  takesOutput = true;
  readonly typing: Typing | undefined;
  readonly conversation: Conversation;
  readonly #script: Script;
  readonly #inputs: (string | Input)[];

  constructor(script: Script) {
    this.#script = script;
    this.#inputs = [...script.inputs ?? []];
    const typing = {
      dropWaiting: () => script.waiting ?? 0,
      clear: () => this.hasText,
      takesOutput: () => Promise.resolve(this.takesOutput),
    };
    this.typing = script.isPiped ? undefined : typing;
    const { thread = "", fate } = script;
    const gateway: Gateway = {
      redactor: new Redactor(""),
      prepare: () => void this.log.push("prepare"),
      createThread: (options) =>
        eventsOf(this.#act(`create ${thread} thread`, options?.signal)),
      runTurn: (id, prompt, options) =>
        eventsOf(this.#act(`${id}: ${prompt}`, options?.signal), fate),
    };
    this.conversation = new Conversation({
      gateway,
      view: this,
      maskedKey: "k...y",
      baseUrl: "https://brain.example",
      threadId: script.threadId ? serviceId(script.threadId) : undefined,
      timeLimit: 7_000,
    });
  }

  /** Its end: the exit code is the last line of the log. */
  async play(): Promise<string> {
    const { prompts } = this.#script;
    const code =
      await (prompts
        ? this.conversation.runPrompts(prompts)
        : this.conversation.runInteractive());
    this.log.push(`= ${code}`);
    if (this.#script.isLeft) await this.conversation.leave();
    return this.log.slice(2).join("\n");
  }

  ctrlC(): boolean {
    return this.conversation.interrupt();
  }

  readPrompt(): Promise<Input> {
    this.log.push(">");
    const input = this.#inputs.shift();
    if (typeof input === "string") {
      return Promise.resolve({ kind: "text", text: input });
    }
    return Promise.resolve(
      input ?? this.#script.at?.idle?.() as Input ?? { kind: "end" },
    );
  }

  async show(event: ViewEvent, signal?: AbortSignal): Promise<void> {
    await this.#script.at?.[event.type]?.(signal);
    const { type, ...fields } = event;
    const values = event.type === "error"
      ? [event.message, event.failure?.fate]
      : Object.values(fields);
    const shown = values.filter((value) => value !== undefined);
    this.log.push([type, ...shown].join(" "));
  }

  // deno-lint-ignore no-explicit-any -- events of a thread and of a run
  async *#act(what: string, signal?: AbortSignal): AsyncGenerator<any> {
    this.log.push(what.trim());
    this.#script.onAsked?.(signal);
    for (const word of what.split(" ")) {
      if (word === "^C") this.log.push(`^C ${this.ctrlC()}`);
      if (word === "hang") await new Promise(() => {});
      if (word === "defect") throw new TypeError("a defect");
      const failure = FAILURES[word];
      if (failure !== undefined) throw serviceError("create run", failure);
      const event = EVENTS[word];
      if (event !== undefined) yield event;
      if (word === "^C" && !what.includes("fail")) signal?.throwIfAborted();
    }
  }
}

/** What words of a prompt make the service do. */
const EVENTS: Readonly<Record<string, object>> = {
  thread: { type: "thread", threadId: "t" },
  run: { type: "run", runId: "r" },
  step: { type: "progress", node: "n", status: "s" },
  reply: { type: "reply", text: "Hi", isNotice: false },
};
const FAILURES: Readonly<Record<string, Failure>> = {
  fail: { reason: redacted("Out"), status: 503, stage: "refused" },
  lost: { reason: redacted("Lost"), status: 502, stage: "perhaps taken" },
  gone: {
    reason: redacted("No such thread"),
    status: 404,
    stage: "refused",
    isThreadGone: true,
  },
};

const RUN = "run step reply";
const REFUSED = {
  kind: "refused",
  reason: redacted("It is not UTF-8"),
} as const;
/** What several lines of a log are, in the stories by their names. */
const PARTS: Readonly<Record<string, string>> = {
  "(start)": "begin\ncreate  thread\nend true\nthread t",
  "(ran)": `begin\nt: ${RUN}\nrun r\nprogress n s\nend true 0\nreply Hi false`,
  "(failed)": "begin\nt: fail\nend false\nerror Out. refused",
};

/** Stories: the script, and below it the log after the banner. */
const STORIES = blocksOf(`
each prompt runs on the thread, and a failure is shown (interface 1, Interactive 1 and 4; 7)
  {"inputs": ["run step reply", "fail", "run step reply"]}
  (start)
  >
  (ran)
  prepare
  >
  (failed)
  >
  (ran)
  prepare
  >
  = 0
after empty input, it asks again (interface 1, Interactive 2)
  {"inputs": ["", "    "]}
  (start)
  >
  >
  >
  = 0
a prompt is sent as it is
  {"inputs": ["  run  "]}
  (start)
  >
  begin
  t:   run
  run r
  prepare
  >
  = 0
"exit" leaves with 0, and only as a whole prompt
  {"inputs": ["exit fail", "exit", "not read"]}
  (start)
  >
  begin
  t: exit fail
  end false
  error Out. refused
  >
  = 0
"quit" leaves, too
  {"inputs": ["quit", "not read"]}
  (start)
  >
  = 0
in any case of letters
  {"inputs": [" eXit ", "not read"]}
  (start)
  >
  = 0
a refused line is shown
  {"inputs": [{"kind": "refused", "reason": "It is not UTF-8"}, "run step reply"]}
  (start)
  >
  error It is not UTF-8
  >
  (ran)
  prepare
  >
  = 0
a thread is continued
  {"threadId": "t7"}
  begin
  end true
  thread t7
  >
  = 0
without a thread, a chat does not start (interface 7)
  {"thread": "fail"}
  begin
  create fail thread
  end false
  error Out. refused
  = 1
without a thread, a script does not start
  {"thread": "fail", "prompts": ["run step reply"]}
  begin
  create fail thread
  end false
  error Out. refused
  = 1
Ctrl-C drops the creation of the thread
  {"thread": "^C"}
  begin
  create ^C thread
  ^C true
  end false
  dropped thread 0
  = 130
Ctrl-C drops a run, and the prompts that wait
  {"inputs": ["run ^C reply", "run step reply"], "waiting": 2}
  (start)
  >
  begin
  t: run ^C reply
  run r
  ^C true
  end false 0
  dropped run 2
  >
  (ran)
  prepare
  >
  = 0
Ctrl-C as a run fails does not hide the error
  {"inputs": ["^C fail"]}
  (start)
  >
  begin
  t: ^C fail
  ^C true
  end false
  error Out. refused
  >
  = 0
Ctrl-C before a prompt was taken; it has no farewell
  {"inputs": ["^C"], "fate": "not run", "isLeft": true}
  (start)
  >
  begin
  t: ^C
  ^C true
  end false
  dropped prompt 0
  >
  = 0
  farewell
Ctrl-C before an answer: the prompt may have run, and who leaves is told how to continue
  {"inputs": ["^C"], "fate": "may have run", "isLeft": true}
  (start)
  >
  begin
  t: ^C
  ^C true
  end false
  dropped unanswered prompt 0
  >
  = 0
  farewell t
Ctrl-C leaves at once where nobody types
  {"prompts": ["^C run"], "isPiped": true}
  (start)
  begin
  t: ^C run
  ^C false
  run r
  = 0
piped prompts have numbers from the second one on
  {"inputs": ["fail", "fail"], "isPiped": true}
  (start)
  >
  (failed)
  >
  begin
  t: fail
  end false
  error Prompt 2 on thread t: Out. refused
  >
  = 1
only a person gets a connection ahead; a chat without one has no farewell
  {"inputs": ["run step reply"], "isPiped": true, "isLeft": true}
  (start)
  >
  (ran)
  >
  = 0
  farewell
who leaves after a run is told how to continue
  {"inputs": ["run step reply"], "isLeft": true}
  (start)
  >
  (ran)
  prepare
  >
  = 0
  farewell t
also after a prompt that may have run
  {"inputs": ["lost"], "isLeft": true}
  (start)
  >
  begin
  t: lost
  end false
  error Lost. The run may have started, so the prompt was not retried. may have run
  >
  = 0
  farewell t
but not without a run
  {"isLeft": true}
  (start)
  >
  = 0
  farewell
nor if the thread is gone
  {"inputs": ["run", "gone"], "isLeft": true}
  (start)
  >
  begin
  t: run
  run r
  prepare
  >
  begin
  t: gone
  end false
  error No such thread. The thread may be gone: run agent-gateway without --thread to start a new one. refused
  >
  = 0
  farewell
a script ends at the first failure; exit is a prompt
  {"prompts": ["run step reply", "exit", "fail", "not run"]}
  (start)
  (ran)
  begin
  t: exit
  (failed)
  = 1
`);

for (const [what, [script = "", ...log]] of STORIES) {
  Deno.test(`Conversation: ${what}`, async () => {
    using _clock = new FakeClock();
    const story = new Story(JSON.parse(script));
    const lines = log.map((line) => PARTS[line] ?? line);
    assertEquals(await story.play(), lines.join("\n"));
    assertEquals(story.log.slice(0, 2), [
      `banner agent-gateway ${VERSION}, agent the-brain, key k...y`,
      "banner service https://brain.example",
    ]);
  });
}

Deno.test("Ctrl-C twice at an empty prompt leaves with 130, and not after a text or within a second of a drop or a reply", async () => {
  for (const isDropped of [false, true]) {
    using clock = new FakeClock();
    const story: Story = new Story({
      inputs: [RUN],
      at: {
        reply: () => isDropped && story.ctrlC(),
        idle: () => {
          for (clock.time of [999, 1_000]) assert(story.ctrlC());
          story.hasText = true;
          assert(story.ctrlC());
          story.hasText = false;
          assert(story.ctrlC());
          assert(story.ctrlC());
          return new Promise(() => {});
        },
      },
    });
    const end = "ctrl-c false\nctrl-c true\nctrl-c true\n= 130";
    const after = isDropped ? "dropped reply 0\n>" : "prepare\n>";
    assertStringIncludes(await story.play(), `${after}\n${end}`);
  }
});

/** Starts a story, and waits until an event of this type is to be shown. It never is. */
async function held(type: ViewEvent["type"], script: Script) {
  const shown = Promise.withResolvers<void>();
  const drop = Promise.withResolvers<AbortSignal | undefined>();
  const story = new Story({
    ...script,
    at: {
      [type]: (signal?: AbortSignal) => (drop.resolve(signal), shown.promise),
    },
  });
  const end = story.play();
  const signal = await drop.promise;
  return { story, end, signal, shown };
}

Deno.test("Ctrl-C leaves although the reader of a reply that was stopped does not read on", async () => {
  using clock = new FakeClock();
  const { story } = await held("reply", { inputs: [RUN] });
  assert(story.ctrlC());
  clock.time = 1_000;
  assert(story.ctrlC());
  assertFalse(story.ctrlC());
});

Deno.test("Conversation that is left ends its run, and says so once", async () => {
  using _clock = new FakeClock();
  const story = new Story({ inputs: ["run hang"] });
  void story.play();
  await until(() => story.log.includes("run r"));
  for (let i = 0; i < 2; i++) await story.conversation.leave();
  assertEquals(story.log.slice(-2), ["end false 0", "farewell t"]);
});

Deno.test("Conversation that is left while a reply is written waits for its end, and runs no further prompt", async () => {
  const prompts = [RUN, RUN];
  for (const script of [{ inputs: prompts }, { prompts, isPiped: true }]) {
    const { story, signal, shown } = await held("reply", script);
    signal?.addEventListener("abort", () => shown.resolve());
    await story.conversation.leave(60_000);
    await setImmediate();
    const lines = story.log.filter((line) =>
      /^(t:|reply|error|fare)/.test(line)
    );
    const farewell = "inputs" in script ? "farewell t" : "farewell";
    assertEquals(lines.slice(1), ["reply Hi false", farewell]);
  }
});

/** What a person does while a reply is written, and the exit code, if it leaves. */
const WAYS_OUT: readonly (readonly [
  what: string,
  act: (story: Story) => void,
  code: number,
])[] = [
  ["exit", ({ conversation }) => conversation.noteQueued(text(" Exit")), 0],
  ["Ctrl-D", ({ conversation }) => conversation.noteQueued({ kind: "end" }), 0],
  ["Ctrl-C twice", (story) => void [story.ctrlC(), story.ctrlC()], 130],
];
const text = (text: string) => ({ kind: "text", text }) as const;
for (const [what, act, code] of WAYS_OUT) {
  Deno.test(`${what} leaves with ${code} while a reply is written to a terminal that takes nothing any more, and waits for any other`, async () => {
    using _clock = new FakeClock();
    for (const takesOutput of [true, false]) {
      const { story, end } = await held("reply", { inputs: [RUN] });
      story.takesOutput = takesOutput;
      story.conversation.noteQueued(text("more"));
      act(story);
      await Promise.race([end, setImmediate()]);
      assertEquals(story.log.includes(`= ${code}`), !takesOutput);
    }
  });
}

Deno.test("Conversation that is left has no farewell if nobody reads the reply", async () => {
  using clock = new FakeClock();
  const { story } = await held("reply", { inputs: [RUN] });
  const left = story.conversation.leave(400);
  clock.passTo(400);
  await left;
  assertEquals([story.log.includes("farewell"), clock.time], [true, 400]);
});

Deno.test("Conversation ends at a defect, and when nobody reads the replies", async () => {
  await assertRejects(
    () => new Story({ inputs: ["defect"] }).play(),
    TypeError,
    "a defect",
  );
  const unread = new Story({
    inputs: [RUN],
    at: { reply: () => Promise.reject(new Deno.errors.BrokenPipe()) },
  });
  await assertRejects(() => unread.play(), Deno.errors.BrokenPipe);
  assertEquals(unread.log.filter((line) => line.startsWith("end")).length, 2);
});

Deno.test("nothing is asked of the service before the view has shown the beginning", async () => {
  const { story, end, shown } = await held("begin", {});
  await setImmediate();
  assertEquals(story.log.length, 2);
  shown.resolve();
  await end;
});

Deno.test("each prompt of a script has the time limit, the first one with the thread", async () => {
  using clock = new FakeClock();
  const over: unknown[] = [];
  const times = [[6_999], [6_999, 7_000], [13_999, 14_000]];
  const story = new Story({
    prompts: [RUN, RUN],
    onAsked: (signal) => {
      for (const time of times.shift() ?? []) {
        clock.passTo(time);
        over.push(signal?.aborted);
      }
    },
  });
  await story.play();
  assertEquals(over, [false, false, true, false, true]);
});

/** What nobody reads, the prompt, what becomes of it, and the exit code of a script. */
const UNREAD = [
  ["progress", RUN, "may go on", 5],
  ["reply", RUN, undefined, 1],
  ["error", "fail", "refused", 1],
  ["error", REFUSED, undefined, 1],
] as const;
for (const [type, input, fate, code] of UNREAD) {
  Deno.test(`a script whose ${type} nobody reads 5 s after the time limit ends with ${code} (${fate}); a chat waits`, async () => {
    for (const isPiped of [true, false]) {
      using clock = new FakeClock();
      const inputs = [input, "run"];
      const { story, end, shown } = await held(type, {
        inputs,
        isPiped,
        ...fate && { fate },
      });
      const { length } = story.log;
      clock.elapse(11_999);
      await setImmediate();
      assertEquals(story.log.length, length);
      clock.elapse(1);
      await setImmediate();
      shown.resolve();
      await end;
      const isGivenUp = story.log.some((line) => line.includes("too slowly"));
      assertEquals(isGivenUp, isPiped);
      assert(story.log.includes(`= ${isPiped ? code : 0}`));
    }
  });
}

const CTRL_C: Readonly<Record<string, string>> = {
  "announces, and leaves at a second one within 2 s":
    "0 press announce, 1999 press leave",
  "announces again after 2 s":
    "0 press announce, 2000 press announce, 3999 press leave",
  "announces again after a drop or a reply":
    "0 press announce, 100 settle, 1099 press nothing, 1100 press announce",
  "announces again after one that cleared a text":
    "0 press announce, 100 typed clear, 200 press announce",
  "drops what is running, and does nothing for a second":
    "0 press announce, 100 running drop, 1099 press nothing, 1100 press announce",
};

for (const [rule, calls] of Object.entries(CTRL_C)) {
  Deno.test(`CtrlC ${rule}`, () => {
    using clock = new FakeClock();
    const ctrlC = new CtrlC();
    for (const call of calls.split(", ")) {
      const [at, how, does] = call.split(" ");
      clock.time = Number(at);
      const did = how === "settle"
        ? ctrlC.settle()
        : ctrlC.press(how === "running", () => how === "typed");
      assertEquals<unknown>(did, does, call);
    }
  });
}
