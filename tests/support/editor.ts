import schema from "@agentclientprotocol/sdk/schema/v1/schema.json" with {
  type: "json",
};
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { setImmediate } from "node:timers/promises";
import { runBridge } from "../../lib/bridge.ts";
import {
  Client,
  type ClientOptions,
  type ClientOutput,
} from "./client_process.ts";
import { FakeGateway } from "./fake_gateway.ts";
import { soon } from "./waits.ts";

/** A message of the bridge: a response, an update or a question. */
export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: unknown;
  readonly method?: string;
  // deno-lint-ignore no-explicit-any -- what a test expects, it asserts
  readonly params?: any;
  // deno-lint-ignore no-explicit-any
  readonly result?: any;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly details: string };
  };
}

/** Whether a message is an update with a content: not a notice. */
export function isUpdate({ params }: Message): boolean {
  return params?.update?.content !== undefined;
}

/** Whether a message is a request of the bridge. */
function isQuestion({ id, method }: Message): boolean {
  return method !== undefined && id !== undefined;
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
  readonly #responses = new Map<string, Message>(); // by the ids of the requests
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
    if (this.#violation !== undefined) throw this.#violation;
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

  /** Sends a raw line. A request in it has to be answered. */
  async sendLine(line: string): Promise<void> {
    const { id, method } = parsed(line) ?? {};
    const isRequest = method !== undefined &&
      (typeof id === "string" || typeof id === "number");
    if (isRequest) this.#methods.set(JSON.stringify(id), method);
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

  /** Resolves with what `find` returns, as soon as messages let it find something. */
  waitFor<T>(find: () => T | undefined): Promise<T> {
    return soon(this.#waitFor(find), () => {
      const last = this.#messages.slice(-3).map((message) =>
        JSON.stringify(message)
      );
      return `${find}, the last messages: ${last.join("\n") || "none"}`;
    });
  }

  async #waitFor<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      void this.messages; // throws if one of them is not valid
      const found = find();
      if (found !== undefined) return found;
      assert(!this.#hasEnded, "the bridge has ended");
      await this.#arrival.promise;
    }
  }

  /** Resolves with the first response to a request. */
  async response(id: unknown): Promise<Message> {
    const key = JSON.stringify(id);
    const response = await this.waitFor(() => this.#responses.get(key));
    if (this.#onMessage !== undefined) this.#responses.delete(key);
    return response;
  }

  /** Resolves when an update with this text has arrived; line ends do not count. */
  async update(sessionId: string, text: string): Promise<void> {
    await this.waitFor(() =>
      this.#messages.find(({ params }) =>
        params?.sessionId === sessionId &&
        params.update?.content?.text.trimEnd() === text.trimEnd()
      )
    );
  }

  /** Resolves with `count` questions of the bridge, as soon as they have arrived. */
  async questions(count: number): Promise<readonly Message[]> {
    return await this.waitFor(() => {
      const found = this.#messages.filter(isQuestion);
      return found.length < count ? undefined : found;
    });
  }

  /** Answers a question of the bridge. */
  async answer({ id }: Message, result: unknown): Promise<void> {
    await this.sendLine(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }

  /** Sends a request and waits for its response. */
  async request(method: string, params?: unknown): Promise<Message> {
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
  async prompt(sessionId: string, text: string): Promise<Message> {
    return await this.response(await this.sendPrompt(sessionId, text));
  }

  /** Sends a prompt: a text and links to these URIs; returns its id. */
  async sendPrompt(
    sessionId: string,
    text: string,
    ...uris: readonly string[]
  ): Promise<number> {
    const type = "resource_link";
    const links = uris.map((uri) => ({ type, name: "f", uri }));
    const prompt = [{ type: "text", text }, ...links];
    return await this.send("session/prompt", { sessionId, prompt });
  }

  /** Ends the input, and waits for the end. Every request has to be answered by then. */
  async finish(): Promise<ClientOutput> {
    const output = await this.close();
    void this.messages; // throws if one of them is not valid
    assertEquals(this.#unread, "", "the last line is cut");
    assertEquals(this.#methods, new Map(), "requests were not answered");
    return output;
  }

  /** Takes bytes of the bridge. */
  protected receive(text: string): void {
    const lines = text.split("\n");
    lines[0] = this.#unread + lines[0];
    this.#unread = lines.pop() ?? "";
    try {
      for (const line of lines) this.#take(JSON.parse(line));
    } catch (error) {
      this.#violation ??= error;
    }
    this.#arrive();
  }

  /** Takes the end of the bridge's output. */
  protected end(): void {
    this.#hasEnded = true;
    this.#arrive();
  }

  #arrive(): void {
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  }

  #take(message: Message): void {
    const { jsonrpc, id, method, params, result, error } = message;
    assertEquals(jsonrpc, "2.0");
    if (method === undefined) {
      const key = JSON.stringify(id);
      const asked = this.#methods.get(key);
      assert(this.#methods.delete(key) || id === null, `${key} was not asked`);
      if (error !== undefined) assertValid("Error", error);
      else assertValid(NAMES.get(`${asked} Response`), result);
      if (!this.#responses.has(key)) this.#responses.set(key, message);
    } else {
      const kind = id === undefined ? "Notification" : "Request";
      const name = NAMES.get(`${method} ${kind}`);
      assert(name, `the schema lacks ${method}`);
      assertValid(name, params);
    }
    if (this.#onMessage === undefined) this.#messages.push(message);
    else if (method !== undefined) this.#onMessage(message);
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

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
  }

  protected override async close(): Promise<ClientOutput> {
    return await this.client.finish();
  }
}

/** An editor with a bridge in this process, in front of a service in memory. */
export class MemoryEditor extends Connection {
  readonly gateway = new FakeGateway();
  readonly #ended: Promise<void>;
  readonly #input = new TransformStream<Uint8Array, Uint8Array>();
  readonly #writer = this.#input.writable.getWriter();
  #reading = Promise.withResolvers<void>();

  constructor() {
    super(undefined);
    const decoder = new TextDecoder();
    const write = async (chunk: Uint8Array) => {
      await this.#reading.promise;
      this.receive(decoder.decode(chunk, { stream: true }));
    };
    this.resume();
    const { gateway } = this;
    const stdin = this.#input.readable;
    this.#ended = runBridge({ stdin, stdout: { write }, gateway })
      .finally(() => this.end());
  }

  override write(bytes: string | Uint8Array): Promise<void> {
    const isText = typeof bytes === "string";
    this.#writer.write(isText ? new TextEncoder().encode(bytes) : bytes);
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
    this.#writer.close();
    await this.#ended;
    return { code: 0, stdout: "", stderr: "" };
  }
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");

/** The names of the schema's definitions for what an agent sends, by method and kind. */
const NAMES = new Map<string, string>();
for (const [name, definition] of Object.entries(schema.$defs)) {
  const [kind] = /(Response|Notification|Request)$/.exec(name) ?? [];
  if (!("x-method" in definition)) continue;
  const sides = [kind === "Response" ? "agent" : "client", "protocol"];
  if (!sides.includes(definition["x-side"])) continue;
  NAMES.set(`${definition["x-method"]} ${kind}`, name);
}

/** Asserts that a value is as the schema says; the bridge's own methods are not in it. */
function assertValid(name: string | undefined, value: unknown): void {
  if (name === undefined) return;
  const validate = ajv.getSchema(`acp#/$defs/${name}`);
  assert(validate, `the schema lacks ${name}`);
  if (validate(value)) return;
  const why = ajv.errorsText(validate.errors);
  throw new Error(`${name}: ${why}: ${JSON.stringify(value)}`);
}

function parsed(line: string): Partial<Message> | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
