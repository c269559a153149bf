/**
 * The users: a script that calls the program with prompts, and an editor that speaks to
 * the bridge. Each does what its plan says, and records what it sees.
 *
 * @module
 */

import fc from "fast-check";
import { runBridge } from "../../lib/bridge.ts";
import { RemoteGateway } from "../../lib/gateway.ts";
import { runConversation } from "../../lib/interactive.ts";
import { ErrorOutput, outputSink, readStandardInput } from "../../lib/io.ts";
import { anySpan, API_KEY, type Drawn } from "./plans.ts";
import type { World } from "./world.ts";

/** How somebody reads what the program writes, from the write of a number on. */
const anyReader = fc.record({
  kind: fc.constantFrom(
    ...["quick", "quick", "quick", "quick"] as const,
    ...["slow", "stuck", "gone"] as const,
  ),
  from: fc.nat(8),
  // Milliseconds for each write, if it is slow.
  ms: fc.constantFrom(5, 300, 4_000),
});

type ReaderPlan = Drawn<typeof anyReader>;

export const anyScript = fc.record({
  kind: fc.constant("script" as const),
  prompts: fc.integer({ min: 1, max: 3 }),
  timeLimit: fc.option(
    fc.oneof(
      fc.integer({ min: 100, max: 4_000 }),
      fc.integer({ min: 100, max: 60_000 }),
    ),
    { nil: undefined },
  ),
  json: fc.boolean(),
  // Whether the prompts are lines of standard input, and not `-p`.
  isPiped: fc.boolean(),
  reader: anyReader,
});

export type ScriptPlan = Drawn<typeof anyScript>;

const anyAction = fc.record({
  // Milliseconds after the action before it.
  ms: fc.oneof(fc.constant(0), fc.nat(100), anySpan),
  what: fc.constantFrom(
    ...["prompt", "prompt", "prompt", "prompt", "prompt"] as const,
    ...["new", "cancel", "cancel request", "close"] as const,
    ...["load", "resume", "garbage", "unheard"] as const,
  ),
  session: fc.nat(3), // Which of the sessions that are known.
});

export type Action = Drawn<typeof anyAction>;

export const anyEditor = fc.record({
  kind: fc.constant("editor" as const),
  actions: fc.array(anyAction, { minLength: 1, maxLength: 8 }),
  end: anySpan, // from the last action to the end of the input
  showsNotices: fc.boolean(),
  reader: anyReader,
});

export type EditorPlan = Drawn<typeof anyEditor>;

/** Standard output, and somebody who reads it. */
class Output {
  /** What was read, also of a line that is not whole. */
  text = "";
  readonly #world: World;
  readonly #plan: ReaderPlan;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new TextDecoder();
  #line = "";
  #writes = 0;

  constructor(
    world: World,
    plan: ReaderPlan,
    onLine: (line: string) => void,
  ) {
    this.#world = world;
    this.#plan = plan;
    this.#onLine = onLine;
  }

  isTerminal(): boolean {
    return false;
  }

  async write(bytes: Uint8Array): Promise<number> {
    const { kind, from, ms } = this.#plan;
    const isUsual = kind === "quick" || this.#writes++ < from;
    if (!isUsual && kind === "stuck") await new Promise(() => {});
    if (!isUsual && kind === "gone") throw new Deno.errors.BrokenPipe("gone");
    if (!isUsual) {
      await new Promise<void>((done) => this.#world.after(ms, "socket", done));
    }
    const text = this.#decoder.decode(bytes, { stream: true });
    this.text += text;
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) {
      this.#world.tell(`<< ${shortened(line)}`);
      this.#onLine(line);
    }
    return bytes.length;
  }
}

function shortened(line: string): string {
  return line.length > 200 ? `${line.slice(0, 200)}...` : line;
}

/** Standard input, and somebody who writes to it. */
class Input {
  readonly #world: World;
  readonly #chunks: (Uint8Array | null)[] = [];
  #arrival = Promise.withResolvers<void>();

  constructor(world: World) {
    this.#world = world;
  }

  isTerminal(): boolean {
    return false;
  }

