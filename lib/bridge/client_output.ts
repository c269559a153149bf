import type { ProgressEvent } from "../gateway.ts";
import { type ByteSink, type LineInParts, LineWriter, pause } from "../io.ts";
import { escapeControls, inParts, jsonLine, safe } from "../text.ts";
import { type ClientFeatures, NO_FEATURES } from "./capabilities.ts";
import {
  ErrorCode,
  type ErrorObject,
  type RequestId,
  type RpcError,
} from "./json_rpc.ts";
import {
  message,
  type Said,
  type SessionUpdate,
  thought,
} from "./session_updates.ts";

/**
 * How long a response keeps its distance from the updates before it, in milliseconds.
 * The response resolves a promise in some client libraries before they have handled the
 * updates that came just before it, so that users miss the reply: of 40 prompts, 9 to 15
 * with the Python library (0.7.0). With 10 ms in between, none.
 */
const DISTANCE = 10;

/** The version of JSON-RPC, a member of every message. */
const jsonrpc = "2.0";

/**
 * Everything that the bridge writes to standard output goes through here: one message a
 * line, in a form that the client can take.
 */
export class ClientOutput {
  readonly #lines: LineWriter;
  /** The client's last `initialize`. */
  client: ClientFeatures = NO_FEATURES;

  constructor(stdout: ByteSink) {
    this.#lines = new LineWriter(stdout);
  }

  /** Rejects with whatever standard output rejects with. */
  get failed(): Promise<never> {
    return this.#lines.failed;
  }

  respond(id: RequestId, result: unknown): void {
    this.#lines.write(jsonLine({ jsonrpc, id, result }));
  }

  fail(id: RequestId, error: RpcError): void {
    const line = jsonLine({ jsonrpc, id, error: this.#errorFor(error) });
    this.#lines.write(line);
  }

  request(id: number, method: string, params: unknown): void {
    this.#lines.write(jsonLine({ jsonrpc, id, method, params }));
  }

  notify(method: string, params: unknown): void {
    this.#lines.write(jsonLine({ jsonrpc, method, params }));
  }

  /**
   * Sends an update as soon as there is room for it, unless the signal is aborted then.
   * Returns whether it was sent: a large one when it is written, so that the memory for
   * the next one is not needed before.
   */
  update(
    sessionId: string,
    update: SessionUpdate,
    signal?: AbortSignal,
  ): boolean | Promise<boolean> {
    return this.#sendUpdate(jsonLine(updateOf(sessionId, update)), signal);
  }

  /** The same for the update about a progress event. */
  progress(
    lines: ProgressLines,
    event: ProgressEvent,
    signal?: AbortSignal,
  ): boolean | Promise<boolean> {
    return this.#sendUpdate(lines.lineOf(event), signal);
  }

  /** The same for a message, whose text may be long. */
  say(
    sessionId: string,
    said: Said,
    signal?: AbortSignal,
  ): boolean | Promise<boolean> {
    return this.#sendUpdate(new MessageLine(sessionId, said), signal);
  }

  #sendUpdate(
    line: string | LineInParts,
    signal?: AbortSignal,
  ): boolean | Promise<boolean> {
    const isSent = this.#lines.writeInTurn(line, signal);
    return this.#lines.hasBacklog ? this.#whenWritten(isSent) : isSent;
  }

  async #whenWritten(sent: boolean | Promise<boolean>): Promise<boolean> {
    const isSent = await sent;
    if (isSent) await this.#lines.written();
    return isSent;
  }

  /** Resolves when a response may follow the updates that were sent so far. */
  async keepDistance(): Promise<void> {
    await this.#lines.written();
    await pause(DISTANCE);
  }

  /** Whether everything is written. */
  get isIdle(): boolean {
    return this.#lines.isIdle;
  }

  /** Resolves when at most 1 MiB waits to be written. */
  room(): Promise<void> {
    return this.#lines.room();
  }

  /** Resolves when everything is written; rejects if it cannot be. */
  flush(): Promise<void> {
    return this.#lines.flush();
  }

  /** Zed shows `data` of these errors as JSON, after the same words. */
  #errorFor(error: RpcError): ErrorObject {
    const { code, message, data } = error.toObject();
    const isShownTwice = this.client.isZed &&
      code === ErrorCode.cannotOpenSession;
    return isShownTwice || data === undefined
      ? { code, message }
      : { code, message, data };
  }
}

/** How much of a message is formatted at a time, in UTF-16 code units. */
const PART_LENGTH = 64 * 1024;

/** The line of the update with a message. */
class MessageLine implements LineInParts {
  readonly #start: string;
  readonly #text: string;
  readonly #end: string;

  constructor(sessionId: string, said: Said) {
    const update = message({ ...said, text: BLANK });
    const [start = "", end = ""] = lineOf(updateOf(sessionId, update)).split(
      BLANK,
    );
    this.#start = start;
    this.#text = said.text;
    this.#end = end;
  }

  get length(): number {
    return this.#start.length + this.#text.length + this.#end.length;
  }

  *[Symbol.iterator](): Generator<string> {
    yield this.#start;
    for (const part of inParts(this.#text, PART_LENGTH)) {
      yield withinString(part);
    }
    yield this.#end;
  }
}

/** Stands for a text in a line. It is random, so that no foreign text contains it. */
const BLANK = crypto.randomUUID();
const IN_NAME = safe`${BLANK}`;

/**
 * The lines of the updates about progress, which differ only in the names of their
 * events. The rest is formatted once for a prompt: formatting all of it for each event
 * would take half as long as everything else that is done for an event.
 */
export class ProgressLines {
  readonly #parts: readonly string[];

  constructor(sessionId: string, messageId: string) {
    const event = { type: "progress", node: IN_NAME, status: IN_NAME } as const;
    const line = lineOf(updateOf(sessionId, thought(messageId, event)));
    this.#parts = line.split(BLANK);
  }

  lineOf({ node, status }: ProgressEvent): string {
    const [inNode, inStatus] = [withinString(node), withinString(status)];
    // The text of the update comes first, then the two names.
    const [start, colon, toNode, toStatus, end] = this.#parts;
    return `${start}${inNode}${colon}${inStatus}${toNode}${inNode}${toStatus}${inStatus}${end}`;
  }
}

function updateOf(sessionId: string, update: SessionUpdate): object {
  const params = { sessionId, update };
  return { jsonrpc, method: "session/update", params };
}

/**
 * Formats a message as one line. Characters that end a line for some readers (U+0085,
 * U+2028 and U+2029 for Python's `splitlines()`, the last two for the readline of
 * Node.js 24) are escaped.
 */
function lineOf(message: object): string {
  return `${jsonOf(message)}\n`;
}

/** Printable ASCII without quotes and backslashes, which needs no escape in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Formats a text as it stands in JSON between the quotes. */
function withinString(text: string): string {
  if (PLAIN.test(text)) return text;
  return jsonOf(text).slice(1, -1);
}

function jsonOf(value: unknown): string {
  return escapeControls(JSON.stringify(value));
}
