/**
 * Turns failures into the errors that the editor gets.
 *
 * @module
 */

import { explain, ServiceError } from "../gateway.ts";
import { ErrorCode, RpcError } from "./json_rpc.ts";

/** The JSON-RPC error for a request that failed. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (!(error instanceof ServiceError)) {
    const reason = error instanceof Error ? error.message : String(error);
    return new RpcError(ErrorCode.internalError, `Internal error: ${reason}`, {
      cause: error,
    });
  }
  const code = error.failure.operation === "create thread"
    ? ErrorCode.cannotOpenSession
    : ErrorCode.internalError;
  return new RpcError(code, chatMessage(error), {
    cause: error,
    data: failureData(error),
  });
}

/** The error's data, for programs. `details` makes avante start a new session. */
function failureData({ failure }: ServiceError): Record<string, unknown> {
  const { operation, status, threadId, runId } = failure;
  return {
    operation,
    ...status !== undefined && { status },
    ...threadId !== undefined && { threadId },
    ...runId !== undefined && { runId },
    ...failure.isThreadGone && failure.isJson &&
      { details: "Session not found" },
  };
}

/** The operation that failed, in an editor's terms: a thread is a chat. */
const ATTEMPT = {
  "create thread": "start a chat",
  "create run": "start a run",
  "stream run": "follow the run",
} as const;

/** The message without thread and run, which are in the error's data. */
function chatMessage({ failure }: ServiceError): string {
  const advice = failure.isThreadGone
    ? "the chat may be gone: start a new one"
    : failure.advice;
  return `Cannot ${ATTEMPT[failure.operation]}: ${explain(failure, advice)}`;
}
