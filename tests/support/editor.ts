import schema from "@agentclientprotocol/sdk/schema/v1/schema.json" with {
  type: "json",
};
import { assert, assertEquals, assertFalse } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import {
  Client,
  type ClientOptions,
  type ClientOutput,
} from "./client_process.ts";

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

/** Whether a message is a notification of the bridge. */
export function isUpdate(message: Message): message is Update {
  return "method" in message && !("id" in message);
}

/**
 * An editor: the program in bridge mode as a child process. Each line that
 * arrives has to be a message that the protocol's schema allows. It offers no
 * files unless a test does, and answers no request by itself.
 */
export class Editor implements AsyncDisposable {
  readonly client: Client;
  readonly #messages: Message[] = [];
  readonly #methods = new Map<unknown, string>();
  readonly #asked = new Set<unknown>();
  #read = 0; // characters of standard output
  #nextId = 1;

  constructor(options: ClientOptions = {}) {
    const { args = [] } = options;
    this.client = new Client({ ...options, args: ["--bridge", ...args] });
  }

  /** Every message that has arrived, in order. */
  get messages(): readonly Message[] {
    this.#take();
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

  /** Sends a raw line. */
  async sendLine(line: string): Promise<void> {
    this.#note(line);
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

  /** Resolves with the response to a request, as soon as it has arrived. */
  async response(id: unknown): Promise<Response> {
    return await this.waitFor((message): message is Response =>
      !("method" in message) && message.id === id
    );
  }

  /** Resolves with the first matching message, as soon as it has arrived. */
  async waitFor<T extends Message>(
    isMeant: (message: Message) => message is T,
  ): Promise<T> {
    for (let seen = 0;;) {
      const found = this.messages.slice(seen).find(isMeant);
      if (found !== undefined) return found;
      seen = this.#messages.length;
      await this.client.stdout.more(this.client.stdout.text.length);
    }
  }

  /** Resolves when an update with this text has arrived in a session. */
  async update(sessionId: string, text: string): Promise<Update> {
    return await this.waitFor((message): message is Update =>
      isUpdate(message) && message.params.sessionId === sessionId &&
      message.params.update.content.text === text
    );
  }

  /** Resolves with `count` requests of the bridge, as soon as they have arrived. */
  async questions(count: number): Promise<readonly Question[]> {
    for (;;) {
      const found = this.messages.filter(isQuestion);
      if (found.length >= count) return found;
      await this.client.stdout.more(this.client.stdout.text.length);
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
  async newSession(): Promise<string> {
    await this.request("initialize", { protocolVersion: 1 });
    const params = { cwd: "/", mcpServers: [] };
    const { result } = await this.request("session/new", params);
    return result.sessionId;
  }

  /** Sends a prompt and waits for its response. */
  async prompt(sessionId: string, text: string): Promise<Response> {
    const prompt = [{ type: "text", text }];
    return await this.request("session/prompt", { sessionId, prompt });
  }

  /** Ends the input and waits for the end. */
  async finish(): Promise<ClientOutput> {
    const output = await this.client.finish();
    this.#take();
    assertEquals(this.#read, output.stdout.length, "the last line is cut");
    return output;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
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

  /** Remembers the method of a request, to validate its result. */
  #note(line: string): void {
    try {
      const { id, method } = JSON.parse(line) ?? {};
      if (typeof method === "string") this.#methods.set(id, method);
    } catch {
      // Not JSON: it is not a request.
    }
  }

  #take(): void {
    const { text } = this.client.stdout;
    while (this.#read < text.length) {
      const end = text.indexOf("\n", this.#read);
      if (end < 0) break;
      const message = JSON.parse(text.slice(this.#read, end));
      this.#read = end + 1;
      this.#check(message);
      this.#messages.push(message);
    }
  }

  #check(message: Message): void {
    assertEquals(message.jsonrpc, "2.0");
    let violations;
    if (isQuestion(message)) {
      assert(!this.#asked.has(message.id), "an id is used twice");
      this.#asked.add(message.id);
      violations = requestViolations(message.method, message.params);
    } else if ("method" in message) {
      violations = notificationViolations(message.method, message.params);
    } else if (message.error !== undefined) {
      violations = errorViolations(message.error);
    } else {
      const method = this.#methods.get(message.id) ?? "";
      violations = resultViolations(method, message.result);
      // Some clients take a member that is `false` for an offer.
      if (method === "initialize") assertFalse(holdsFalse(message.result));
    }
    assertEquals(violations, "", JSON.stringify(message));
  }
}

/** Whether a value contains `false` anywhere. */
function holdsFalse(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === false;
  return Object.values(value).some(holdsFalse);
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");

/** The schema's definitions, by their method. */
const RESULTS = new Map<string, string>();
const NOTIFICATIONS = new Map<string, string>();
/** The requests that an agent may send to a client. */
const CLIENT_REQUESTS = new Map<string, string>();
for (const [name, definition] of Object.entries(schema.$defs)) {
  if (!("x-method" in definition)) continue;
  const method = definition["x-method"];
  if (name.endsWith("Response")) RESULTS.set(method, name);
  if (name.endsWith("Notification")) NOTIFICATIONS.set(method, name);
  if (name.endsWith("Request") && definition["x-side"] === "client") {
    CLIENT_REQUESTS.set(method, name);
  }
}

/** The schema violations in the result of a method; empty if there are none. */
export function resultViolations(method: string, result: unknown): string {
  const name = RESULTS.get(method);
  return name === undefined ? "" : violations(name, result);
}

/** The schema violations in an error. */
function errorViolations(error: unknown): string {
  return violations("Error", error);
}

/** The schema violations in the params of a request to a client. */
export function requestViolations(method: string, params: unknown): string {
  const name = CLIENT_REQUESTS.get(method);
  return name === undefined
    ? `${method} is not a request to a client`
    : violations(name, params);
}

/** The schema violations in the params of a notification. */
export function notificationViolations(
  method: string,
  params: unknown,
): string {
  const name = NOTIFICATIONS.get(method);
  return name === undefined
    ? `${method} is not a notification of the protocol`
    : violations(name, params);
}

function violations(name: string, value: unknown): string {
  const validate = ajv.getSchema(`acp#/$defs/${name}`);
  if (validate === undefined) throw new Error(`The schema lacks ${name}`);
  return validate(value) ? "" : `${name}: ${ajv.errorsText(validate.errors)}`;
}
