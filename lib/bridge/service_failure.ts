import { ServiceError, wordsOf } from "../gateway.ts";
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
  const message = wordsOf(error, "client");
  // Clients start a new session if the details begin with these words.
  const details = isGone(error) ? `Session not found: ${message}` : message;
  return new RpcError(code, message, { cause, details });
}

/** Whether the service, and not a proxy, says that it does not know the thread. */
export function isGone(error: unknown): boolean {
  return error instanceof ServiceError &&
    error.failure.threadGone === "certain";
}

export function logReason({ cause, message }: RpcError): string {
  return cause instanceof ServiceError ? wordsOf(cause, "log") : message;
}
