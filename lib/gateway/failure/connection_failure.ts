/**
 * Explains to the user why a `fetch`, or reading its body, failed. Deno gives the
 * reason as the failing library's text, in nested errors.
 *
 * @module
 */

import { plainLine, shownText } from "../../text.ts";
import { fullReason, innerReason } from "./library_error.ts";
import {
  BLOCKED,
  BROKEN,
  certificateFile,
  lookUp,
  UNREACHABLE,
  whatToCheck,
} from "./network_reasons.ts";
import {
  type Fate,
  type Operation,
  UNKNOWN_FATE,
  untakenFate,
} from "./fate.ts";
import { ConnectionError, ServiceError } from "./service_error.ts";
import type { TunnelError } from "./tunnel_failure.ts";

/**
 * The messages of Deno's errors that prove that the service did not take a request,
 * although a connection was made. A server that is being reloaded causes both:
 *
 * - The server closed the HTTP/2 connection with `GOAWAY` and `NO_ERROR` before it
 *   took the request (RFC 9113, 6.8). Debug data follow in parentheses. After a
 *   reset, the message begins with "stream error received", and the service may
 *   have taken the request.
 * - The connection was closed before hyper had passed the request to it
 *   (`client/dispatch.rs`).
 */
const NOT_TAKEN =
  /^connection (?:closed$|error received: not a result of an error(?: \(b"|$))/;

/** The messages of Deno's errors that prove that no connection or relay was made. */
const NOT_SENT =
  /client error \(Connect\)|^Fetch failed: Requests to port |^Too many open files|^Requires net access /;

/** What to check if the service cannot be reached. */
const SETTINGS = "the base URL, the network and the service";

/** Whether no connection was made, so that nothing was sent. */
function isUnreachable(error: unknown): boolean {
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

export interface ConnectionErrorOptions {
  readonly operation: Operation;
  /** The validated base URL of the service. */
  readonly baseUrl: string;
  /** The API key, which must not appear in the message. */
  readonly apiKey: string;
  /** Why the user's proxy did not connect to the service, if it did not. */
  readonly tunnelError?: TunnelError | undefined;
}

/**
 * The error for a connection that failed or broke.
 *
 * @param cause The rejection of `fetch` or of reading its body.
 */
export function connectionError(
  cause: unknown,
  { operation, baseUrl, apiKey, tunnelError }: ConnectionErrorOptions,
): ConnectionError {
  const url = new URL(baseUrl);
  const text = shownText(innerReason(cause), { apiKey });
  const fail = (reason: string, advice: string, fate: Fate) =>
    new ConnectionError({ operation, reason, advice, fate }, { cause });
  if (tunnelError === undefined && !isUnreachable(cause)) {
    if (isNotTaken(cause)) {
      return fail(
        `${url.origin} closes its connections before it takes a request, as a server does that is reloaded`,
        "",
        untakenFate(operation, "not run"),
      );
    }
    return fail(
      `the connection to ${url.origin} broke (${lookUp(BROKEN, text, url)})`,
      operation === "create thread"
        ? "check the base URL, or try again later"
        : "",
      UNKNOWN_FATE[operation],
    );
  }
  if (url.hostname.endsWith(".example")) {
    return fail(
      `no service is configured: ${url.origin} is a placeholder`,
      "set APP_BASE_URL or --base-url to the URL of your service",
      untakenFate(operation, "refused"),
    );
  }
  if (tunnelError !== undefined) {
    const { advice, isFinal } = tunnelError;
    const fate = untakenFate(operation, isFinal ? "refused" : "not run");
    return fail(tunnelError.reasonFor(url.origin), advice, fate);
  }
  return fail(
    `${url.origin} cannot be reached (${lookUp(UNREACHABLE, text, url)})`,
    // When a run is followed, the base URL has just worked.
    operation === "stream run" ? "" : whatToCheck(text, SETTINGS),
    untakenFate(operation, BLOCKED.test(text) ? "refused" : "not run"),
  );
}

/** The error for a TLS configuration that this machine cannot load. */
export function tlsSetupError(
  cause: unknown,
  operation: Operation,
): ServiceError {
  const file = certificateFile() ?? "no file";
  return new ServiceError({
    operation,
    reason: plainLine(`TLS cannot be set up (${innerReason(cause)})`),
    advice: `check DENO_CERT (${file}) and DENO_TLS_CA_STORE`,
    fate: untakenFate(operation, "refused"),
  }, { cause });
}
