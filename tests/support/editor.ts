import schema from "@agentclientprotocol/sdk/schema/v1/schema.json" with {
  type: "json",
};
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import {
  Client,
  type ClientOptions,
  type ClientOutput,
} from "./client_process.ts";
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

/**
 * What a bridge writes. Each line has to be a message that the protocol's schema allows,
 * and each request has to be answered once.
 */
export class Messages {
  readonly #onRequest: ((message: Message) => void) | undefined;
  readonly #messages: Message[] = [];
  readonly #methods = new Map<string, unknown>(); // of requests without an answer
  #unread = ""; // the beginning of a line
  #violation: unknown;

  /**
   * @param onRequest Called with each message that is no response. Then only responses
   * are kept: there may be more of the others than memory.
   */
  constructor(onRequest?: (message: Message) => void) {
    this.#onRequest = onRequest;
  }

  /** Every message that has arrived, in order. */
  get messages(): readonly Message[] {
    if (this.#violation !== undefined) throw this.#violation;
    return this.#messages;
  }

  /** Takes note of a line for the bridge: a request in it has to be answered. */
  expectAnswer(line: string): void {
    const { id, method } = parsed(line) ?? {};
    const isRequest = method !== undefined &&
      (typeof id === "string" || typeof id === "number");
    if (isRequest) this.#methods.set(JSON.stringify(id), method);
  }

  /** Takes a text of the bridge. */
  receive(text: string): void {
    const lines = text.split("\n");
    lines[0] = this.#unread + lines[0];
    this.#unread = lines.pop() ?? "";
    try {
      for (const line of lines) this.#take(JSON.parse(line));
    } catch (error) {
      this.#violation ??= error;
    }
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
    } else {
      const kind = id === undefined ? "Notification" : "Request";
      const name = NAMES.get(`${method} ${kind}`);
      assert(name, `the schema lacks ${method}`);
      assertValid(name, params);
      if (this.#onRequest !== undefined) return this.#onRequest(message);
    }
    this.#messages.push(message);
  }

  /** Asserts, at the end, that no line is cut and no request without an answer. */
  assertComplete(): void {
    void this.messages; // throws if one of them is not valid
    assertEquals(this.#unread, "", "the last line is cut");
    assertEquals(this.#methods, new Map(), "requests were not answered");
  }
}

interface EditorOptions extends ClientOptions {
  /** As for {@linkcode Messages}. Then the output is not kept, either. */
  readonly onRequest?: (message: Message) => void;
}

/**
 * An editor with the program in bridge mode as a child process. It offers no files unless
 * a test does, and answers no request by itself.
 */
export class Editor extends Messages implements AsyncDisposable {
  readonly client: Client;
  #nextId = 1;
  #arrival = Promise.withResolvers<void>();
  #hasEnded = false;

  constructor({ onRequest, args = [], ...options }: EditorOptions = {}) {
    super(onRequest);
    this.client = new Client({
      ...options,
      args: ["--bridge", ...args],
      onStdout: (text) => {
        this.receive(text);
        this.#arrive();
      },
      keepsStdout: onRequest === undefined,
    });
    this.client.stdout.all().then(() => {
      this.#hasEnded = true;
      this.#arrive();
    });
  }

  #arrive(): void {
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  }

  /** The texts of a session's updates of one kind, in order. */
  texts(sessionId: string, kind: string): string[] {
    return this.messages.map(({ params }) => params)
      .filter((params) => params?.sessionId === sessionId)
      .filter(({ update }) => update?.sessionUpdate === kind)
      .map(({ update }) => update.content.text);
  }

  /** The progress that a session has shown, in order, without line ends. */
  steps(sessionId: string): string[] {
    return this.texts(sessionId, "agent_thought_chunk")
      .map((text) => text.trimEnd());
  }

  /** Sends a raw line. A request in it has to be answered. */
  async sendLine(line: string): Promise<void> {
    this.expectAnswer(line);
    await this.client.write(`${line}\n`);
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
      const last = this.messages.slice(-3).map((it) => JSON.stringify(it));
      return `${find}, the last messages: ${last.join("\n") || "none"}`;
    }, 120_000);
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
    return await this.waitFor(() =>
      this.messages.find((it) => it.id === id && it.method === undefined)
    );
  }

  /** Resolves when an update with this text has arrived; line ends do not count. */
  async update(sessionId: string, text: string): Promise<void> {
    await this.waitFor(() =>
      this.messages.find(({ params }) =>
        params?.sessionId === sessionId &&
        params.update?.content?.text.trimEnd() === text.trimEnd()
      )
    );
  }

  /** Sends a request and waits for its response. */
  async request(method: string, params?: unknown): Promise<Message> {
    return await this.response(await this.send(method, params));
  }

  /** Sends `initialize` and `session/new`; returns the id of the session. */
  async newSession(offers: unknown = { protocolVersion: 1 }): Promise<string> {
    await this.request("initialize", offers);
    const params = { cwd: "/", mcpServers: [] };
    const { result, error } = await this.request("session/new", params);
    assert(result, error?.message);
    return result.sessionId;
  }

  /** Sends a prompt and waits for its response. */
  async prompt(sessionId: string, text: string): Promise<Message> {
    return await this.response(await this.sendPrompt(sessionId, text));
  }

  /** Sends a prompt; returns its id. */
  async sendPrompt(sessionId: string, text: string): Promise<number> {
    const prompt = [{ type: "text", text }];
    return await this.send("session/prompt", { sessionId, prompt });
  }

  /** Ends the input, and waits for the end. Every request has to be answered by then. */
  async finish(): Promise<ClientOutput> {
    const output = await this.client.finish();
    this.assertComplete();
    return output;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
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
