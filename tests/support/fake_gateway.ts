import type {
  CallEvents,
  CallIds,
  CreationEvent,
  Fate,
  Gateway,
  TurnEvent,
  TurnOptions,
} from "../../lib/gateway.ts";
import { Redactor } from "../../lib/text.ts";
import { redacted, serviceId } from "./texts.ts";
import { unchanged } from "../../lib/text.ts";
import { soon } from "./waits.ts";

/** A service in memory: threads at once, runs that a test drives by hand. */
export class FakeGateway implements Gateway {
  readonly redactor = new Redactor("");
  /** Every run so far, in the order of their start. */
  readonly runs: FakeRun[] = [];
  /** How many threads were created: they are called `thread-1`, `thread-2`. */
  threads = 0;
  /** Replaces `createThread()` for the next threads. */
  creating: (() => Promise<string>) | undefined;
  #start = Promise.withResolvers<void>();

  /** How often a connection was asked for ahead of a turn. */
  prepared = 0;

  prepare(): void {
    this.prepared++;
  }

  createThread(): CallEvents<CreationEvent> {
    return eventsOf(this.#createThread());
  }

  runTurn(
    threadId: string,
    prompt: string,
    options: TurnOptions = {},
  ): CallEvents<TurnEvent> {
    const number = this.runs.length + 1;
    const ids = (request: number) => ({
      threadId: serviceId(threadId),
      runId: serviceId(`run-${number}`),
      requestId: redacted(`0-0-0-${request}-${number}`),
    });
    const run = new FakeRun(threadId, prompt, options);
    // The next request is that of the stream.
    const follow = () => Object.assign(turn, { ids: ids(1) });
    const turn = eventsOf(this.#runTurn(run, follow), undefined, ids(0));
    return turn;
  }

  async *#createThread(): AsyncGenerator<CreationEvent> {
    const name = `thread-${++this.threads}`;
    const threadId = await this.creating?.() ?? name;
    yield { type: "thread", threadId: serviceId(threadId) };
  }

  async *#runTurn(
    run: FakeRun,
    follow: () => void,
  ): AsyncGenerator<TurnEvent> {
    this.runs.push(run);
    this.#start.resolve();
    this.#start = Promise.withResolvers();
    yield { type: "run", runId: serviceId(`run-${this.runs.length}`) };
    follow();
    yield* run.events;
  }

  /** The last run that was started. */
  get run(): FakeRun {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error("No run was started");
    return run;
  }

  /** Resolves with the run of this number, counted from 1, when it has started. */
  async started(number: number): Promise<FakeRun> {
    for (;;) {
      const run = this.runs[number - 1];
      if (run !== undefined) return run;
      await soon(
        this.#start.promise,
        () => `run ${number}; ${this.runs.length} were started`,
      );
    }
  }
}

/** The events of a call that has a fate at any moment. */
export function eventsOf<Event>(
  events: AsyncGenerator<Event>,
  fate?: Fate,
  ids: CallIds = {},
): CallEvents<Event> {
  return Object.assign(events, { fate, ids });
}

/** A run: the arguments that started it, and its events, which a test sends. */
export class FakeRun {
  readonly threadId: string;
  readonly prompt: string;
  readonly options: TurnOptions;
  /** How long a run that is aborted takes to end. By default it ends at once. */
  dropping: Promise<void> | undefined;
  readonly #pipe = new TransformStream<TurnEvent, TurnEvent>();
  readonly events: ReadableStream<TurnEvent> = this.#pipe.readable;
  readonly #events = this.#pipe.writable.getWriter();

  constructor(threadId: string, prompt: string, options: TurnOptions) {
    this.threadId = threadId;
    this.prompt = prompt;
    this.options = options;
    const { signal } = options;
    signal?.addEventListener("abort", () => {
      const drop = () => this.fail(signal.reason);
      if (this.dropping === undefined) drop();
      else this.dropping.then(drop);
    });
  }

  progress(node: string, status: string): void {
    this.put({
      type: "progress",
      node: redacted(node),
      status: redacted(status),
    });
  }

  complete(reply: string): void {
    this.put({ type: "reply", text: unchanged(reply), isNotice: false });
    this.#events.close().catch(() => {}); // The run was dropped.
  }

  fail(error: unknown): void {
    this.#events.abort(error).catch(() => {}); // The run is over.
  }

  put(event: TurnEvent): void {
    this.#events.write(event).catch(() => {}); // The run was dropped.
  }
}
