import { Buffer } from "node:buffer";
import type { Command } from "./programs.ts";
import { countEvents, type Endpoint, settings, type Shape } from "./service.ts";

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
  #lastId = 0;
  #reads = true;
  /** The events of all turns that have not come. */
  #missing = 0;

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

  private constructor(
    [program = "", ...args]: Command,
    { service, onEvent }: AgentProcessOptions,
  ) {
    this.#child = new Deno.Command(program, {
      args,
      env: settings(service),
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#end = this.#read(onEvent ?? (() => {}));
  }

  /** The id of the process. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Opens a session and returns its id. */
  async newSession(): Promise<string> {
    const session = { cwd: "/", mcpServers: [] };
    const result = await this.#request("session/new", session);
    return (result as { sessionId: string }).sessionId;
  }

  /**
   * Runs a turn to its end.
   *
   * @throws If no other turn runs any more, and not every event of all came.
   */
  async prompt(sessionId: string, shape: Shape): Promise<void> {
    const prompt = [{ type: "text", text: JSON.stringify(shape) }];
    this.#missing += countEvents(shape);
    await this.#request("session/prompt", { sessionId, prompt });
    if (this.#pending.size > 0 || this.#missing === 0) return;
    throw new Error(`${this.#missing} events were lost`);
  }

  /** Stops reading the program's output and does not begin again. */
  stopReading(): void {
    this.#reads = false;
  }

  /** Closes the input, and waits until the program ends by itself. */
  async close(): Promise<void> {
    await this.#input.close().catch(() => {}); // It may have ended.
    await this.#end;
    await this.#child.status;
  }

  /** Kills the process. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.close();
  }

  async #request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(id, answer);
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    await this.#input.write(new TextEncoder().encode(line + "\n"));
    return await answer.promise;
  }

  async #read(onEvent: (line: Uint8Array) => void): Promise<void> {
    const scan = lineScanner((line) => {
      if (ANSWER.every((byte, index) => line[index] === byte)) {
        return this.#take(line);
      }
      if (Buffer.from(line.buffer, 0, line.length).includes(TITLE)) return;
      this.#missing--;
      onEvent(line);
    });
    for await (const chunk of this.#child.stdout) {
      scan(chunk);
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

/** The update with the title of a chat, which is no event. */
const TITLE = "session_info_update";

/** How answers begin. */
const ANSWER = new TextEncoder().encode('{"jsonrpc":"2.0","id":');

const NEWLINE = 0x0a;

/** The part of a line that is kept, in bytes. */
const HEAD_BYTES = 4096;

/**
 * Returns a function that finds lines in bytes, at little cost however long they are.
 *
 * @param onLine Called with the first 4 KiB of each line that is not blank. They are
 * valid until it returns.
 */
function lineScanner(
  onLine: (head: Uint8Array) => void,
): (chunk: Uint8Array) => void {
  const head = new Uint8Array(HEAD_BYTES);
  let length = 0;
  const keep = (part: Uint8Array) => {
    const kept = part.subarray(0, HEAD_BYTES - length);
    head.set(kept, length);
    length += kept.length;
  };
  return (chunk) => {
    let start = 0;
    for (let end; (end = chunk.indexOf(NEWLINE, start)) >= 0; start = end + 1) {
      keep(chunk.subarray(start, end));
      if (length > 0) onLine(head.subarray(0, length));
      length = 0;
    }
    keep(chunk.subarray(start));
  };
}