  async read(buffer: Uint8Array): Promise<number | null> {
    while (this.#chunks.length === 0) await this.#arrival.promise;
    const [chunk] = this.#chunks;
    if (chunk === null || chunk === undefined) return null;
    this.#chunks.shift();
    buffer.set(chunk);
    return chunk.length;
  }

  /** Writes a line, cut anywhere. */
  write(line: string): void {
    const bytes = new TextEncoder().encode(`${line}\n`);
    const cut = 1 + this.#world.below(bytes.length - 1);
    this.#put(bytes.slice(0, cut));
    this.#put(bytes.slice(cut));
  }

  end(): void {
    this.#world.tell("the input ends");
    this.#put(null);
  }

  #put(chunk: Uint8Array | null): void {
    if (chunk?.length === 0) return;
    this.#world.after(1, "socket", () => {
      this.#chunks.push(chunk);
      this.#arrival.resolve();
      this.#arrival = Promise.withResolvers();
    });
  }
}

/** A line that a script reads. */
export interface Line {
  readonly at: number;
  readonly text: string;
  readonly isError: boolean;
}

/** A call of the program with prompts. */
export class Script {
  readonly kind = "script";
  readonly plan: ScriptPlan;
  readonly prompts: readonly string[];
  /** What was written to standard output and standard error, in order. */
  readonly lines: Line[] = [];
  /** `undefined` if the call did not end, or could not write. */
  code: number | undefined;
  error: unknown;
  hasEnded = false;
  readonly #world: World;
  readonly #stdout: Output;

