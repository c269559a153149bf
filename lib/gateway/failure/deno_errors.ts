/**
 * What the errors of Deno's `fetch` and TLS mean. Only their texts tell them apart.
 *
 * @module
 */

/**
 * The messages of Deno's errors that prove that the service did not take a request,
 * although a connection was made. A server that is being reloaded causes both:
 *
 * - The server closed the HTTP/2 connection with `GOAWAY` and `NO_ERROR` before it
 *   took the request (RFC 9113, 6.8). Debug data follow in parentheses. After a
 *   reset, the message begins with "stream error received". The service may have taken
 *   that request: HAProxy 2.6 resets some with `REFUSED_STREAM` after it passed them on.
 * - The connection was closed before hyper had passed the request to it
 *   (`client/dispatch.rs`).
 */
const NOT_TAKEN =
  /^connection (?:closed$|error received: not a result of an error(?: \(b"|$))/;

/** The messages of Deno's errors that prove that no connection or relay was made. */
const NOT_SENT =
  /client error \(Connect\)|^Fetch failed: Requests to port |^Too many open files|^Requires net access /;

/** How Deno's TLS says that the issuer of a certificate is not known. */
export const UNKNOWN_ISSUER = /^invalid peer certificate: UnknownIssuer$/;

/** Whether no connection was made, so that nothing was sent. */
export function isUnreachable(error: unknown): boolean {
  return NOT_SENT.test(fullReason(error));
}

/** Whether the connection was refused. */
export function isRefused(error: unknown): boolean {
  return isUnreachable(error) && /refused/i.test(fullReason(error));
}

/** Whether the error proves that the service did not take the request. */
export function isNotTaken(error: unknown): boolean {
  return NOT_TAKEN.test(innerReason(error));
}

/** The innermost reason, without the URL and the number of the system's error. */
export function innerReason(error: unknown): string {
  return fullReason(error)
    .replace(/^error sending request.*?: client error \(\w+\): /s, "")
    .replace(/ \(os error \d+\)$/, "");
}

/** The reason of a failure as the library gives it, with the URL. */
function fullReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
