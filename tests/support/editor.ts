import schema from "@agentclientprotocol/sdk/schema/v1/schema.json" with {
  type: "json",
};
import { assert, assertEquals, assertFalse } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { setImmediate } from "node:timers/promises";
import { runBridge, type RunBridgeOptions } from "../../lib/bridge.ts";
import {
  Client,
  type ClientOptions,
  type ClientOutput,
} from "./client_process.ts";
import { FakeGateway } from "./fake_gateway.ts";

/** A response of the bridge. */
export interface Response {
  readonly jsonrpc: "2.0";
  readonly id: unknown;
  // deno-lint-ignore no-explicit-any -- what a test expects, it asserts
  readonly result?: any;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: unknown;
  };
}

/** A notification of the bridge. */
export interface Update {
  readonly jsonrpc: "2.0";
  readonly method: "session/update";
  readonly params: {
    readonly sessionId: string;
    readonly update: {
      readonly sessionUpdate: string;
      readonly messageId: string;
      readonly content: { readonly type: string; readonly text: string };
      readonly _meta?: { readonly node: string; readonly status: string };
    };
  };
}

/** A request of the bridge. */
export interface Question {
  readonly jsonrpc: "2.0";
  readonly id: unknown;
  readonly method: "fs/read_text_file";
  readonly params: { readonly sessionId: string; readonly path: string };
}

/** Any message of the bridge. */
export type Message = Response | Update | Question;

/** Whether a message is a request of the bridge. */
export function isQuestion(message: Message): message is Question {
  return "method" in message && "id" in message;
}

/** Whether a message is a notification of the bridge with a content: not a notice. */
export function isUpdate(message: Message): message is Update {
  return "method" in message && !("id" in message) &&
    "update" in message.params && "content" in message.params.update;
}

/** The params of `initialize` from an editor that offers to read files. */
export const READS_FILES = {
  protocolVersion: 1,
  clientCapabilities: { fs: { readTextFile: true } },
};

/**
 * The editor's end of a connection. Each line that arrives has to be a message
 * that the protocol's schema allows, and each request has to be answered once. It
 * offers no files unless a test does, and answers no request by itself.
 */
abstract class Connection implements AsyncDisposable {
  readonly #onMessage: ((message: Message) => void) | undefined;
  readonly #messages: Message[] = [];
  readonly #methods = new Map<string, unknown>(); // of requests without an answer
  readonly #responses = new Map<string, PromiseWithResolvers<Response>>();
  readonly #asked = new Set<unknown>();
  #unread = ""; // the beginning of a line
  #nextId = 1;
  #arrival = Promise.withResolvers<void>();
  #violation: unknown;
  #hasEnded = false;

  /**
   * @param onMessage Called with each message that is not the response to a
   * request. Then no message is kept: there may be more of them than memory.
   */
  constructor(onMessage: ((message: Message) => void) | undefined) {
    this.#onMessage = onMessage;
  }

  /** Sends bytes that may be any part of a line. */
  abstract write(bytes: string | Uint8Array): Promise<void>;

  protected abstract close(): Promise<ClientOutput>;

  abstract [Symbol.asyncDispose](): Promise<void>;

  /** Every message that has arrived, in order. */
  get messages(): readonly Message[] {
    this.#verify();
    return this.#messages;
  }

  /** The texts of a session's updates of one kind, in order. */
  texts(sessionId: string, kind: string): string[] {
    return this.messages
      .filter(isUpdate)
      .map(({ params }) => params)
      .filter((params) => params.sessionId === sessionId)
      .filter(({ update }) => update.sessionUpdate === kind)
      .map(({ update }) => update.content.text);
  }

  /** The progress that a session has shown, in order, without line ends. */
  steps(sessionId: string): string[] {
    return this.texts(sessionId, "agent_thought_chunk")
      .map((text) => text.trimEnd());
  }

  /** Sends a raw line. */
  async sendLine(line: string): Promise<void> {
    this.#expect(line);
    await this.write(`${line}\n`);
  }

  /** Sends a request; returns its id. */
  async send(method: string, params?: unknown): Promise<number> {
    const id = this.#nextId++;
    const message = { jsonrpc: "2.0", id, method, params };
    await this.sendLine(JSON.stringify(message));
    return id;
  }

