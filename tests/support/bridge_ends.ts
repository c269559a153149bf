import { assert } from "@std/assert";
import type { UpdateTarget } from "../../lib/bridge/acp.ts";
import { Bridge, type Peer } from "../../lib/bridge/methods.ts";
import type {
  CreationEvent,
  Gateway,
  ProgressEvent,
  StreamEvent,
  TurnEvent,
  TurnOptions,
} from "../../lib/gateway.ts";
import type {
  Incoming,
  Outgoing,
  RequestId,
} from "../../lib/bridge/json_rpc.ts";

/** A service in memory: threads at once, runs that a test drives by hand. */
export class FakeGateway implements Gateway {
  /** Every run so far, in the order of their start. */
  readonly runs: FakeRun[] = [];
  /** How many threads were created: they are called `thread-1`, `thread-2`. */
  threads = 0;
  /** Replaces `createThread()` for the next threads. */
  creating: (() => Promise<string>) | undefined;
  /** Called with each run that is started. */
  onRun: ((run: FakeRun) => void) | undefined;

  async *createThread(): AsyncGenerator<readonly CreationEvent[]> {
    const name = `thread-${++this.threads}`;
    const threadId = await this.creating?.() ?? name;
    yield [{ type: "thread", threadId }];
  }

  async *runTurn(
    threadId: string,
    prompt: string,
    options: TurnOptions = {},
  ): AsyncGenerator<readonly TurnEvent[]> {
    const run = new FakeRun(threadId, prompt, options);
    this.runs.push(run);
    this.onRun?.(run);
    yield [{ type: "run", runId: `run-${this.runs.length}` }];
    for await (const event of run.events) yield [event];
  }

  /** The last run that was started. */
  get run(): FakeRun {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error("No run was started");
    return run;
  }
}

/** A run: the arguments that started it, and its events, which a test sends. */
export class FakeRun {
  readonly threadId: string;
  readonly prompt: string;
  readonly options: TurnOptions;
  readonly events: ReadableStream<StreamEvent>;
  readonly #events: WritableStreamDefaultWriter<StreamEvent>;

  constructor(threadId: string, prompt: string, options: TurnOptions) {
    this.threadId = threadId;
    this.prompt = prompt;
    this.options = options;
    const { readable, writable } = new TransformStream<
      StreamEvent,
      StreamEvent
    >();
    this.events = readable;
    this.#events = writable.getWriter();
    const { signal } = options;
    signal?.addEventListener("abort", () => this.fail(signal.reason));
  }

  progress(node: string, status: string): void {
    this.#put({ type: "progress", node, status });
  }

  complete(reply: string): void {
    this.#put({ type: "reply", text: reply });
    this.#events.close().catch(() => {}); // The run was dropped.
  }

  fail(error: unknown): void {
    this.#events.abort(error).catch(() => {}); // The run is over.
  }

  #put(event: StreamEvent): void {
    this.#events.write(event).catch(() => {}); // The run was dropped.
  }
}

/** An editor in memory, which keeps the messages that it gets. */
export class FakePeer implements Peer {
  readonly sent: Outgoing[] = [];
  #arrival = Promise.withResolvers<void>();

  send(message: Outgoing): void {
    this.sent.push(message);
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  }

  sendInTurn(lines: Iterable<string>, signal: AbortSignal): Promise<void> {
    for (const line of [...lines].join("").split("\n").slice(0, -1)) {
      const { jsonrpc: _, ...message } = JSON.parse(line);
      if (!signal.aborted) this.send(message);
    }
    return Promise.resolve();
  }

  /** What was sent, in short: the ids of answers, and the texts of updates. */
  get order(): readonly unknown[] {
    return this.sent.map((message) =>
      "id" in message ? message.id : updateOf(message).content.text
    );
  }

  /** The errors that were sent, by the ids of their requests: code and message. */
  get errors(): ReadonlyMap<RequestId, string> {
    return new Map(this.sent.flatMap((message) => {
      if (!("error" in message)) return [];
      const { code, message: words } = message.error;
      return [[message.id, `${code} ${words}`]];
    }));
  }

  /** Resolves when `count` messages have been sent. */
  async count(count: number): Promise<void> {
    while (this.sent.length < count) await this.#arrival.promise;
  }
}

/** A request as the bridge receives it. */
export function request(
  id: RequestId,
  method: string,
  params?: unknown,
): Incoming {
  return { kind: "request", id, method, params };
}

/** A notification as the bridge receives it. */
export function notification(method: string, params?: unknown): Incoming {
  return { kind: "notification", method, params };
}

/** A `session/prompt` as the bridge receives it. */
export function prompt(
  id: RequestId,
  sessionId: string,
  text: string,
): Incoming {
  return request(id, "session/prompt", { sessionId, prompt: text });
}

/** A response as the bridge receives it. */
export function response(
  id: unknown,
  result: unknown,
  error?: unknown,
): Incoming {
  return { kind: "response", id, result, error };
}

/** A bridge between a gateway and an editor in memory. */
export interface Ends {
  readonly gateway: FakeGateway;
  readonly peer: FakePeer;
  readonly bridge: Bridge;
}

/** Creates a bridge between a gateway and an editor in memory. */
export function createBridge(): Ends {
  const gateway = new FakeGateway();
  const peer = new FakePeer();
  return { gateway, peer, bridge: new Bridge({ gateway, peer }) };
}

/**
 * A bridge with sessions on `thread-1`, `thread-2` and so on; nothing is sent yet.
 *
 * @param params The params of `initialize`.
 */
export async function createSessions(
  count: number,
  params?: unknown,
): Promise<Ends & { readonly first: string; readonly second: string }> {
  const ends = createBridge();
  ends.bridge.receive(request(0, "initialize", params));
  for (let i = 0; i < count; i++) {
    ends.bridge.receive(request(i, "session/new"));
  }
  await ends.bridge.idle();
  const [first = "", second = ""] = ends.peer.sent.splice(0).slice(1)
    .map(sessionIdIn);
  return { ...ends, first, second };
}

/** The id of the session that an answer to `session/new` opens. */
export function sessionIdIn(message: Outgoing | undefined): string {
  assert(message !== undefined && "result" in message);
  return (message.result as { readonly sessionId: string }).sessionId;
}

/** The `update` of a notification. */
export function updateOf(
  message: Outgoing | undefined,
): { readonly messageId: string; readonly content: { readonly text: string } } {
  assert(message !== undefined && "params" in message);
  const { update } = message.params as {
    readonly update: ReturnType<typeof updateOf>;
  };
  return update;
}

/** The notification that an editor has to get for a progress event. */
export function progressUpdate(
  { sessionId, messageId }: UpdateTarget,
  { node, status }: ProgressEvent,
): Outgoing {
  const sessionUpdate = "agent_thought_chunk";
  const content = { type: "text", text: `${node}: ${status}\n` };
  const update = { sessionUpdate, messageId, content, _meta: { node, status } };
  return { method: "session/update", params: { sessionId, update } };
}
