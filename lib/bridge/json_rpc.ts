/**
 * JSON-RPC 2.0, one message per line: parses and formats the messages.
 *
 * @module
 */

import { lineFault, MAX_LINE_BYTES, readEachLine } from "../io.ts";
import { holdsTooMuch, isJsonObject, MAX_SIGNS, parseJson } from "../text.ts";

/** The id of a request: a `bigint` where a `number` would round it. */
export type RequestId = string | number | bigint | null;

/** The error codes: those of JSON-RPC 2.0, section 5.1, and two more at the end. */
export const ErrorCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** ACP's code for a resource that does not exist; here: a session. */
  resourceNotFound: -32002,
  /**
   * No session can be opened. The code is this program's own, because some clients
   * hide the message of -32603 there.
   */
  cannotOpenSession: -32010,
} as const;

/** A call that is answered. */
export interface RpcRequest {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
}

/** A call that is never answered. */
export interface RpcNotification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: unknown;
}

/** A line that is not a valid message. It is answered with the error. */
export interface InvalidLine {
  readonly kind: "invalid";
  readonly id: RequestId;
  readonly error: RpcError;
}

/** The peer's response to a request of ours, or to an id that we never sent. */
export interface RpcResponse {
  readonly kind: "response";
  readonly id: unknown;
  readonly result: unknown;
  /** `undefined` if there is none: some peers send `null` together with a result. */
  readonly error: unknown;
}

/** A message or an invalid line from the peer. */
export type Incoming =
  | RpcRequest
  | RpcNotification
  | RpcResponse
  | InvalidLine;

/** A message to the peer. `jsonrpc` is added when it is formatted. */
export type Outgoing =
  | { readonly id: RequestId; readonly result: unknown }
  | { readonly id: RequestId; readonly error: ErrorObject }
  | { readonly id: number; readonly method: string; readonly params: unknown }
  | { readonly method: string; readonly params: unknown };

/** The `error` of a response. */
export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly details: string };
}

/** An error that a request is answered with. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** One of {@linkcode ErrorCode}. */
  readonly code: number;
  /** All of the error's `data`: some clients show it in place of the message. */
  readonly #details: string | undefined;

  constructor(
    code: number,
    message: string,
    options: ErrorOptions & { readonly details?: string } = {},
  ) {
    super(message, options);
    this.code = code;
    this.#details = options.details;
  }

  /** The error as it is sent. */
  toObject(): ErrorObject {
    const { code, message } = this;
    return this.#details === undefined
      ? { code, message }
      : { code, message, data: { details: this.#details } };
  }
}

/** The error for a message that is not a request, or comes at a wrong time. */
export function invalidRequest(reason: string): RpcError {
  return new RpcError(ErrorCode.invalidRequest, `Invalid request: ${reason}`);
}

/** The error for params that a method cannot take. */
export function invalidParams(reason: string): RpcError {
  return new RpcError(ErrorCode.invalidParams, `Invalid params: ${reason}`);
}

/**
 * Reads the peer's messages, one from each line. Blank lines are skipped; a line
 * that is not a valid message yields an {@linkcode InvalidLine} and does not affect
 * the lines after it.
 */
export async function* readMessages(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Incoming> {
  for await (const line of readEachLine(source)) {
    const excess = lineFault(line) !== undefined
      ? `is longer than ${MAX_LINE_BYTES} bytes`
      : holdsTooMuch(line)
      ? `holds more than ${MAX_SIGNS} brackets, commas and colons`
      : undefined;
    if (excess !== undefined) yield invalid(`the line ${excess}`);
    else if (line.trim() !== "") yield parseMessage(line);
  }
}

function parseMessage(line: string): Incoming {
  const message = parseJson(line);
  if (message === undefined) {
    const reason = "Parse error: the line is not valid JSON";
    const error = new RpcError(ErrorCode.parseError, reason);
    return { kind: "invalid", id: null, error };
  }
  if (Array.isArray(message)) return invalid("batches are not supported");
  if (!isJsonObject(message)) return invalid("the line is not a JSON object");
  const { id, method, params, result, error } = withExactIds(message, line);
  if (typeof method === "string") {
    if (id === undefined) return { kind: "notification", method, params };
    if (isRequestId(id)) return { kind: "request", id, method, params };
    return invalid("id is not a string, a number or null");
  }
  if (method === undefined && ("result" in message || "error" in message)) {
    return { kind: "response", id, result, error: error ?? undefined };
  }
  return invalid("method is not a string", isRequestId(id) ? id : null);
}

function invalid(reason: string, id: RequestId = null): InvalidLine {
  return { kind: "invalid", id, error: invalidRequest(reason) };
}

/** What a reviver gets about a value. */
interface Context {
  /** The text of a number or literal. */
  readonly source?: string;
}

// TypeScript's library declares neither the reviver's context nor rawJSON().
const { parse, rawJSON } = JSON as unknown as {
  parse(
    json: string,
    reviver: (key: string, value: unknown, context: Context) => unknown,
  ): Readonly<Record<string, unknown>>;
  rawJSON(json: string): unknown;
};

/**
 * A message with the ids that `JSON.parse()` has rounded, and all other integers of
 * its line, exact: ACP ids are 64-bit integers. They stay rounded in a line that is
 * nested more than about 2,000 levels deep, where V8's stack is too small for a
 * reviver.
 *
 * @param message A parsed line.
 */
function withExactIds(
  message: Readonly<Record<string, unknown>>,
  line: string,
): Readonly<Record<string, unknown>> {
  const { id, params } = message;
  const requestId = isJsonObject(params) ? params.requestId : undefined;
  if (!isRounded(id) && !isRounded(requestId)) return message;
  try {
    return parse(
      line,
      (_, value, { source = "" }) =>
        isRounded(value) && LONG_INTEGER.test(source) ? BigInt(source) : value,
    );
  } catch {
    return message;
  }
}

/** At most 1,000 digits, because `BigInt()` takes quadratic time. */
const LONG_INTEGER = /^-?\d{1,1000}$/;

function isRounded(id: unknown): boolean {
  return typeof id === "number" && Math.abs(id) > Number.MAX_SAFE_INTEGER;
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || Number.isFinite(id) ||
    typeof id === "bigint" || id === null;
}

/** Formats a message as one line. */
export function formatMessage(message: Outgoing): string {
  const exact = "id" in message && typeof message.id === "bigint"
    ? { ...message, id: rawJSON(`${message.id}`) }
    : message;
  return JSON.stringify({ jsonrpc: "2.0", ...exact }) + "\n";
}
