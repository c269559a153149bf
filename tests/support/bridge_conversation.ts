import { assert, assertEquals, assertMatch } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { replyUpdate } from "../../lib/bridge/acp.ts";
import { formatMessage, readMessages } from "../../lib/bridge/json_rpc.ts";
import { Bridge } from "../../lib/bridge/methods.ts";
import { ServiceError, type StreamEvent } from "../../lib/gateway.ts";
import { LineWriter } from "../../lib/io.ts";
import { FakeGateway, type FakeRun, progressUpdate } from "./bridge_ends.ts";

const MAX_LINE_BYTES = 2000;

/** Failures of the service, and the codes of their errors. */
export const FAILURES = [
  [-32010, new ServiceError({ operation: "create thread", reason: "no" })],
  [-32603, new ServiceError({ operation: "stream run", reason: "no" })],
  [-32603, new TypeError("a defect")],
] as const;

/** Lines that are no request, and the codes of their errors, if they get any. */
export const NOISE: readonly (readonly [line: string, code?: number])[] = [
  ["not JSON", -32700],
  [" \ufeff{", -32700],
  ["[]", -32600],
  ['{"id":true,"method":"initialize"}', -32600],
  ["x".repeat(MAX_LINE_BYTES + 1), -32600],
  ['{"method":"initialize"}'],
  ['{"id":1,"result":{}}'],
  ['{"method":"$/cancel_request","params":{}}'],
];

/** The names of the first threads; the first two cannot be the ids of sessions. */
const THREADS = ["thread 1", "ü", '%s%20{}"\\$1$&', "x".repeat(200)];

/** A call of the editor. `session` and `prompt` are indices into what there was so far. */
export interface Call {
  readonly method: string;
  readonly session: number;
  readonly prompt: number;
  readonly text: string;
  readonly isNotification: boolean;
}

/** A step of a conversation. A number is an index into what is going on. */
export type Action =
  | { readonly call: Call; readonly cuts: readonly number[] }
  | { readonly noise: number }
  | { readonly thread: number; readonly failure?: number }
  | { readonly run: number; readonly node: string; readonly status: string }
  | { readonly run: number; readonly reply: string }
  | { readonly run: number; readonly failure: number }
  /** The editor begins or stops reading. */
  | { readonly reads: boolean }
  /** A number of steps of all pending work. */
  | { readonly steps: number }
  | "rest";

/** How something ends at the service. */
type Outcome = { readonly threadId?: string; readonly code?: number };

interface Thread {
  readonly created: PromiseWithResolvers<string>;
  outcome?: Outcome;
}

interface Session {
  readonly id: string;
  readonly threadId: string;
}

/** A prompt that a run has to be started for. */
interface Prompt {
  readonly id: string;
  readonly session: Session;
  readonly text: string;
  /** The cancelled prompt of the session that has to be answered first. */
  readonly after: Prompt | undefined;
  run?: FakeRun;
  /** The updates that the service has sent and the editor has not received. */
  readonly events: StreamEvent[];
  outcome?: Outcome;
  /** The outcome at the moment of the cancellation, which may cross it. */
  cancelled?: { readonly outcome: Outcome | undefined };
  isAnswered: boolean;
}

// deno-lint-ignore no-explicit-any -- what is expected of it is asserted
type Message = any;

/** An answer that has to come. */
interface Due {
  /** Whether something else has to happen before it. */
  readonly waits?: () => boolean;
  readonly accepts: (message: Message) => boolean;
  /** Called when it has come. */
  readonly then?: (message: Message) => void;
}

const failsBy = (code: number | undefined) => ({ error }: Message) =>
  error?.code === code && error?.message !== "";
const isEmpty = ({ result }: Message) => JSON.stringify(result) === "{}";

/** A writer that reports each line when it is queued. */
class WatchedWriter extends LineWriter {
  onLine: (line: string) => void = () => {};

  override write(line: string): void {
    this.onLine(line);
    super.write(line);
  }
}

const encoder = new TextEncoder();

/**
 * A bridge between an editor and a service in memory, and a model of it: each line
 * that the bridge sends, and each run that it starts, is compared with the model.
 */
