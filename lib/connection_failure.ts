/**
 * Why a `fetch` or the reading of its body failed, from the layers of errors
 * that Deno puts around it.
 *
 * @module
 */

/** Whether the connection could not be made, so that nothing was sent. */
export function isUnreachable(error: unknown): boolean {
  return fullReason(error).includes("client error (Connect)");
}

/** Whether the connection was refused. */
export function isRefused(error: unknown): boolean {
  return isUnreachable(error) && /refused/i.test(fullReason(error));
}

/** The innermost reason, without the URL and the number of the system's error. */
export function connectionFailure(error: unknown): string {
  return fullReason(error)
    .replace(/^error sending request.*?: client error \(\w+\): /, "")
    .replace(/^tcp connect error: /, "")
    .replace(/ \(os error \d+\)$/, "");
}

function fullReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
