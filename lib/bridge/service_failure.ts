/**
 * Turns failures into the errors that the editor gets.
 *
 * @module
 */

import { ServiceError } from "../gateway.ts";
import { ErrorCode, RpcError } from "./json_rpc.ts";

/** The JSON-RPC error for a request that failed. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof ServiceError) {
    return new RpcError(ErrorCode.internalError, chatMessage(error), {
      cause: error,
      data: failureData(error),
    });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new RpcError(ErrorCode.internalError, `Internal error: ${reason}`, {
    cause: error,
  });
}

/** The error's data, for programs. `details` makes avante start a new session. */
function failureData(error: ServiceError): Readonly<Record<string, unknown>> {
  const { operation, status, threadId, runId } = error;
  const isThreadGone = operation === "create run" && status === 404 &&
    error.isJson;
  return {
    operation,
    ...status !== undefined && { status },
    ...threadId !== undefined && { threadId },
    ...runId !== undefined && { runId },
    ...isThreadGone && { details: "Session not found" },
  };
}

/** The operation that failed, in an editor's terms: a thread is a chat. */
const ATTEMPT = {
  "create thread": "start a chat",
  "create run": "start a run",
  "stream run": "follow the run",
} as const;

/** The message without thread and run, which are in the error's data. */
function chatMessage({ operation, reason }: ServiceError): string {
  const text = reason.replace("the thread may be gone", "the chat may be gone");
  return `Cannot ${ATTEMPT[operation]}: ${text}`;
}