export class Conversation {
  readonly #gateway = new FakeGateway();
  readonly #input = new TransformStream<Uint8Array, Uint8Array>();
  readonly #editor = this.#input.writable.getWriter();
  /** What the lines that the bridge has not read yet will mean. */
  readonly #unread: (() => void)[] = [];
  readonly #threads: Thread[] = [];
  /** The ids of all sessions so far. */
  readonly #sessionIds: string[] = [];
  readonly #open = new Map<string, Session>();
  readonly #prompts: Prompt[] = [];
  /** The answers that have to come, by their ids as JSON. */
  readonly #due = new Map<string, Due>();
  /** The codes of the errors without an id that have to come next. */
  readonly #faults: number[] = [];
  /** The ids of the messages: one for the thoughts of a run, one for its reply. */
  readonly #messageIds = new Map<string, string>();
  #lastId = 0;
  #newThreads = 0;
  #isInitialized = false;
  #queued = "";
  #written = "";
  #reads = true;
  #readsAgain = Promise.withResolvers<void>();
  #hasEnded = false;
  #violation: unknown;

  constructor() {
    this.#gateway.creating = () => {
      const created = Promise.withResolvers<string>();
      this.#threads.push({ created });
      return created.promise;
    };
    this.#gateway.onRun = (run) => this.#check(() => this.#start(run));
    // A byte order mark is dropped here, and nowhere else.
    this.#editor.write(encoder.encode("\ufeff"));
    this.#serve().catch((error) => this.#violation ??= error);
  }

  /** Performs one action. */
  async perform(action: Action): Promise<void> {
    if (action === "rest") {
      await this.#rest();
    } else if ("call" in action) {
      this.#say(action.call, action.cuts);
    } else if ("noise" in action) {
      const [line, code] = NOISE[action.noise] ?? [""];
      this.#unread.push(() => code !== undefined && this.#faults.push(code));
      this.#editor.write(encoder.encode(`${line}\n`));
    } else if ("steps" in action) {
      for (let i = 0; i < action.steps; i++) await undefined;
    } else if ("reads" in action) {
      if (action.reads) this.#readsAgain.resolve();
      else if (this.#reads) this.#readsAgain = Promise.withResolvers();
      this.#reads = action.reads;
    } else if ("thread" in action) {
      const thread = choose(this.#threads, action.thread);
      if (thread === undefined) return;
      const [code, failure] = FAILURES[action.failure ?? -1] ?? [];
      const i = this.#threads.indexOf(thread);
      const threadId = THREADS[i] ?? `thread-${i}`;
      thread.outcome = code === undefined ? { threadId } : { code };
      if (code === undefined) thread.created.resolve(threadId);
      else thread.created.reject(failure);
    } else {
      const prompt = choose(this.#prompts.filter(({ run }) => run), action.run);
      if (prompt?.run === undefined) return;
      const { events, run } = prompt;
      if ("node" in action) {
        const { node, status } = action;
        events.push({ type: "progress", node, status });
        run.progress(node, status);
      } else if ("reply" in action) {
        events.push({ type: "reply", text: action.reply });
        prompt.outcome = {};
        run.complete(action.reply);
      } else {
        const [code = 0, failure] = FAILURES[action.failure] ?? [];
        prompt.outcome = { code };
        run.fail(failure);
      }
    }
  }

  /**
   * Completes all threads and runs, lets the editor read everything, and ends
   * the input.
   */
  async end(): Promise<void> {
    await this.perform({ reads: true });
    await this.#rest();
    for (const _ of this.#threads) await this.perform({ thread: 0 });
    await this.#rest();
    for (const _ of this.#prompts) {
      await this.perform({ run: 0, reply: "End" });
      await this.#rest();
    }
    assertEquals([this.#unread, this.#faults], [[], []]);
    assertEquals(this.#due, new Map());
    assertEquals(this.#threads.length, this.#newThreads);
    this.#editor.close();
    await this.#rest();
    assert(this.#hasEnded, "the bridge goes on after the end of its input");
    assertEquals(this.#written, this.#queued);
  }

  /** Does the same as `runBridge()`. */
  async #serve(): Promise<void> {
    const decoder = new TextDecoder();
    const output = new WatchedWriter({
      write: async (chunk) => {
        if (!this.#reads) await this.#readsAgain.promise;
        this.#written += decoder.decode(chunk, { stream: true });
      },
    });
    output.onLine = (text) => {
      this.#queued += text;
      for (const line of text.split(/(?<=\n)/)) {
        this.#check(() => this.#take(line));
      }
    };
    let answering = 0;
    const bridge = new Bridge({
      gateway: this.#gateway,
      peer: {
        send: (message) => output.write(formatMessage(message)),
        sendInTurn: (lines, signal) => output.writeInTurn(lines, signal),
      },
      log: {
        answered() {
          answering++;
          queueMicrotask(() => answering--);
        },
        asked() {},
      },
    });
    const options = { maxLineBytes: MAX_LINE_BYTES };
    for await (const message of readMessages(this.#input.readable, options)) {
      // A session takes its next prompt one microtask after its answer was sent.
      while (answering > 0) await undefined;
      this.#check(() => this.#unread.shift()?.());
      bridge.receive(message);
    }
    await bridge.end();
    await output.flush();
    this.#hasEnded = true;
  }

  /** Sends a call, and remembers what it will mean when the bridge reads it. */
  #say(call: Call, cuts: readonly number[]): void {
    const { method, text, isNotification } = call;
    const sessionId =
      this.#sessionIds[call.session % this.#sessionIds.length] ??
        "none";
    const prompts = this.#prompts.filter(({ isAnswered }) => !isAnswered);
    const requestId = prompts[call.prompt % prompts.length]?.id ?? "null";
    const count = ++this.#lastId;
    const id = [`${count}`, `"${count}"`, `90071992547409${count}3`][count % 3];
    const params = `{"sessionId":${JSON.stringify(sessionId)},` +
      `"requestId":${requestId},"prompt":${JSON.stringify(text)}}`;
    const bytes = encoder.encode(
      `{${isNotification ? "" : `"id":${id},`}"method":"${method}",` +
        `"params":${params}}${count % 2 ? "\n" : "\r\n"}`,
    );
    this.#unread.push(() => {
      if (isNotification) this.#notice(method, sessionId, requestId);
      else {this.#due.set(
          `${id}`,
          this.#request(`${id}`, method, sessionId, text),
        );}
    });
    const ends = cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b);
    for (const [i, end] of [...ends, bytes.length].entries()) {
      this.#editor.write(bytes.subarray(ends[i - 1] ?? 0, end));
    }
  }

  #notice(method: string, sessionId: string, requestId: string): void {
    const isMeant = method === "session/cancel"
      ? ({ session }: Prompt) => session === this.#open.get(sessionId)
      : ({ id }: Prompt) => method === "$/cancel_request" && id === requestId;
    this.#unanswered().filter(isMeant).forEach(cancel);
  }

  /** What a request has to be answered with. */
  #request(
    id: string,
    method: string,
    sessionId: string,
    text: string,
  ): Due {
    const session = this.#open.get(sessionId);
    const running = this.#unanswered().filter((one) => one.session === session);
    switch (method) {
      case "initialize":
        this.#isInitialized = true;
        return { accepts: ({ result }) => result?.protocolVersion === 1 };
      case "agents/list":
        return { accepts: ({ result }) => result?.agents.length === 1 };
      case "session/new":
        return this.#isInitialized
          ? this.#newSession(this.#newThreads++)
          : { accepts: failsBy(-32600) };
      case "session/resume":
        if (!this.#isInitialized) return { accepts: failsBy(-32600) };
        if (session === undefined) {
          this.#opened({ id: sessionId, threadId: sessionId });
        }
        return { accepts: isEmpty };
      case "session/cancel":
        running.forEach(cancel);
        return { accepts: isEmpty };
      case "session/close":
        if (!this.#open.delete(sessionId)) return { accepts: failsBy(-32002) };
        running.forEach(cancel);
        return {
          waits: () => running.some(({ isAnswered }) => !isAnswered),
          accepts: isEmpty,
        };
      case "session/prompt": {
        if (text.trim() === "") return { accepts: failsBy(-32602) };
        if (session === undefined) return { accepts: failsBy(-32002) };
        const after = running.at(-1);
        if (after && !after.cancelled) return { accepts: failsBy(-32600) };
        const prompt: Prompt = {
          ...{ id, session, text, after },
          events: [],
          isAnswered: false,
        };
        this.#prompts.push(prompt);
        return {
          waits: () =>
            !prompt.outcome && !prompt.cancelled ||
            after?.isAnswered === false,
          accepts: (message) => mayEnd(prompt, message),
          then: () => prompt.isAnswered = true,
        };
      }
      default:
        return { accepts: failsBy(-32601) };
    }
  }

  /** @param index The index of the session's thread. */
  #newSession(index: number): Due {
    const outcome = () => this.#threads[index]?.outcome;
    return {
      waits: () => outcome() === undefined,
      accepts: (message) => {
        const { threadId = "", code } = outcome() ?? {};
        if (code !== undefined) return failsBy(code)(message);
        const sessionId = message.result?.sessionId;
        return /[^!-~]/.test(threadId)
          ? /^[0-9a-f-]{36}$/.test(sessionId)
          : sessionId === threadId;
      },
      then: ({ result }) => {
        const { threadId } = outcome() ?? {};
        if (threadId === undefined) return;
        this.#opened({ id: result.sessionId, threadId });
      },
    };
  }

  #opened(session: Session): void {
    this.#open.set(session.id, session);
    this.#sessionIds.push(session.id);
  }

  /** The bridge starts a run. */
  #start(run: FakeRun): void {
    const { prompt, threadId, options: { sessionId } } = run;
    const started = this.#startable().find(({ session }) =>
      session.id === sessionId
    );
    assert(started, "no run was due");
    assertEquals([threadId, prompt], [started.session.threadId, started.text]);
    started.run = run;
  }

  /** The bridge sends a line. */
  #take(line: string): void {
    assertMatch(line, /^[^\n]+\n$/);
    const message = JSON.parse(line);
    if (message.method === "session/update") {
      return this.#update(message.params);
    }
    const id = /^{"jsonrpc":"2.0","id":("?\d+"?),/.exec(line)?.[1];
    if (id === undefined) {
      assertEquals([message.id, message.error?.code], [
        null,
        this.#faults.shift(),
      ]);
      return;
    }
    const due = this.#due.get(id);
    assert(due && !due.waits?.() && due.accepts(message), line);
    this.#due.delete(id);
    due.then?.(message);
  }

  #update(params: Message): void {
    const prompt = this.#unanswered().find(({ session, run, cancelled }) =>
      session.id === params.sessionId && run && !cancelled
    );
    const event = prompt?.events.shift();
    assert(prompt && event, "the service has sent no such event");
    const { messageId } = params.update;
    const target = { sessionId: prompt.session.id, messageId };
    const expected = event.type === "progress"
      ? progressUpdate(target, event)
      : replyUpdate(target, event.text);
    assertEquals({ method: "session/update", params }, expected);
    const message = `${event.type} of ${prompt.id}`;
    assertEquals(this.#messageIds.get(message) ?? messageId, messageId);
    this.#messageIds.set(message, messageId);
    const distinct = new Set(this.#messageIds.values());
    assertEquals(distinct.size, this.#messageIds.size);
  }

  /** Waits until no work is pending. In memory this takes no time. */
  async #rest(): Promise<void> {
    await setImmediate();
    if (this.#violation !== undefined) throw this.#violation;
    if (!this.#reads) return;
    const due = [...this.#due].filter(([, { waits }]) => !waits?.());
    const unsent = this.#unanswered().filter(({ cancelled, events }) =>
      !cancelled && events.length > 0
    );
    assertEquals([due, unsent, this.#startable()], [[], [], []]);
  }

  #unanswered(): readonly Prompt[] {
    return this.#prompts.filter(({ isAnswered }) => !isAnswered);
  }

  /** The prompts whose runs the bridge has to start. */
  #startable(): readonly Prompt[] {
    return this.#unanswered().filter(({ after, cancelled, run }) =>
      !run && !cancelled && after?.isAnswered !== false
    );
  }

  /** Records a violation: thrown inside the bridge, it would look like a failed request. */
  #check(assertion: () => void): void {
    try {
      assertion();
    } catch (error) {
      this.#violation ??= error;
    }
  }
}

function cancel(prompt: Prompt): void {
  prompt.cancelled ??= { outcome: prompt.outcome };
}

/** Whether a prompt's answer fits the outcome of its run. */
function mayEnd(
  { cancelled, events, outcome }: Prompt,
  message: Message,
): boolean {
  const stopReason = message.result?.stopReason;
  if (cancelled && stopReason === "cancelled") return true;
  const end = cancelled ? cancelled.outcome : outcome;
  if (end?.code !== undefined) return failsBy(end.code)(message);
  return end !== undefined && stopReason === "end_turn" && events.length === 0;
}

/** One of the threads or runs that have not ended. */
function choose<T extends { readonly outcome?: unknown }>(
  all: readonly T[],
  number: number,
): T | undefined {
  const open = all.filter(({ outcome }) => outcome === undefined);
  return open[number % open.length];
}
