import type { Command } from "./programs.ts";
import { type Endpoint, settings, type Shape } from "./service.ts";

export interface AgentProcessOptions {
  readonly service: Endpoint;
  /** Called with the beginning of each line that is not an answer. */
  readonly onEvent?: (line: Uint8Array) => void;
}

/** A bridge, ours or another, as a child process that gets an editor's requests. */
export class AgentProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #end: Promise<void>;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #onEvent: ((line: Uint8Array) => void) | undefined;
  #lastId = 0;
  #reads = true;
  #events = 0;

  /** Starts a program, initializes it, and waits for its answer. */
  static async start(
    command: Command,
    options: AgentProcessOptions,
  ): Promise<AgentProcess> {
    const agent = new AgentProcess(command, options);
    await agent.#request("initialize", {
      protocolVersion: 1,
      clientCapabilities: {},
    });
    return agent;
  }

  private constructor(command: Command, options: AgentProcessOptions) {
    this.#onEvent = options.onEvent;
    this.#child = new Deno.Command(command.program, {
      args: [...command.args],
      env: { ...command.env, ...settings(options.service) },
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#end = this.#read();
  }

  /** The id of the process. */
  get pid(): number {
    return this.#child.pid;
  }

  /** The number of lines that were not answers. */
  get events(): number {
    return this.#events;
  }

  /** Opens a session and returns its id. */
  async newSession(): Promise<string> {
    const session = { cwd: "/", mcpServers: [] };
    const result = await this.#request("session/new", session);
    return (result as { sessionId: string }).sessionId;
  }

  /** Stops reading the program's output and does not begin again. */
  stopReading(): void {
    this.#reads = false;
  }

  /** Runs a turn to its end. */
  async prompt(sessionId: string, shape: Shape): Promise<void> {
    const prompt = [{ type: "text", text: JSON.stringify(shape) }];
    await this.#request("session/prompt", { sessionId, prompt });
  }

  /** Ends the process. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    this.#input.abort().catch(() => {});
    await this.#end;
    await this.#child.status;
  }

  async #request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(id, answer);
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    await this.#input.write(new TextEncoder().encode(line + "\n"));
    return await answer.promise;
  }

  async #read(): Promise<void> {
    const scanner = new LineScanner((line) => {
      if (isAnswer(line)) return this.#take(line);
      this.#events++;
      this.#onEvent?.(line);
    });
    for await (const chunk of this.#child.stdout) {
      scanner.scan(chunk);
      if (!this.#reads) await this.#child.status;
    }
    const error = new Error("The program ended before it answered");
    for (const { reject } of this.#pending.values()) reject(error);
  }

  #take(line: Uint8Array): void {
    const { id, result, error } = JSON.parse(new TextDecoder().decode(line));
    const answer = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) answer?.resolve(result);
    else answer?.reject(new Error(error.message));
  }
}

const ANSWER = new TextEncoder().encode('{"jsonrpc":"2.0","id":');

function isAnswer(line: Uint8Array): boolean {
  return ANSWER.every((byte, index) => line[index] === byte);
}

const NEWLINE = 0x0a;

/** The part of a line that is kept, in bytes. */
const HEAD_BYTES = 4096;

/** Finds lines in bytes, at little cost however long they are. */
export class LineScanner {
  readonly #onLine: (head: Uint8Array) => void;
  readonly #head = new Uint8Array(HEAD_BYTES);
  #length = 0;

  /** @param onLine Called with the first 4 KiB of each line that is not blank. */
  constructor(onLine: (head: Uint8Array) => void) {
    this.#onLine = onLine;
  }

  /** Scans the next bytes. The argument of {@linkcode onLine} is valid until it returns. */
  scan(chunk: Uint8Array): void {
    let start = 0;
    for (let end; (end = chunk.indexOf(NEWLINE, start)) >= 0; start = end + 1) {
      this.#keep(chunk.subarray(start, end));
      if (this.#length > 0) this.#onLine(this.#head.subarray(0, this.#length));
      this.#length = 0;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Uint8Array): void {
    const kept = part.subarray(0, HEAD_BYTES - this.#length);
    this.#head.set(kept, this.#length);
    this.#length += kept.length;
  }
}
