import { type Line, readEachLine } from "../io.ts";
import {
  holdsTooMuch,
  isJsonObject,
  MAX_SIGNS,
  parseJson,
  type Redacted,
  safe,
  size,
} from "../text.ts";

/** The most bytes of UTF-8 that a message may hold, a prompt in it included: 16 MiB. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The id of a request. A number beyond 2^53 is rounded, as JavaScript reads it. */
export type RequestId = string | number | null;

/** The error codes: those of JSON-RPC 2.0, section 5.1, and two more at the end. */
export const ErrorCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** ACP's code for a resource that does not exist; here: a session. */
  resourceNotFound: -32002,
  /** This program's own, because some clients hide the message of -32603 here. */
  cannotOpenSession: -32010,
} as const;

export interface RpcRequest {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
}

export interface RpcNotification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: unknown;
}

/** A line that is not a valid message, or a request that cannot be taken. */
interface InvalidLine {
  readonly kind: "invalid";
  readonly id: RequestId;
  readonly error: RpcError;
}

/** The peer's response to a request of ours, or to an id that we never sent. */
export interface RpcResponse {
  readonly kind: "response";
  readonly id: unknown;
  /** Missing if there is an error: then nothing of the response is used. */
  readonly result?: unknown;
  readonly fault?: Fault;
}

type Fault = "too long" | "too many parts" | "not UTF-8";

export type Incoming =
  | RpcRequest
  | RpcNotification
  | RpcResponse
  | InvalidLine;

export class RpcError extends Error {
  override readonly name = "RpcError";
  declare readonly message: Redacted;
  readonly code: number;
  /** All of the error's `data`: some clients show it in place of the message. */
  readonly details: Redacted | undefined;

  constructor(
    code: number,
    message: Redacted,
    options: ErrorOptions & { readonly details?: Redacted } = {},
  ) {
    super(message, options);
    this.code = code;
    this.details = options.details;
  }
}

/** The error for a message that is not a request, or comes at a wrong time. */
export function invalidRequest(reason: Redacted): RpcError {
  return new RpcError(
    ErrorCode.invalidRequest,
    safe`Invalid request: ${reason}`,
  );
}

export function invalidParams(reason: Redacted): RpcError {
  return new RpcError(ErrorCode.invalidParams, safe`Invalid params: ${reason}`);
}

/**
 * Reads the peer's messages, one from each line. Blank lines are skipped; a line
 * that is not a valid message yields an {@linkcode InvalidLine} and does not affect
 * the lines after it.
 */
export async function* readMessages(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Incoming> {
  const options = { maxBytes: MAX_MESSAGE_BYTES, isStrict: true };
  for await (const line of readEachLine(source, options)) {
    const message = messageIn(line);
    if (message !== undefined) yield message;
  }
}

function messageIn(line: Line): Incoming | undefined {
  const text = typeof line === "string" ? line : line.text;
  if (holdsTooMuch(text)) return refused(text, "too many parts");
  if (typeof line === "string") {
    return text.trim() === "" ? undefined : parseMessage(text);
  }
  // If it is not JSON even with U+FFFD, that is the error to report.
  const isNotJson = line.fault === "not UTF-8" && parseJson(text) === undefined;
  return isNotJson ? notJson() : refused(text, line.fault);
}

/** What follows the prompt, or the line, that cannot be taken, in an error. */
const FAULTS: Readonly<Record<Fault, Redacted>> = {
  "too long": safe`is larger than ${size(MAX_MESSAGE_BYTES)}`,
  "too many parts":
    safe`contains more than ${MAX_SIGNS} brackets, commas and colons`,
  "not UTF-8": safe`is not UTF-8`,
};

/** The part of a line that cannot be taken in which its id is looked for. */
const HEAD_LENGTH = 1024;

/**
 * Whether an invalid line is a response, or a request that needs an error. Only its
 * start is read: libraries write the id, the method and the kind of message there.
 */
function refused(line: string, fault: Fault): InvalidLine | RpcResponse {
  const head = line.slice(0, HEAD_LENGTH);
  const id = idIn(head);
  const [, kind = "method"] = /"(method|result|error)"\s*:/.exec(head) ?? [];
  if (kind !== "method") {
    return { kind: "response", id, fault };
  }
  const isPrompt = /"method"\s*:\s*"session\/prompt"/.test(head);
  return invalid(
    safe`the ${isPrompt ? "prompt" : "line"} ${FAULTS[fault]}`,
    id,
  );
}

/** The first id before `"params"` that is a whole string or number, else `null`. */
function idIn(head: string): RequestId {
  const [start = ""] = head.split('"params"', 1);
  const value = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|[-+.\deE]+)\s*[,}]/.exec(start);
  const id = parseJson(value?.[1] ?? "null");
  return isRequestId(id) ? id : null;
}

function parseMessage(line: string): Incoming {
  const message = parseJson(line);
  if (message === undefined) return notJson();
  if (!isJsonObject(message)) {
    return invalid(safe`the line is not a JSON object`);
  }
  const { id, method, params, result } = message;
  if (typeof method === "string") {
    if (id === undefined) return { kind: "notification", method, params };
    if (isRequestId(id)) return { kind: "request", id, method, params };
    return invalid(safe`id is not a string, a number or null`);
  }
  if (method === undefined && ("result" in message || "error" in message)) {
    return { kind: "response", id, result };
  }
  return invalid(safe`method is not a string`, isRequestId(id) ? id : null);
}

function notJson(): InvalidLine {
  const reason = safe`Parse error: the line is not valid JSON`;
  const error = new RpcError(ErrorCode.parseError, reason);
  return { kind: "invalid", id: null, error };
}

function invalid(reason: Redacted, id: RequestId = null): InvalidLine {
  return { kind: "invalid", id, error: invalidRequest(reason) };
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || Number.isFinite(id) || id === null;
}
