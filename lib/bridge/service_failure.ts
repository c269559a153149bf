import { ServiceError } from "../gateway.ts";
import { type Redacted, type Redactor, safe } from "../text.ts";
import { ErrorCode, RpcError } from "./json_rpc.ts";

/** Converts the failure of a request to a JSON-RPC error, with a code for its method. */
export function toRpcError(error: unknown, method: string): RpcError {
  if (error instanceof RpcError) return error;
  const code = method === "session/new"
    ? ErrorCode.cannotOpenSession
    : ErrorCode.internalError;
  const message = error instanceof ServiceError
    ? error.wordsFor("client")
    : safe`Internal error`;
  // Clients start a new session if the details begin with these words.
  const details = isGone(error) ? safe`Session not found: ${message}` : message;
  return new RpcError(code, message, { cause: error, details });
}

/** Whether the service, and not a proxy, says that it does not know the thread. */
export function isGone(error: unknown): boolean {
  return error instanceof ServiceError && error.failure.isThreadGone === true;
}

/** The reason of an error in the log, where that of an unknown one is shown as well. */
export function logReason(
  { cause, message }: RpcError,
  redactor: Redactor,
): Redacted {
  if (cause === undefined) return message;
  if (cause instanceof ServiceError) return cause.wordsFor("log");
  return safe`${message}: ${redactor.show(String(cause))}`;
}
