import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { Bridge } from "../../lib/bridge/methods.ts";
import { formatMessage, readMessages } from "../../lib/bridge/json_rpc.ts";
import { LineWriter } from "../../lib/line_writer.ts";
import { ServiceError } from "../../lib/gateway/service_error.ts";
import type { ByteSink } from "../../lib/standard_streams.ts";
import { FakeGateway, type FakeRun } from "./bridge_ends.ts";
import { BridgeModel, type ModelRun } from "./bridge_model.ts";

const MAX_LINE_BYTES = 2000;

/** The failures of the service, and the error code that the editor gets. */
export const FAILURES: readonly (readonly [code: number, failure: unknown])[] =
  [
    [-32603, new ServiceError("no", { operation: "create run", status: 500 })],
    [-32603, new ServiceError("no", { operation: "stream run" })],
    [-32603, new ServiceError("no", { operation: "create run", status: 401 })],
    [-32603, new ServiceError("no", { operation: "stream run", status: 403 })],
    [-32603, new TypeError("a defect")],
    [-32603, "not an error"],
  ];

/**
 * The editor sends this text, cut at these offsets. `$0` is replaced by the id of
 * a session, and `@0` by that of a running prompt.
 */
export interface Say {
  readonly line: string | Uint8Array;
  readonly end: string;
  readonly cuts: readonly number[];
}

/** A step of a conversation. A number is an index into the current sessions, threads or runs. */
export type Action =
  | Say
  | { readonly thread: number; readonly failure?: number }
  | { readonly run: number; readonly node: string; readonly status: string }
  | { readonly run: number; readonly reply: string }
  | { readonly run: number; readonly failure: number }
  /** The editor begins or stops reading. */
  | { readonly reads: boolean }
  /** A number of steps of all pending work. */
  | { readonly steps: number }
  | "rest";

/** A writer that reports each line when it is queued. */
class WatchedWriter extends LineWriter {
  readonly #onLine: (line: string) => void;

  constructor(
    sink: ByteSink,
    onLine: (line: string) => void,
  ) {
    super(sink);
    this.#onLine = onLine;
  }

  override write(line: string): void {
    this.#onLine(line);
    super.write(line);
  }
}

const encoder = new TextEncoder();

/** A bridge between bytes and a service in memory, together with its model. */
export class Conversation {
  readonly #model = new BridgeModel(MAX_LINE_BYTES);
  readonly #gateway = new FakeGateway();
  readonly #threads: PromiseWithResolvers<string>[] = [];
  readonly #input = new TransformStream<Uint8Array, Uint8Array>();
  readonly #editor = this.#input.writable.getWriter();
  readonly #unread: Uint8Array[] = []; // lines that the bridge has not read
  readonly #runs: { readonly run: ModelRun; readonly fake: FakeRun }[] = [];
  #queued = "";
  #written = "";
  #reads = true;
  #ended = false;
  #readsAgain = Promise.withResolvers<void>();
  #violation: unknown;

