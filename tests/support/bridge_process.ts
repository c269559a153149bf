import { TextLineStream } from "@std/streams/text-line-stream";
import {
  type ProcessUsage,
  processUsage,
} from "../../tools/bench/processes.ts";
import { commandLine, settings } from "./client_process.ts";

/** A message of the bridge. */
// deno-lint-ignore no-explicit-any -- what a test expects, it asserts
export type BridgeMessage = any;

/**
 * The program in bridge mode, for more messages than a test can keep: each
 * message is passed on when it arrives.
 */
export class BridgeProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<unknown, (response: BridgeMessage) => void>();
  readonly #ended: Promise<void>;
  readonly #encoder = new TextEncoder();
  #nextId = 1;

  /**
   * @param service The service's base URL.
   * @param onMessage Called with all messages except awaited responses.
   */
  constructor(
    service: { readonly url: string },
    onMessage: (message: BridgeMessage) => void = () => {},
  ) {
    const [program, ...args] = commandLine();
    this.#child = new Deno.Command(program, {
      args: [...args, "--bridge"],
      env: settings(service),
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#ended = this.#read(onMessage);
  }

  /** The resources that the process has used so far (Linux only). */
  usage(): Promise<ProcessUsage> {
    return processUsage(this.#child.pid);
  }

  /** The number of open sockets (Linux only). */
  async sockets(): Promise<number> {
    const { stdout } = await new Deno.Command("ls", {
      args: ["-l", `/proc/${this.#child.pid}/fd`],
    }).output();
    return new TextDecoder().decode(stdout).split(" socket:[").length - 1;
  }

  /** Resolves when the system has accepted these bytes. */
  async write(text: string | Uint8Array): Promise<void> {
    await this.#input.write(
      typeof text === "string" ? this.#encoder.encode(text) : text,
    );
  }

  /** Sends a request and waits for its response. */
  request(method: string, params?: unknown): Promise<BridgeMessage> {
    return this.start(method, params).response;
  }

  /** Sends a request. */
  start(
    method: string,
    params?: unknown,
  ): { readonly id: number; readonly response: Promise<BridgeMessage> } {
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<BridgeMessage>();
    this.#waiting.set(id, resolve);
    this.#ended.then(() => reject(new Error(`"${method}" was not answered`)));
    promise.catch(() => {}); // The caller that awaits it gets the error.
    this.#send({ id, method, params });
    return { id, response: promise };
  }

  /** Sends a notification. */
  notify(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  /** Sends `initialize` and `session/new`; returns the id of the session. */
  async newSession(): Promise<string> {
    await this.request("initialize");
    return (await this.request("session/new")).result.sessionId;
  }

  /** Ends the input and waits for the end; returns the exit code. */
  async finish(): Promise<number> {
    await this.#input.close();
    await this.#ended;
    return (await this.#child.status).code;
  }

  /** Kills the process if it has not ended yet. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    this.#input.abort().catch(() => {});
    await this.#ended;
    await this.#child.status;
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
      .catch(() => {}); // It has ended, and so no response comes.
  }

  async #read(onMessage: (message: BridgeMessage) => void): Promise<void> {
    const lines = this.#child.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    for await (const line of lines) {
      const message = JSON.parse(line);
      const resolve = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (resolve) resolve(message);
      else onMessage(message);
    }
  }
}