  /** Sends a notification. */
  async notify(method: string, params?: unknown): Promise<void> {
    await this.sendLine(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Resolves with the response to a request, as soon as it has arrived. */
  async response(id: unknown): Promise<Response> {
    this.#verify();
    const key = JSON.stringify(id);
    const { promise, reject } = this.#responseTo(key);
    if (this.#hasEnded) reject(new Error("The bridge has ended"));
    const response = await promise;
    if (this.#onMessage !== undefined) this.#responses.delete(key);
    return response;
  }

  /** Resolves with the first matching message, as soon as it has arrived. */
  async waitFor<T extends Message>(
    isMeant: (message: Message) => message is T,
  ): Promise<T> {
    for (let seen = 0;;) {
      const found = this.messages.slice(seen).find(isMeant);
      if (found !== undefined) return found;
      seen = this.#messages.length;
      await this.more();
    }
  }

  /** Resolves when more messages have arrived. */
  async more(): Promise<void> {
    assertFalse(this.#hasEnded, "the bridge has ended");
    await this.#arrival.promise;
    this.#verify();
  }

  /** Resolves when an update with this text has arrived; line ends do not count. */
  async update(sessionId: string, text: string): Promise<Update> {
    return await this.waitFor((message): message is Update =>
      isUpdate(message) && message.params.sessionId === sessionId &&
      message.params.update.content.text.trimEnd() === text.trimEnd()
    );
  }

  /** Resolves with `count` requests of the bridge, as soon as they have arrived. */
  async questions(count: number): Promise<readonly Question[]> {
    for (;;) {
      const found = this.messages.filter(isQuestion);
      if (found.length >= count) return found;
      await this.more();
    }
  }

  /** Answers a request of the bridge. */
  async answer({ id }: Question, result: unknown): Promise<void> {
    await this.sendLine(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }

  /** Answers a request of the bridge with an error. */
  async refuse({ id }: Question, message: string): Promise<void> {
    const error = { code: -32603, message };
    await this.sendLine(JSON.stringify({ jsonrpc: "2.0", id, error }));
  }

  /** Sends a request and waits for its response. */
  async request(method: string, params?: unknown): Promise<Response> {
    return await this.response(await this.send(method, params));
  }

  /** Sends `initialize` and `session/new`; returns the id of the session. */
  async newSession(offers: unknown = { protocolVersion: 1 }): Promise<string> {
    await this.request("initialize", offers);
    const params = { cwd: "/", mcpServers: [] };
    const { result } = await this.request("session/new", params);
    return result.sessionId;
  }

  /** Sends a prompt and waits for its response. */
  async prompt(sessionId: string, text: string): Promise<Response> {
    return await this.response(await this.sendPrompt(sessionId, text));
  }

  /** Sends a prompt: a text and links to these URIs; returns its id. */
  async sendPrompt(
    sessionId: string,
    text: string,
    ...uris: readonly string[]
  ): Promise<number> {
    const links = uris.map((uri) => ({
      type: "resource_link",
      name: "f",
      uri,
    }));
    const prompt = [{ type: "text", text }, ...links];
    return await this.send("session/prompt", { sessionId, prompt });
  }

  /**
   * Sends these last bytes, ends the input, and waits for the end. Every request
   * has to be answered by then.
   */
  async finish(rest = ""): Promise<ClientOutput> {
    for (const line of rest.split("\n")) this.#expect(line);
    await this.write(rest).catch(() => {}); // It has ended.
    const output = await this.close();
    this.#verify();
    assertEquals(this.#unread, "", "the last line is cut");
    assertEquals(this.#methods, new Map(), "requests were not answered");
    return output;
  }

  /** Takes bytes of the bridge. */
  protected receive(text: string): void {
    const end = text.lastIndexOf("\n");
    if (end < 0) {
      this.#unread += text;
      return;
    }
    const lines = this.#unread + text.slice(0, end);
    this.#unread = text.slice(end + 1);
    try {
      for (const line of lines.split("\n")) this.#take(JSON.parse(line));
    } catch (error) {
      this.#fail(error);
    }
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  }

  /** Takes the end of the bridge's output. */
  protected end(): void {
    this.#hasEnded = true;
    const error = new Error("The bridge has ended");
    for (const { reject } of this.#responses.values()) reject(error);
    this.#arrival.reject(error);
    this.#arrival.promise.catch(() => {}); // Perhaps nobody waits.
  }

  #fail(violation: unknown): void {
    this.#violation ??= violation;
    for (const { reject } of this.#responses.values()) reject(violation);
  }

  #verify(): void {
    if (this.#violation !== undefined) throw this.#violation;
  }

  /** Remembers a request, which has to be answered. */
  #expect(line: string): void {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return; // It is answered without an id.
    }
    const { id, method } = message ?? {};
    const isRequest = method !== undefined &&
      (typeof id === "string" || typeof id === "number");
    if (isRequest) this.#methods.set(JSON.stringify(id), method);
  }

  #responseTo(key: string): PromiseWithResolvers<Response> {
    let response = this.#responses.get(key);
    if (response === undefined) {
      response = Promise.withResolvers();
      response.promise.catch(() => {}); // Perhaps nobody waits.
      this.#responses.set(key, response);
    }
    return response;
  }

  #take(message: Message): void {
    assert(message.jsonrpc === "2.0");
    if (!("method" in message)) this.#takeResponse(message);
    else if (message.method as string === "$/cancel_request") {
      assertValidAs("CancelRequestNotification", message.params);
    } else assertValid(isQuestion(message) ? QUESTIONS : UPDATES, message);
    if (isQuestion(message)) {
      assertFalse(this.#asked.has(message.id), "an id is used twice");
      this.#asked.add(message.id);
    }
    if (this.#onMessage === undefined) this.#messages.push(message);
    else if ("method" in message) this.#onMessage(message);
  }

  #takeResponse(message: Response): void {
    const key = JSON.stringify(message.id);
    const { id, result, error } = message;
    const method = this.#methods.get(key);
    assert(this.#methods.delete(key) || id === null, `${key} was not asked`);
    if (error !== undefined) assertValidAs("Error", error);
    else if (RESULTS.has(method)) assertValidAs(RESULTS.get(method), result);
    // Some clients take a member that is `false` for an offer.
    if (method === "initialize") assertFalse(holdsFalse(result));
    this.#responseTo(key).resolve(message);
  }
}

export interface EditorOptions extends ClientOptions {
  /**
   * Called with each message that is not the response to a request. Then neither
   * messages nor output are kept.
   */
  readonly onMessage?: (message: Message) => void;
}

/** An editor with the program in bridge mode as a child process. */
export class Editor extends Connection {
  readonly client: Client;

  constructor({ onMessage, args = [], ...options }: EditorOptions = {}) {
    super(onMessage);
    this.client = new Client({
      ...options,
      args: ["--bridge", ...args],
      onStdout: (text) => this.receive(text),
      keepsStdout: onMessage === undefined,
    });
    this.client.stdout.all().then(() => this.end());
  }

  override async write(bytes: string | Uint8Array): Promise<void> {
    await this.client.write(bytes);
  }

  /** The connection as bytes, for a library that writes one message per chunk. */
  get streams(): {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
  } {
    const decoder = new TextDecoder();
    return {
      readable: ReadableStream.from(this.#bytes()),
      writable: new WritableStream({
        write: (chunk) => this.sendLine(decoder.decode(chunk).trimEnd()),
      }),
    };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
  }

  protected override async close(): Promise<ClientOutput> {
    return await this.client.finish();
  }

  async *#bytes(): AsyncGenerator<Uint8Array> {
    const { stdout } = this.client;
    const encoder = new TextEncoder();
    for (let sent = 0;;) {
      const ended = await stdout.more(sent).then(() => false, () => true);
      if (ended) return;
      const { text } = stdout;
      yield encoder.encode(text.slice(sent));
      sent = text.length;
    }
  }
}

/** An editor with a bridge in this process, in front of a service in memory. */
export class MemoryEditor extends Connection {
  readonly gateway = new FakeGateway();
  /** What the bridge has written. */
  stdout = "";
  readonly #ended: Promise<void>;
  #input: ReadableStreamDefaultController<Uint8Array> | undefined;
  #reading = Promise.withResolvers<void>();

  constructor(options: Pick<RunBridgeOptions, "log"> = {}) {
    super(undefined);
    const stdin = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#input = controller),
    });
    const decoder = new TextDecoder();
    const write = async (chunk: Uint8Array) => {
      await this.#reading.promise;
      const text = decoder.decode(chunk, { stream: true });
      this.stdout += text;
      this.receive(text);
    };
    this.resume();
    const { gateway } = this;
    this.#ended = runBridge({ ...options, stdin, stdout: { write }, gateway })
      .finally(() => this.end());
  }

  override write(bytes: string | Uint8Array): Promise<void> {
    const isText = typeof bytes === "string";
    this.#input?.enqueue(isText ? new TextEncoder().encode(bytes) : bytes);
    return Promise.resolve();
  }

  /** Stops reading what the bridge writes. */
  pause(): void {
    this.#reading.resolve(); // for who waits already
    this.#reading = Promise.withResolvers();
  }

  /** Reads on after {@linkcode pause}. */
  resume(): void {
    this.#reading.resolve();
  }

  /** Resolves when no work is pending. In memory this takes no time. */
  async rest(): Promise<void> {
    await setImmediate();
    void this.messages; // throws if one of them is not valid
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.rest();
  }

  protected override async close(): Promise<ClientOutput> {
    this.#input?.close();
    await this.#ended;
    return { code: 0, stdout: this.stdout, stderr: "" };
  }
}

/** Whether a value contains `false` anywhere. */
function holdsFalse(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === false;
  return Object.values(value).some(holdsFalse);
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");

/** The names of the schema's definitions, by their methods. */
type Definitions = Map<unknown, string>;
const RESULTS: Definitions = new Map();
const UPDATES: Definitions = new Map();
const QUESTIONS: Definitions = new Map();
for (const [name, definition] of Object.entries(schema.$defs)) {
  if (!("x-method" in definition)) continue;
  const method = definition["x-method"];
  if (name.endsWith("Response")) RESULTS.set(method, name);
  if (name.endsWith("Notification")) UPDATES.set(method, name);
  if (name.endsWith("Request") && definition["x-side"] === "client") {
    QUESTIONS.set(method, name);
  }
}

function assertValid(definitions: Definitions, message: Update | Question) {
  assertValidAs(definitions.get(message.method), message.params);
}

function assertValidAs(name: string | undefined, value: unknown): void {
  const validate = ajv.getSchema(`acp#/$defs/${name}`);
  assert(validate, `the schema lacks ${name}`);
  if (validate(value)) return;
  const why = ajv.errorsText(validate.errors);
  throw new Error(`${name}: ${why}: ${JSON.stringify(value)}`);
}