  constructor(world: World, plan: ScriptPlan) {
    this.#world = world;
    this.plan = plan;
    this.prompts = Array.from({ length: plan.prompts }, (_, i) => `p${i + 1}`);
    this.#stdout = new Output(world, plan.reader, (text) => {
      this.lines.push({ at: world.now, text, isError: false });
    });
  }

  /** All that was written, also what is no whole line. */
  get text(): string {
    return this.#stdout.text + this.lines.map(({ text }) => text).join("\n");
  }

  /** Calls the program, and waits for its end. */
  async run(baseUrl: string): Promise<void> {
    const world = this.#world;
    const { timeLimit, json, isPiped } = this.plan;
    const stdin = new Input(world);
    world.replace(Deno, { stdin, stdout: this.#stdout });
    const options = (json ? " --json" : "") +
      (timeLimit === undefined ? "" : ` --timeout ${timeLimit / 1000}`);
    const given = isPiped ? " < prompts" : ` -p ${this.prompts.join(" -p ")}`;
    world.tell(`agent-gateway${options}${given}`);
    if (isPiped) {
      for (const prompt of this.prompts) stdin.write(prompt);
      stdin.end();
    }
    this.hasEnded = await world.until(this.#call(baseUrl));
    if (this.hasEnded) {
      world.tell(`exit code ${this.code}, ${this.error ?? ""}`);
    }
  }

  async #call(baseUrl: string): Promise<void> {
    const standardError = new ErrorOutput({
      write: (bytes) => this.#writeError(new TextDecoder().decode(bytes)),
    });
    const gateway = new RemoteGateway({ baseUrl, apiKey: API_KEY });
    const { timeLimit, json, isPiped } = this.plan;
    try {
      this.code = await runConversation({
        gateway,
        maskedKey: "key-...",
        baseUrl,
        asked: {
          prompts: isPiped ? [] : this.prompts,
          readsInput: false,
          threadId: undefined,
          timeLimit,
          json,
          quiet: false,
          plain: false,
          color: "never",
        },
        process: {
          standardError,
          readsTerminal: false,
          frontEnd: undefined,
          interrupt: () => {},
          leave: () => Promise.resolve(),
        },
      });
    } catch (cause) {
      this.error = cause;
    }
    await gateway[Symbol.asyncDispose]();
    await standardError.flush(1_000);
  }

  #writeError(text: string): Promise<void> {
    for (const line of text.split("\n").filter((line) => line !== "")) {
      this.#world.tell(`! ${line}`);
      this.lines.push({ at: this.#world.now, text: line, isError: true });
    }
    return Promise.resolve();
  }
}

/** A request of the editor. */
export interface Sent {
  readonly id: number;
  readonly method: string;
  readonly at: number;
  readonly sessionId: string | undefined;
  readonly prompt: string | undefined;
  answer: Message | undefined;
}

/** A line that the bridge wrote, in their order. */
export interface Message {
  readonly at: number;
  readonly id?: number | string | null;
  readonly method?: string;
  // deno-lint-ignore no-explicit-any -- any JSON, which the promises are about
  readonly [field: string]: any;
}

/** An editor that uses the bridge. */
export class Editor {
  readonly kind = "editor";
  readonly plan: EditorPlan;
  readonly sent: Sent[] = [];
  readonly received: Message[] = [];
  /** When each request was first cancelled, by its id. */
  readonly cancelled = new Map<number, number>();
  error: unknown;
  hasEnded = false;
  readonly #sessions: string[] = [];
  readonly #world: World;
  readonly #stdin: Input;
  readonly #stdout: Output;

  constructor(world: World, plan: EditorPlan) {
    this.#world = world;
    this.plan = plan;
    this.#stdin = new Input(world);
    this.#stdout = new Output(world, plan.reader, (line) => {
      try {
        this.#receive(line);
      } catch (cause) {
        this.error ??= cause;
      }
    });
  }

  /** What was read of standard output. */
  get text(): string {
    return this.#stdout.text;
  }

  /** Starts the bridge, uses it, and waits for its end. */
  async run(baseUrl: string): Promise<void> {
    const world = this.#world;
    world.replace(Deno, { stdin: this.#stdin, stdout: this.#stdout });
    this.#actAll();
    this.hasEnded = await world.until(this.#serve(baseUrl));
    if (this.hasEnded) world.tell(`it ends, ${this.error ?? ""}`);
  }

  async #serve(baseUrl: string): Promise<void> {
    const gateway = new RemoteGateway({ baseUrl, apiKey: API_KEY });
    try {
      const stdin = readStandardInput();
      await runBridge({ stdin, stdout: outputSink(), gateway });
    } catch (cause) {
      this.error ??= cause;
    }
    await gateway[Symbol.asyncDispose]();
  }

  async #actAll(): Promise<void> {
    const { actions, end, showsNotices } = this.plan;
    const session = showsNotices ? { notices: {} } : {};
    this.#request("initialize", { clientCapabilities: { session } });
    this.#request("session/new", {});
    for (const { ms, what, session } of actions) {
      await this.#world.pause(ms);
      // An editor whose first session is not there yet waits for it, for a while.
      for (let i = 0; i < 100 && this.#sessions.length === 0; i++) {
        await this.#world.pause(100);
      }
      this.#act(what, session);
    }
    await this.#world.pause(end);
    this.#stdin.end();
  }

  #act(what: Action["what"], index: number): void {
    const sessionId = this.#sessions[index % this.#sessions.length] ?? "none";
    const params = { sessionId };
    if (what === "cancel" || what === "close") this.#cancelAll(sessionId);
    if (what === "cancel") {
      this.#write({ method: "session/cancel", params });
    } else if (what === "cancel request") {
      const last = this.sent.findLast((request) =>
        request.prompt !== undefined && request.sessionId === sessionId
      );
      if (last === undefined) return;
      this.#cancel(last);
      const requestId = last.id;
      this.#write({ method: "$/cancel_request", params: { requestId } });
    } else if (what === "garbage") {
      this.#write("{ not JSON");
    } else {
      this.#request(`session/${what}`, what === "new" ? {} : params);
    }
  }

  #cancelAll(sessionId: string): void {
    for (const request of this.sent) {
      if (request.sessionId === sessionId) this.#cancel(request);
    }
  }

  #cancel({ id }: Sent): void {
    if (!this.cancelled.has(id)) this.cancelled.set(id, this.#world.now);
  }

  #request(
    method: string,
    params: { readonly sessionId?: string; readonly [name: string]: unknown },
  ): void {
    const id = this.sent.length + 1;
    const prompt = method === "session/prompt" ? `p${id}` : undefined;
    const { sessionId } = params;
    const at = this.#world.now;
    this.sent.push({ id, method, at, sessionId, prompt, answer: undefined });
    this.#write({ id, method, params: { ...params, prompt } });
  }

  #write(message: object | string): void {
    const line = typeof message === "string"
      ? message
      : JSON.stringify(message);
    this.#world.tell(`>> ${line}`);
    this.#stdin.write(line);
  }

  #receive(line: string): void {
    const message = { ...JSON.parse(line), at: this.#world.now };
    this.received.push(message);
    const request = this.sent.find(({ id }) => id === message.id);
    if (request !== undefined) request.answer ??= message;
    const id = message.result?.sessionId;
    if (typeof id === "string" && !this.#sessions.includes(id)) {
      this.#sessions.push(id);
    }
  }
}
