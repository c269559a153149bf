/**
 * Turns failures into the errors that the editor gets.
 *
 * @module
 */

import { explain, ServiceError } from "../gateway.ts";
import { ErrorCode, RpcError } from "./json_rpc.ts";

/** Converts the failure of a request to a JSON-RPC error, with a code for its method. */
export function toRpcError(error: unknown, method: string): RpcError {
  if (error instanceof RpcError) return error;
  const code = method === "session/new"
    ? ErrorCode.cannotOpenSession
    : ErrorCode.internalError;
  const cause = error;
  if (!(error instanceof ServiceError)) {
    const reason = error instanceof Error ? error.message : String(error);
    const details = `Internal error: ${reason}`;
    return new RpcError(code, details, { cause, details });
  }
  const message = chatMessage(error);
  const { isThreadGone, isJson } = error.failure; // other answers may be a proxy's
  // Clients start a new session if the details begin with these words.
  const details = isThreadGone && isJson
    ? `Session not found: ${message}`
    : message;
  return new RpcError(code, message, { cause, details });
}

/** The operation that failed, in an editor's terms: a thread is a chat. */
const ATTEMPT = {
  "create thread": "start a chat",
  "create run": "start a run",
  "stream run": "follow the run",
} as const;

/** The message without thread and run, which are in the log. */
function chatMessage({ failure }: ServiceError): string {
  const advice = failure.isThreadGone
    ? "the chat may be gone: start a new one"
    : failure.advice;
  return `Cannot ${ATTEMPT[failure.operation]}: ${explain(failure, advice)}`;
}
