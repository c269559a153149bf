import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "../../support/generated.ts";
import { times } from "../../support/repetitions.ts";
import type { FakeRun } from "../../support/fake_gateway.ts";
import { isUpdate, MemoryEditor, type Message } from "../../support/editor.ts";

/** Lines that are no request, and the codes of their errors, if they get any. */
const NOISE: readonly (readonly [line: string, code?: number])[] = [
  ...[["not JSON", -32700], ["[]", -32600]] as const,
  ['{"id":true,"method":"initialize"}', -32600],
  ...[['{"method":"initialize"}'], ['{"id":1,"result":{}}']] as const,
];

const few = fc.nat(3);
const text = fc.oneof(
  { arbitrary: fc.constantFrom("", "é日👩‍💻", "\u2028", "\ud800"), weight: 6 },
  { arbitrary: fc.string({ unit: "binary", maxLength: 10 }), weight: 6 },
  { arbitrary: fc.constant("x".repeat(70_000)), weight: 1 },
);
const METHODS: Readonly<Record<string, number>> = {
  ...{ "initialize": 1, "agents/list": 1, "session/new": 2, "nope": 1 },
  ...{ "session/prompt": 10, "session/cancel": 4, "session/close": 2 },
  ...{ "session/resume": 2, "session/load": 2, "$/cancel_request": 3 },
};
const call = fc.record({
  method: fc.oneof(
    ...Object.entries(METHODS).map(([method, weight]) => ({
      arbitrary: fc.constant(method),
      weight,
    })),
  ),
  /** The session and the prompt that it names: an index into those so far. */
  session: few,
  prompt: few,
  text,
});
const action = fc.oneof(
  { arbitrary: fc.record({ call }), weight: 12 },
  { arbitrary: fc.record({ notification: call }), weight: 4 },
  { arbitrary: fc.record({ noise: fc.nat(NOISE.length - 1) }), weight: 2 },
  { arbitrary: fc.constant({ rests: true }), weight: 6 },
  { arbitrary: fc.record({ steps: fc.nat(30) }), weight: 4 },
  { arbitrary: fc.record({ run: few, progress: text }), weight: 6 },
  { arbitrary: fc.record({ run: few, reply: text }), weight: 3 },
  { arbitrary: fc.record({ run: few, fails: fc.constant(true) }), weight: 1 },
  { arbitrary: fc.record({ thread: few, works: fc.boolean() }), weight: 5 },
  { arbitrary: fc.record({ reads: fc.boolean() }), weight: 2 },
);
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

interface Prompt {
  readonly sessionId: string;
  readonly threadId: string | undefined;
  /** Begins everything that it and its run send. */
  readonly label: string;
  readonly text: string;
  /** Whether another prompt may be running in the session. */
  readonly mayBeRefused: boolean;
  /** The texts that its run has sent, and how many of them have arrived. */
  readonly sent: string[];
  received: number;
  end: "reply" | "failure" | undefined;
  wasCancelled: boolean;
}

/** The session and the prompt that a call names. */
interface Named {
  readonly sessionId: string;
  readonly requestId: number;
}

/** Fails if a response is not the one that is expected. */
type Expectation = (response: Message) => void;

const isEmpty: Expectation = ({ result }) => assertEquals(result, {});
const failsWith = (code: number): Expectation => ({ error }) =>
  assertEquals(error?.code, code);

/** The names of the first threads; the first two cannot be the ids of sessions. */
const THREADS = ["thread 1", "ü", '%s%20{}"\\$1$&', "x".repeat(200)];
const threadName = (index: number) => THREADS[index] ?? `thread-${index}`;

function nth<T>(all: readonly T[], number: number): T | undefined {
  return all[number % all.length];
}

/** Plays the editor and the service, and knows what has to come of it. */
class Conversation {
  readonly #editor = new MemoryEditor();
  /** The threads that were asked for; `undefined` once they have been answered. */
  readonly #threads: (PromiseWithResolvers<string> | undefined)[] = [];
  readonly #threadIds = new Map<string, string>(); // by session
  readonly #open = new Set<string>();
  readonly #prompts = new Map<number, Prompt>(); // by the ids of their requests
  /** The expected responses to requests without one, by the requests' ids. */
  readonly #due = new Map<unknown, Expectation>();
  /** The sessions of the loads that were not answered, by their requests. */
  readonly #loading = new Map<unknown, string>();
  /** The codes of the errors without an id that have to come. */
  readonly #faults: number[] = [];
  readonly #messageIds = new Map<string, string>();
  #isInitialized = false;
  #newSessions = 0;
  #seen = 0;

