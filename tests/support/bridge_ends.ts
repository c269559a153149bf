import { assert } from "@std/assert";
import { Bridge, type Peer } from "../../lib/bridge/methods.ts";
import type { Gateway, TurnOptions } from "../../lib/gateway.ts";
import type {
  Incoming,
  Outgoing,
  RequestId,
} from "../../lib/bridge/json_rpc.ts";
import type { RunEvent } from "../../lib/gateway/run_events.ts";

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

  createThread(): Promise<string> {
    this.threads++;
    return this.creating?.() ?? Promise.resolve(`thread-${this.threads}`);
  }

  async *runTurn(
    threadId: string,
    prompt: string,
    options: TurnOptions = {},
  ): AsyncGenerator<readonly RunEvent[]> {
    const run = new FakeRun(threadId, prompt, options);
    this.runs.push(run);
    this.onRun?.(run);
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
  readonly events: ReadableStream<RunEvent>;
  readonly #events: WritableStreamDefaultWriter<RunEvent>;

  constructor(threadId: string, prompt: string, options: TurnOptions) {
    this.threadId = threadId;
    this.prompt = prompt;
    this.options = options;
    const { readable, writable } = new TransformStream<RunEvent, RunEvent>();
    this.events = readable;
    this.#events = writable.getWriter();
    const { signal } = options;
    signal?.addEventListener("abort", () => this.fail(signal.reason));
  }

  progress(node: string, status: string): void {
    this.#put({ event: "progress", node, status });
  }

  complete(reply: string): void {
    this.#put({ event: "complete", reply });
    this.#events.close().catch(() => {}); // The run was dropped.
  }

  fail(error: unknown): void {
    this.#events.abort(error).catch(() => {}); // The run is over.
  }

  #put(event: RunEvent): void {
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
    for (const line of lines) {
      const { jsonrpc: _, ...message } = JSON.parse(line);
      if (!signal.aborted) this.send(message);
    }
    return Promise.resolve();
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
  const { gateway, peer, bridge } = createBridge();
  bridge.receive(request(0, "initialize", params));
  for (let i = 0; i < count; i++) bridge.receive(request(i, "session/new"));
  await bridge.idle();
  const sessions = peer.sent.splice(0).slice(1).map((message) => {
    assert("result" in message);
    return (message.result as { readonly sessionId: string }).sessionId;
  });
  const [first = "", second = ""] = sessions;
  return { gateway, peer, bridge, first, second };
}

/** The text of an update. */
export function textOf({ params }: { readonly params: unknown }): string {
  const { update } = params as {
    readonly update: { readonly content: { readonly text: string } };
  };
  return update.content.text;
}
