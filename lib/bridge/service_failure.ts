/**
 * Failures as the editor is told of them.
 *
 * @module
 */

import { ServiceError } from "../gateway.ts";
import { ErrorCode, RpcError } from "./json_rpc.ts";

/** The error that a request is answered with when it failed. */
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

/** What a program can use. `details` makes avante start a new session. */
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

/** The message in the words of an editor, where a thread is a chat. */
function chatMessage({ message }: ServiceError): string {
  return message
    .replace(/^Cannot create a thread: /, "Cannot start a chat: ")
    .replace(
      "(the thread may be gone: start a new one)",
      "(the chat may be gone: start a new one)",
    );
}
