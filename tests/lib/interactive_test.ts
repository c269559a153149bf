import {
  assert,
  assertEquals,
  assertFalse,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { setImmediate } from "node:timers/promises";
import type { Fate, Gateway } from "../../lib/gateway.ts";
import { Conversation } from "../../lib/interactive/conversation.ts";
import { CtrlC } from "../../lib/interactive/ctrl_c.ts";
import type { Typing, View, ViewEvent } from "../../lib/interactive/view.ts";
import type { Input } from "../../lib/io/input_queue.ts";
import { Redactor } from "../../lib/text.ts";
import { VERSION } from "../../lib/version.ts";
import { FakeClock } from "../support/clocks.ts";
import { eventsOf } from "../support/fake_gateway.ts";
import { serviceError } from "../support/service_errors.ts";
import { serviceId } from "../support/texts.ts";
import { until } from "../support/waits.ts";
import { redacted } from "../support/texts.ts";

/** What a test sets; a person types the inputs, or a script has the prompts. */
interface Script {
  readonly inputs?: readonly (string | Input)[];
  readonly prompts?: readonly string[];
  readonly isPiped?: boolean;
  /** What the service does as it creates the thread: words of {@linkcode Story.#act}. */
  readonly thread?: string;
  readonly threadId?: string;
  /** What happens before an event is shown. */
  readonly at?: Partial<
    Record<ViewEvent["type"] | "idle", (signal?: AbortSignal) => unknown>
  >;
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
  time = 0;
  waiting = 0;
  hasText = false;
  takesOutput = true;
  prepared = 0;
  readonly typing: Typing | undefined;
  readonly conversation: Conversation;
  readonly #script: Script;
  readonly #inputs: (string | Input)[];

  constructor(script: Script) {
    this.#script = script;
    this.#inputs = [...script.inputs ?? []];
    const typing = {
      dropWaiting: () => this.waiting,
      clear: () => this.hasText,
      takesOutput: () => Promise.resolve(this.takesOutput),
    };
    this.typing = script.isPiped ? undefined : typing;
    const { threadId, thread = "", fate } = script;
    const gateway: Gateway = {
      redactor: new Redactor(""),
      prepare: () => void this.prepared++,
      createThread: (options) =>
        eventsOf(this.#act(`create ${thread} thread`, options?.signal)),
      runTurn: (id, prompt, options) =>
        eventsOf(this.#act(`${id}: ${prompt}`, options?.signal), fate),
    };
    const [maskedKey, baseUrl] = ["k...y", "https://brain.example"];
    const now = () => this.time;
    this.conversation = new Conversation({
      gateway,
      view: this,
      maskedKey,
      baseUrl,
      threadId: threadId === undefined ? undefined : serviceId(threadId),
      timeLimit: 7_000,
      now,
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
      else if (word === "hang") await new Promise(() => {});
      else if (word === "defect") throw new TypeError("a defect");
      else if (word === "fail") {
        throw serviceError("create run", {
          reason: redacted("Out"),
          status: 503,
          stage: "refused",
        });
      } else if (word === "gone") {
        const status = 404;
        throw serviceError("create run", {
          reason: redacted("No such thread"),
          ...{ status, stage: "refused", threadGone: "certain" },
        });
      } else if (word === "thread") yield { type: "thread", threadId: "t" };
      else if (word === "run") yield { type: "run", runId: "r" };
      else if (word === "step") {
        yield { type: "progress", node: "n", status: "s" };
      } else if (word === "reply") {
        yield { type: "reply", text: "Hi", isNotice: false };
      }
      if (word === "^C" && !what.includes("fail")) signal?.throwIfAborted();
    }
  }
}

const RUN = "run step reply";
const REFUSED = {
  kind: "refused",
  reason: redacted("It is not UTF-8"),
} as const;
const START = "begin\ncreate  thread\nend true\nthread t";
const ran = (prompt = RUN) =>
  `begin\nt: ${prompt}\nrun r\nprogress n s\nend true 0\nreply Hi false`;
const FAILED = "begin\nt: fail\nend false\nerror Out. refused";

/** A story, and its log after the banner. */
const STORIES: Readonly<Record<string, readonly [Script, log: string]>> = {
  "each prompt runs on the thread, and a failure is shown (interface 1, Interactive 1 and 4; 7)":
    [
      { inputs: [RUN, "fail", "  run step reply "] },
      `${START}\n>\n${ran()}\n>\n${FAILED}\n>\n${
        ran("  run step reply")
      }\n>\n= 0`,
    ],
  "after empty input, it asks again (interface 1, Interactive 2)": [{
    inputs: ["", "  \t"],
  }, `${START}\n>\n>\n>\n= 0`],
  "a refused line is shown": [
    { inputs: [REFUSED, RUN] },
    `${START}\n>\nerror It is not UTF-8\n>\n${ran()}\n>\n= 0`,
  ],
  "a thread is continued": [
    { threadId: "t7" },
    "begin\nend true\nthread t7\n>\n= 0",
  ],
  ...Object.fromEntries(
    ["exit", "quit", "EXIT", " eXit "].map((
      word,
    ) => [`"${word}" leaves with 0`, [
      { inputs: ["exit fail", word, "not read"] },
      `${START}\n>\n${FAILED.replace("fail", "exit fail")}\n>\n= 0`,
    ]]),
  ),
  "without a thread, a chat does not start (interface 7)": [
    { thread: "fail" },
    "begin\ncreate fail thread\nend false\nerror Out. refused\n= 1",
  ],
  "without a thread, a script does not start": [{
    thread: "fail",
    prompts: [RUN],
  }, "begin\ncreate fail thread\nend false\nerror Out. refused\n= 1"],
  "Ctrl-C drops the creation of the thread": [
    { thread: "^C" },
    "begin\ncreate ^C thread\n^C true\nend false\ndropped thread 0\n= 130",
  ],
  "Ctrl-C drops a run": [
    { inputs: ["run ^C reply", RUN] },
    `${START}\n>\nbegin\nt: run ^C reply\nrun r\n^C true\nend false 0\ndropped run 0\n>\n${ran()}\n>\n= 0`,
  ],
  "Ctrl-C as a run fails does not hide the error": [
    { inputs: ["^C fail"] },
    `${START}\n>\nbegin\nt: ^C fail\n^C true\nend false\nerror Out. refused\n>\n= 0`,
  ],
  "Ctrl-C before a prompt was sent": [
    { inputs: ["^C"], fate: "not run" },
    `${START}\n>\nbegin\nt: ^C\n^C true\nend false\ndropped prompt 0\n>\n= 0`,
  ],
  "Ctrl-C leaves at once where nobody types": [
    { prompts: ["^C run step reply"], isPiped: true },
    `${START}\nbegin\nt: ^C run step reply\n^C false\nrun r\nprogress n s\nend true 0\nreply Hi false\n= 0`,
  ],
  "piped prompts have numbers from the second one on": [
    { inputs: ["fail", "fail"], isPiped: true },
    `${START}\n>\n${FAILED}\n>\nbegin\nt: fail\nend false\nerror Prompt 2 on thread t: Out. refused\n>\n= 1`,
  ],
  "a script ends at the first failure; exit is a prompt": [
    { prompts: [RUN, "exit", "fail", "not run"] },
    `${START}\n${ran()}\nbegin\nt: exit\nbegin\nt: fail\nend false\nerror Out. refused\n= 1`,
  ],
};

for (const [what, [script, log]] of Object.entries(STORIES)) {
  Deno.test(`Conversation: ${what}`, async () => {
    const story = new Story(script);
    assertEquals(await story.play(), log);
    assertEquals(story.log.slice(0, 2), [
      `banner agent-gateway ${VERSION}, agent the-brain, key k...y`,
      "banner service https://brain.example",
    ]);
  });
}

Deno.test("Conversation opens a connection after each reply to a person, and none after a failure or for a pipe", async () => {
  for (const [isPiped, prepared] of [[false, 2], [true, 0]] as const) {
    const story = new Story({ inputs: [RUN, "fail", RUN], isPiped });
    await story.play();
    assertEquals(story.prepared, prepared);
  }
});

Deno.test("Ctrl-C drops the prompts that wait", async () => {
  const story = new Story({ inputs: ["^C"] });
  story.waiting = 2;
  await story.play();
  assert(story.log.includes("dropped run 2"));
});

Deno.test("Ctrl-C twice at an empty prompt leaves with 130, and not after a text or within a second of a drop or a reply", async () => {
  for (
    const [reply, prompt] of [["ctrl-c false", RUN], [
      "dropped reply 0\n>\nctrl-c false",
      "drop",
    ]]
  ) {
    const story: Story = new Story({
      inputs: [RUN],
      at: {
        reply: () => prompt === "drop" && story.ctrlC(),
        idle: () => {
          for (story.time of [999, 1_000]) assert(story.ctrlC());
          story.hasText = true;
          assert(story.ctrlC());
          story.hasText = false;
          assert(story.ctrlC());
          assert(story.ctrlC());
          return new Promise(() => {});
        },
      },
    });
    assertStringIncludes(
      await story.play(),
      `${reply}\nctrl-c true\nctrl-c true\n= 130`,
    );
  }
});

/** Starts a story, and waits until an event of this type is to be shown. It never is. */
async function held(type: ViewEvent["type"], script: Script) {
  const [shown, drop] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<AbortSignal | undefined>(),
  ];
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
  const { story } = await held("reply", { inputs: [RUN] });
  assert(story.ctrlC());
  story.time = 1_000;
  assert(story.ctrlC());
  assertFalse(story.ctrlC());
});

Deno.test("Conversation that is left ends its run, and tells once how to go on, to a person, only after a run, and not if the thread is gone", async () => {
  const running = new Story({ inputs: ["run hang"] });
  void running.play();
  await until(() => running.log.includes("run r"));
  await running.conversation.leave();
  await running.conversation.leave();
  assertEquals(running.log.slice(-2), ["end false 0", "farewell t"]);
  const scripts: (readonly [Script, farewell: string])[] = [
    [{}, "farewell"],
    [{ prompts: [RUN], isPiped: true }, "farewell"],
    [{ inputs: [RUN] }, "farewell t"],
    [{ inputs: [RUN, "gone"] }, "farewell"],
  ];
  for (const [script, farewell] of scripts) {
    const story = new Story(script);
    await story.play();
    await story.conversation.leave();
    assertEquals(story.log.at(-1), farewell);
  }
});

Deno.test("Conversation that is left while a reply is written waits for its end, and runs no further prompt", async () => {
  for (
    const script of [{ inputs: [RUN, RUN] }, {
      prompts: [RUN, RUN],
      isPiped: true,
    }]
  ) {
    const { story, signal, shown } = await held("reply", script);
    signal?.addEventListener("abort", () => shown.resolve());
    await story.conversation.leave(60_000);
    await setImmediate();
    const lines = story.log.filter((line) =>
      /^(t:|reply|error|farewell)/.test(line)
    );
    assertEquals(lines.slice(1), [
      "reply Hi false",
      "inputs" in script ? "farewell t" : "farewell",
    ]);
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
      const isGivenUp = story.log.some((line) =>
        line.includes("nothing reads")
      );
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
    let time = 0;
    const ctrlC = new CtrlC(() => time);
    for (const call of calls.split(", ")) {
      const [at, how, does] = call.split(" ");
      time = Number(at);
      const did = how === "settle"
        ? ctrlC.settle()
        : ctrlC.press(how === "running", () => how === "typed");
      assertEquals<unknown>(did, does, call);
    }
  });
}
