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
import { anySpan, API_KEY, type Drawn, mostly } from "./plans.ts";
import { Socket } from "./sockets.ts";
import type { World } from "./world.ts";

/** How somebody reads what the program writes, from the write of a number on. */
const anyReader = fc.record({
  kind: mostly("quick", "slow", "stuck", "gone"),
  from: fc.nat(8),
  // Milliseconds for each write, if it is slow.
  ms: fc.constantFrom(5, 300, 4_000),
});

type ReaderPlan = Drawn<typeof anyReader>;

export const anyScript = fc.record({
  kind: fc.constant("script" as const),
  prompts: fc.constantFrom(["p1"], ["p1", "p2"], ["p1", "p2", "p3"]),
  // Milliseconds for each prompt.
  timeLimit: fc.option(
    fc.integer({ min: 100, max: 20_000 }),
    { nil: undefined },
  ),
  json: fc.boolean(),
  // Whether the prompts are lines of standard input, and not `-p`.
  isPiped: fc.boolean(),
  reader: anyReader,
});

type ScriptPlan = Drawn<typeof anyScript>;

const anyAction = fc.record({
  // Milliseconds after the action before it.
  ms: fc.oneof(fc.constant(0), fc.nat(100), anySpan),
  what: mostly(
    "prompt",
    "new",
    "cancel",
    "cancel request",
    "close",
    "load",
    "resume",
    "garbage",
    "unheard",
  ),
  session: fc.nat(3), // Which of the sessions that are known.
});

type Action = Drawn<typeof anyAction>;

export const anyEditor = fc.record({
  kind: fc.constant("editor" as const),
  actions: fc.array(anyAction, { minLength: 1, maxLength: 8 }),
  end: anySpan, // from the last action to the end of the input
  reader: anyReader,
});

type EditorPlan = Drawn<typeof anyEditor>;

/** Somebody who writes to the standard input of the program, and reads its output. */
abstract class User<Plan extends { readonly reader: ReaderPlan }> {
  readonly plan: Plan;
  /** What was read, also of a line that is not whole. */
  text = "";
  /** Why the program ended, if it failed. */
  error: unknown;
  hasEnded = false;
  protected readonly world: World;
  readonly #input: Socket;
  readonly #decoder = new TextDecoder();
  #line = "";
  #writes = 0;

  constructor(world: World, plan: Plan) {
    this.world = world;
    this.plan = plan;
    const [socket, input] = Socket.pair(world, "outside", () => 1);
    this.#input = input;
    const isTerminal = () => false;
    world.replace(Deno, {
      stdin: Object.assign(socket, { isTerminal }),
      stdout: { isTerminal, write: (bytes: Uint8Array) => this.#read(bytes) },
    });
  }

  protected abstract receive(line: string): void;

  /** Writes a line, cut anywhere. */
  protected write(line: string): void {
    this.world.tell(`>> ${line}`);
    const bytes = new TextEncoder().encode(`${line}\n`);
    const cut = 1 + this.world.below(bytes.length - 1);
    this.#input.send(bytes.slice(0, cut));
    this.#input.send(bytes.slice(cut));
  }

  protected endInput(): void {
    this.world.tell("the input ends");
    this.#input.closeWrite();
  }

  /** Runs the program until its end. */
  protected async runProgram(
    baseUrl: string,
    program: (gateway: RemoteGateway) => Promise<unknown>,
  ): Promise<void> {
    const run = async () => {
      await using gateway = new RemoteGateway({ baseUrl, apiKey: API_KEY });
      await program(gateway);
    };
    const ending = run().catch((cause) => void (this.error ??= cause));
    this.hasEnded = await this.world.until(ending);
    this.world.tell(`has ended: ${this.hasEnded} ${this.error ?? ""}`);
  }

  async #read(bytes: Uint8Array): Promise<number> {
    const { kind, from, ms } = this.plan.reader;
    if (this.#writes++ >= from) {
      if (kind === "stuck") await new Promise(() => {});
      if (kind === "gone") throw new Deno.errors.BrokenPipe("gone");
      if (kind === "slow") await this.world.pause(ms, "socket");
    }
    const text = this.#decoder.decode(bytes, { stream: true });
    this.text += text;
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) {
      this.world.tell(`<< ${line}`);
      this.receive(line);
    }
    return bytes.length;
  }
}

/** A call of the program with prompts. */
export class Script extends User<ScriptPlan> {
  readonly kind = "script";
  /** What was written to standard output and standard error, in order. */
  readonly lines: {
    readonly at: number;
    readonly text: string;
    readonly isError: boolean;
  }[] = [];
  /** `undefined` if the call did not end, or could not write. */
  code: number | undefined;

