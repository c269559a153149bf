/**
 * Explains to the user why a `fetch`, or reading its body, failed. Deno gives the
 * reason as the failing library's text, in nested errors.
 *
 * @module
 */

import { plainLine, shownText } from "../../text.ts";
import {
  BROKEN,
  certificateFile,
  fullReason,
  innerReason,
  isUnknownIssuer,
  lookUp,
  UNREACHABLE,
} from "./network_reasons.ts";
import {
  ConnectionError,
  type Fate,
  type Operation,
  ServiceError,
  UNKNOWN_FATE,
  untakenFate,
} from "./service_error.ts";
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

/** Deno's errors before a connection, or the relay to a proxy, was made. */
const NOT_SENT =
  /client error \(Connect\)|^Fetch failed: Requests to port |^Too many open files|^Requires net access /;

/** A port that `fetch` does not connect to. */
const BLOCKED = /^Fetch failed: Requests to port /;

/** Whether no connection was made, so that nothing was sent. */
function isUnreachable(error: unknown): boolean {
  return NOT_SENT.test(fullReason(error));
}

/** Whether the connection was refused. */
export function isRefused(error: unknown): boolean {
  return isUnreachable(error) && /refused/i.test(fullReason(error));
}

/** Whether no request was sent because the certificate's issuer is not known. */
export function isUntrusted(error: unknown): boolean {
  return isUnreachable(error) && isUnknownIssuer(innerReason(error));
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
  const peer = { name: "the service", url, settings: "the base URL" } as const;
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
    const { reason, check } = lookUp(BROKEN, text, peer);
    return fail(
      `the connection to ${url.origin} broke (${reason})`,
      operation === "create thread" ? check : "",
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
  const { reason, check } = tunnelError?.finding ??
    lookUp(UNREACHABLE, text, peer);
  const way = tunnelError && ` through the proxy ${tunnelError.proxy.origin}`;
  const isFinal = tunnelError?.isFinal ?? BLOCKED.test(text);
  // When a run is followed, the base URL has just worked.
  const hasWorked = operation === "stream run" && tunnelError === undefined;
  return fail(
    `${url.origin} cannot be reached${way ?? ""} (${reason})`,
    hasWorked ? "" : check,
    untakenFate(operation, isFinal ? "refused" : "not run"),
  );
}

/** The error for a TLS configuration that this machine cannot load. */
export function tlsSetupError(
  cause: unknown,
  operation: Operation,
): ServiceError {
  const text = innerReason(cause);
  const [, system] =
    /^(?:Failed opening CA file|Unable to add pem file .*): (.*)$/
      .exec(text) ?? [];
  const file = certificateFile() ?? "of certificates";
  const reason = system === undefined
    ? `TLS cannot be set up (${text})`
    : `the file ${file} that DENO_CERT names cannot be read (${system})`;
  const advice = system === undefined
    ? "check DENO_CERT and DENO_TLS_CA_STORE"
    : "check DENO_CERT";
  const fate = untakenFate(operation, "refused");
  const failure = { operation, reason: plainLine(reason), advice, fate };
  return new ServiceError(failure, { cause });
}