  constructor() {
    this.#gateway.creating = () => {
      const thread = Promise.withResolvers<string>();
      this.#threads.push(thread);
      return thread.promise;
    };
    this.#gateway.onRun = (fake) =>
      this.#check(() => {
        this.#runs.push({ run: this.#model.start(fake), fake });
      });
    this.#serve().catch((error) => this.#violation ??= error);
  }

  /** Performs one action. */
  async perform(action: Action): Promise<void> {
    const model = this.#model;
    if (action === "rest") return await this.#rest();
    if ("line" in action) return this.#say(action);
    if ("steps" in action) {
      for (let i = 0; i < action.steps; i++) await undefined;
    } else if ("reads" in action) {
      if (action.reads) this.#readsAgain.resolve();
      else if (this.#reads) this.#readsAgain = Promise.withResolvers();
      this.#reads = action.reads;
    } else if ("thread" in action) {
      const i = choose(model.threads, action.thread);
      const thread = model.threads[i];
      if (thread === undefined) return;
      const [code, failure] = FAILURES[action.failure ?? -1] ?? [];
      if (code === undefined) {
        const threadId = threadName(i);
        // A session opens a moment before its answer. If an earlier session had
        // the same id, a line in that moment could mean either.
        const isUsed = model.everySession.includes(threadId);
        if (isUsed) await setImmediate();
        thread.outcome = { threadId };
        this.#threads[i]?.resolve(threadId);
        if (isUsed) await setImmediate();
      } else {
        thread.outcome = { code };
        this.#threads[i]?.reject(failure);
      }
    } else {
      const i = choose(this.#runs.map(({ run }) => run), action.run);
      const { run, fake } = this.#runs[i] ?? {};
      if (run === undefined || fake === undefined) return;
      if ("node" in action) {
        const { node, status } = action;
        run.events.push({ event: "progress", node, status });
        fake.progress(node, status);
      } else if ("reply" in action) {
        run.events.push({ event: "complete", reply: action.reply });
        run.outcome = { complete: true };
        fake.complete(action.reply);
      } else {
        const [code, failure] = FAILURES[action.failure] ?? [];
        run.outcome = { code: code ?? 0 };
        fake.fail(failure);
      }
    }
  }

  /** Completes all threads and runs, lets the editor read everything, and ends the input. */
  async end(): Promise<void> {
    await this.perform({ reads: true });
    await this.#rest();
    for (const _ of this.#model.threads) await this.perform({ thread: 0 });
    await this.#rest();
    for (const _ of this.#model.runs) {
      await this.perform({ run: 0, reply: "End" });
    }
    await this.#rest();
    assertEquals(this.#unread, [], "lines were not taken");
    assertEquals(this.#model.due, [], "requests were not answered");
    this.#editor.close();
    await this.#rest();
    assert(this.#ended, "the bridge continues after the end of its input");
    assertEquals(this.#written, this.#queued);
  }

  /** Does the same as `runBridge()`, and reports to the model. */
  async #serve(): Promise<void> {
    const model = this.#model;
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const stdout = new WritableStream<Uint8Array>({
      write: async (chunk) => {
        if (!this.#reads) await this.#readsAgain.promise;
        this.#written += decoder.decode(chunk);
      },
    });
    const output = new WatchedWriter(stdout.getWriter(), (line) => {
      this.#queued += line;
      this.#check(() => model.send(line));
    });
    const bridge = new Bridge({
      gateway: this.#gateway,
      peer: {
        send: (message) => output.write(formatMessage(message)),
        sendInTurn: (lines, signal) => output.writeInTurn(lines, signal),
      },
      onAnswered: (answered) => this.#check(() => model.answered(answered)),
    });
    const messages = readMessages(this.#input.readable, {
      maxLineBytes: MAX_LINE_BYTES,
    });
    for await (const message of messages) {
      const line = this.#unread.shift();
      this.#check(() => model.receive(line ?? new Uint8Array()));
      bridge.receive(message);
      this.#check(() => {
        assertEquals(this.#gateway.threads, model.threads.length);
      });
    }
    await bridge.end();
    await output.flush();
    this.#ended = true;
  }

  #say({ line, end, cuts }: Say): void {
    const { everySession, runs } = this.#model;
    const prompts = runs.filter((run) => !run.answered);
    const at = <T>(list: readonly T[], i: string) => list[+i % list.length];
    const bytes = typeof line !== "string" ? line : encoder.encode(
      line.replaceAll(/\$(\d)/g, (_, i) => at(everySession, i) ?? "none")
        .replaceAll(/@(\d)/g, (_, i) => at(prompts, i)?.id ?? "0"),
    );
    const whole = new Uint8Array([...bytes, ...encoder.encode(end)]);
    const isCarriageReturn = whole.at(-2) === 0x0d;
    const content = whole.subarray(0, isCarriageReturn ? -2 : -1);
    if (!isBlank(content)) this.#unread.push(content);
    const ends = cuts.map((cut) => cut % whole.length).sort((a, b) => a - b);
    for (const [i, place] of [...ends, whole.length].entries()) {
      this.#editor.write(whole.subarray(ends[i - 1] ?? 0, place));
    }
  }

  /** Waits until no work is pending. In memory this takes no time. */
  async #rest(): Promise<void> {
    await setImmediate();
    if (this.#violation !== undefined) throw this.#violation;
    if (!this.#reads) return;
    assertEquals(this.#model.overdue, []);
    assertEquals(this.#model.startable, [], "runs were not started");
  }

  /** Records the model's error: thrown inside the bridge, it would look like a failed request. */
  #check(assertion: () => void): void {
    try {
      assertion();
    } catch (error) {
      this.#violation ??= error;
    }
  }
}

/** The name of a thread. Some can be a session's id, and some occur twice. */
function threadName(i: number): string {
  return [
    `thread ${i}`,
    `thread-${i}`,
    "thread-1",
    "x".repeat(199 + i),
  ][i % 4] ??
    "";
}

/** Whether the bridge ignores a line. */
function isBlank(line: Uint8Array): boolean {
  return line.length <= MAX_LINE_BYTES &&
    /^\s*$/.test(new TextDecoder().decode(line));
}

/** The index of one call whose outcome is open, or -1. */
function choose(
  all: readonly { readonly outcome?: unknown }[],
  number: number,
): number {
  const open = [...all.keys()].filter((i) => all[i]?.outcome === undefined);
  return open[number % open.length] ?? -1;
}