  /** Calls the program, and waits for its end. */
  async run(baseUrl: string): Promise<void> {
    const { prompts, timeLimit, json, isPiped } = this.plan;
    if (isPiped) {
      for (const prompt of prompts) this.write(prompt);
      this.endInput();
    }
    const standardError = new ErrorOutput({
      write: (bytes) => this.#readError(new TextDecoder().decode(bytes)),
    });
    await this.runProgram(baseUrl, async (gateway) => {
      this.code = await runConversation({
        gateway,
        maskedKey: "key-...",
        baseUrl,
        asked: {
          prompts: isPiped ? [] : prompts,
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
      }).finally(() => standardError.flush(1_000));
      this.world.tell(`exit code ${this.code}`);
    });
  }

  protected receive(text: string, isError = false): void {
    this.lines.push({ at: this.world.now, text, isError });
  }

  #readError(text: string): Promise<void> {
    this.text += text;
    for (const line of text.trimEnd().split("\n")) {
      this.world.tell(`! ${line}`);
      this.receive(line, true);
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
  answer?: Message;
  /** When it was first cancelled. */
  cancelledAt?: number;
}

/** A line that the bridge wrote. */
interface Message {
  readonly at: number;
  readonly order: number;
  readonly id?: number | string | null;
  readonly method?: string;
  // deno-lint-ignore no-explicit-any -- any JSON, which the promises are about
  readonly [field: string]: any;
}

/** An editor that uses the bridge. */
export class Editor extends User<EditorPlan> {
  readonly kind = "editor";
  readonly sent: Sent[] = [];
  readonly received: Message[] = [];
  readonly #sessions: string[] = [];

  /** Starts the bridge, uses it, and waits for its end. */
  async run(baseUrl: string): Promise<void> {
    this.#actAll();
    const stdin = readStandardInput();
    await this.runProgram(
      baseUrl,
      (gateway) => runBridge({ stdin, stdout: outputSink(), gateway }),
    );
  }

  async #actAll(): Promise<void> {
    const clientCapabilities = { session: { notices: {} } };
    this.#request("initialize", { clientCapabilities });
    this.#request("session/new", {});
    for (const { ms, what, session } of this.plan.actions) {
      await this.world.pause(ms);
      // An editor whose first session is not there yet waits for it, for a while.
      while (this.#sessions.length === 0 && this.world.now < 10_000) {
        await this.world.pause(100);
      }
      this.#act(what, session);
    }
    await this.world.pause(this.plan.end);
    this.endInput();
  }

  #act(what: Action["what"], index: number): void {
    const sessionId = this.#sessions[index % this.#sessions.length] ?? "none";
    const prompts = this.sent.filter((request) =>
      request.prompt !== undefined && request.sessionId === sessionId
    );
    const cancel = (request: Sent) => {
      request.cancelledAt ??= this.world.now;
    };
    const last = prompts.at(-1);
    if (what === "cancel" || what === "close") prompts.forEach(cancel);
    if (what === "garbage") return this.write("{ not JSON");
    if (what === "cancel") {
      return this.#send({ method: "session/cancel", params: { sessionId } });
    }
    if (what === "cancel request") {
      if (last === undefined) return;
      cancel(last);
      const params = { requestId: last.id };
      return this.#send({ method: "$/cancel_request", params });
    }
    const prompt = what === "prompt" ? `p${this.sent.length + 1}` : undefined;
    const params = what === "new" ? {} : { sessionId, prompt };
    this.#request(`session/${what}`, params);
  }

  #request(
    method: string,
    params: {
      readonly clientCapabilities?: object;
      readonly sessionId?: string;
      readonly prompt?: string | undefined;
    },
  ): void {
    const id = this.sent.length + 1;
    const at = this.world.now;
    const { sessionId, prompt } = params;
    this.sent.push({ id, method, at, sessionId, prompt });
    this.#send({ id, method, params });
  }

  #send(message: object): void {
    this.write(JSON.stringify(message));
  }

  protected receive(line: string): void {
    const order = this.received.length;
    const message = { ...JSON.parse(line), at: this.world.now, order };
    this.received.push(message);
    const request = this.sent.find(({ id }) => id === message.id);
    if (request !== undefined) request.answer ??= message;
    const id = message.result?.sessionId;
    if (typeof id === "string" && !this.#sessions.includes(id)) {
      this.#sessions.push(id);
    }
  }
}
