import { type Endpoint, KEY } from "./load_service.ts";
import { LineScanner } from "./line_scanner.ts";
import type { Shape } from "./shape.ts";
import type { Command } from "./subjects.ts";

/** Options of {@linkcode AgentProcess.start}. */
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
    const { url, authority } = options.service;
    const trust = authority === undefined
      ? {}
      : { DENO_CERT: authority, NODE_EXTRA_CA_CERTS: authority };
    this.#onEvent = options.onEvent;
    this.#child = new Deno.Command(command.program, {
      args: [...command.args],
      env: { APP_API_KEY: KEY, APP_BASE_URL: url, ...trust },
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
    for await (const chunk of this.#child.stdout) scanner.scan(chunk);
    const error = new Error(`The program has ended before it answered`);
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
  // Searched from the end, where notifications differ.
  for (let index = ANSWER.length - 1; index >= 0; index--) {
    if (line[index] !== ANSWER[index]) return false;
  }
  return true;
}