  constructor() {
    this.#editor.gateway.creating = () => {
      const created = Promise.withResolvers<string>();
      this.#threads.push(created);
      return created.promise;
    };
  }

  async perform(action: Action): Promise<void> {
    if ("call" in action) await this.#call(action.call);
    else if ("notification" in action) {
      const { method } = action.notification;
      const params = this.#params(action.notification);
      if (method.includes("cancel")) this.#cancel(method, params);
      await this.#editor.notify(method, params);
    } else if ("noise" in action) {
      const [line = "", code] = NOISE[action.noise] ?? [];
      if (code !== undefined) this.#faults.push(code);
      await this.#editor.sendLine(line);
    } else if ("steps" in action) {
      for (let i = 0; i < action.steps; i++) await undefined;
    } else if ("reads" in action) {
      if (action.reads) this.#editor.resume();
      else this.#editor.pause();
    } else if ("thread" in action) {
      const index = action.thread % this.#threads.length;
      if (action.works) this.#threads[index]?.resolve(threadName(index));
      else this.#threads[index]?.reject(new Error("no"));
      if (index in this.#threads) this.#threads[index] = undefined;
    } else if ("run" in action) {
      const [run, prompt] = nth(this.#running(), action.run) ?? [];
      if (run === undefined || prompt === undefined) return;
      if ("fails" in action) {
        prompt.end = "failure";
        run.fail(new Error("no"));
      } else if ("reply" in action) {
        prompt.end = "reply";
        prompt.sent.push(prompt.label + action.reply);
        run.complete(prompt.label + action.reply);
      } else {
        prompt.sent.push(`${prompt.label}: ${action.progress}  \n`);
        run.progress(prompt.label, action.progress);
      }
    } else {
      await this.#editor.rest();
      this.#running();
      this.#look();
    }
  }

  /** Lets everything end. */
  async end(): Promise<void> {
    this.#editor.resume();
    for (let i = 0; i < 100 && this.#due.size > 0; i++) {
      await this.perform({ rests: true });
      await this.perform({ thread: i, works: true });
      await this.perform({ run: i, reply: "End" });
    }
    await this.#editor.finish();
    this.#look();
    assertEquals([[...this.#due.keys()], this.#faults], [[], []]);
  }

  async #call(call: Call): Promise<void> {
    const { method } = call;
    const label = `#${this.#prompts.size} `;
    const text = label + call.text;
    const params = this.#params(call);
    const { sessionId } = params;
    const isOpen = this.#open.has(sessionId);
    let expectation = failsWith(-32601);
    let prompt: Prompt | undefined;
    switch (method) {
      case "initialize":
        this.#isInitialized = true;
        expectation = ({ result }) => assertEquals(result.protocolVersion, 1);
        break;
      case "agents/list":
        expectation = ({ result }) => assertEquals(result.agents.length, 1);
        break;
      case "session/new":
        expectation = this.#isInitialized
          ? this.#opens(this.#newSessions++)
          : failsWith(-32600);
        break;
      case "session/load":
      case "session/resume":
        expectation = this.#isInitialized ? isEmpty : failsWith(-32600);
        if (!this.#isInitialized) break;
        this.#open.add(sessionId);
        if (!this.#threadIds.has(sessionId)) {
          this.#threadIds.set(sessionId, sessionId);
        }
        break;
      case "session/cancel":
        this.#cancel(method, params);
        expectation = isEmpty;
        break;
      case "session/close":
        this.#cancel(method, params);
        this.#open.delete(sessionId);
        expectation = isEmpty;
        break;
      case "session/prompt":
        expectation = failsWith(-32002);
        if (!isOpen) break;
        prompt = {
          ...{ sessionId, label, text, sent: [], received: 0 },
          ...{ end: undefined, wasCancelled: false },
          threadId: this.#threadIds.get(sessionId),
          mayBeRefused: this.#unanswered().some(([, other]) =>
            other.sessionId === sessionId && !other.wasCancelled
          ),
        };
        expectation = answers(prompt);
        break;
    }
    const id = await this.#editor.send(method, { ...params, prompt: text });
    if (prompt !== undefined) this.#prompts.set(id, prompt);
    this.#due.set(id, expectation);
    if (method === "session/load") this.#loading.set(id, sessionId);
  }

  /** @param index The index of the thread that the session is opened on. */
  #opens(index: number): Expectation {
    return ({ result, error }) => {
      if (error !== undefined) return assertEquals(error.code, -32010);
      const { sessionId } = result;
      const threadId = threadName(index);
      if (/[^!-~]/.test(threadId)) assertMatch(sessionId, /^[0-9a-f-]{36}$/);
      else assertEquals(sessionId, threadId);
      this.#threadIds.set(sessionId, threadId);
      this.#open.add(sessionId);
    };
  }

  /** The session and the prompt that a call names. */
  #params({ session, prompt }: Call): Named {
    const sessionId = nth([...this.#threadIds.keys()], session) ?? "none";
    const [requestId = -1] = nth(this.#unanswered(), prompt) ?? [];
    return { sessionId, requestId };
  }

  #unanswered(): (readonly [id: number, Prompt])[] {
    return [...this.#prompts].filter(([id]) => this.#due.has(id));
  }

  /** Notes which prompts a message cancels, if they still run when it is read. */
  #cancel(
    method: string,
    { sessionId, requestId }: Named,
  ): void {
    for (const [id, prompt] of this.#unanswered()) {
      prompt.wasCancelled ||= method === "$/cancel_request"
        ? id === requestId
        : prompt.sessionId === sessionId && this.#open.has(sessionId);
    }
  }

  /** The runs that go on, with their prompts. */
  #running(): (readonly [FakeRun, Prompt])[] {
    const running: (readonly [FakeRun, Prompt])[] = [];
    for (const run of this.#editor.gateway.runs) {
      const prompt = this.#prompts.values().find(({ text }) =>
        text === run.prompt
      );
      assert(prompt, "a run of no prompt");
      assertEquals(run.options.sessionId, prompt.sessionId);
      assertEquals(run.threadId, prompt.threadId);
      if (run.options.signal?.aborted) assert(prompt.wasCancelled);
      else if (prompt.end === undefined) running.push([run, prompt]);
    }
    const sessions = new Set(running.map(([, { sessionId }]) => sessionId));
    assertEquals(sessions.size, running.length, "two runs at once");
    return running;
  }

  /** Looks at the messages that have arrived. */
  #look(): void {
    const messages = this.#editor.messages.slice(this.#seen);
    this.#seen += messages.length;
    for (const message of messages) {
      if (isUpdate(message)) this.#update(message);
      else if (message.id === null && "error" in message) {
        assertEquals(message.error?.code, this.#faults.shift());
      } else {
        const expectation = this.#due.get(message.id);
        assert(expectation && !("method" in message));
        expectation(message);
        this.#due.delete(message.id);
        this.#loading.delete(message.id);
      }
    }
  }

  #update({ params: { sessionId, update } }: Message): void {
    const { text } = update.content;
    const [id, prompt] =
      this.#prompts.entries().find(([, { label }]) => text.startsWith(label)) ??
        [];
    const isLive = update.sessionUpdate !== "user_message_chunk" &&
      prompt?.sent[prompt.received] === text && this.#due.has(id);
    if (prompt !== undefined && isLive) {
      prompt.received++;
    } else {
      assert(this.#loading.values().some((loading) => loading === sessionId));
      if (prompt === undefined) return assertMatch(text, /^Earlier messages /);
      assert(text === prompt.text || prompt.sent.includes(text));
    }
    assertEquals(sessionId, prompt.sessionId);
    const key = `${update.sessionUpdate} ${prompt.label}`;
    const known = this.#messageIds.get(key) ?? update.messageId;
    assertEquals(update.messageId, known);
    this.#messageIds.set(key, known);
    const distinct = new Set(this.#messageIds.values());
    assertEquals(distinct.size, this.#messageIds.size);
  }
}

function answers(prompt: Prompt): Expectation {
  return ({ result, error }) => {
    const { mayBeRefused, wasCancelled, end, received, sent } = prompt;
    switch (result?.stopReason ?? error?.code) {
      case "end_turn":
        assertEquals([end, received], ["reply", sent.length]);
        break;
      case "cancelled":
        assert(wasCancelled);
        break;
      case -32603:
        assertEquals(end, "failure");
        break;
      case -32600:
        assert(mayBeRefused);
        assertEquals(received, 0);
        break;
      default:
        throw new Error(`a prompt got ${JSON.stringify(result ?? error)}`);
    }
  };
}

const ask = (method: string): Action => ({
  call: { method, session: 0, prompt: 0, text: "" },
});
const START: readonly Action[] = [
  ask("initialize"),
  ...Array(3).fill(ask("session/new")),
  { rests: true },
  ...[0, 1, 2].map((thread) => ({ thread, works: true })),
  { rests: true },
];
const conversation = fc.tuple(
  fc.oneof({ arbitrary: fc.constant(START), weight: 5 }, fc.constant([])),
  fc.array(action, { minLength: 1, maxLength: 40, size: "max" }),
).map(([start, actions]) => [...start, ...actions]);

Deno.test("a bridge keeps its promises in generated conversations (interface 3, 4.2, 6 and 7)", async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async (actions) => {
      const conversation = new Conversation();
      for (const action of actions) await conversation.perform(action);
      await conversation.end();
    }),
    { numRuns: times(10_000) },
  );
});
