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
  type Failure,
  type Operation,
  ServiceError,
  UNKNOWN_FATE,
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
  options: ConnectionErrorOptions,
): ConnectionError {
  const { operation, baseUrl, apiKey, tunnelError } = options;
  const attempt = { ...options, url: new URL(baseUrl) };
  const text = shownText(innerReason(cause), { apiKey });
  const failure = tunnelError !== undefined || isUnreachable(cause)
    ? unreachable(text, attempt)
    : isNotTaken(cause)
    ? notTaken(attempt)
    : broken(text, attempt);
  return new ConnectionError({ operation, ...failure }, { cause });
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
  const [reason, advice] = system === undefined
    ? [
      `TLS cannot be set up (${text})`,
      "check DENO_CERT and DENO_TLS_CA_STORE",
    ]
    : [
      `the file ${file} that DENO_CERT names cannot be read (${system})`,
      "check DENO_CERT",
    ];
  const failure = { operation, reason: plainLine(reason), advice };
  const fate = operation === "stream run" ? "may go on" : "refused";
  return new ServiceError({ ...failure, fate }, { cause });
}

/** The request that failed, and its destination. */
interface Attempt extends ConnectionErrorOptions {
  readonly url: URL;
}

type Explanation = Pick<Failure, "reason" | "advice" | "fate">;

function unreachable(
  text: string,
  { operation, url, tunnelError }: Attempt,
): Explanation {
  const isStream = operation === "stream run";
  if (url.hostname.endsWith(".example")) {
    return {
      reason: `no service is configured: ${url.origin} is a placeholder`,
      advice: "set APP_BASE_URL or --base-url to the URL of your service",
      fate: isStream ? "may go on" : "refused",
    };
  }
  const isProxy = tunnelError !== undefined;
  const { reason, check, isFinal = false, isOnThisMachine = isProxy } =
    tunnelError?.finding ?? lookUp(UNREACHABLE, text, url);
  const way = isProxy ? ` through the proxy ${tunnelError.proxy.origin}` : "";
  return {
    reason: `${url.origin} cannot be reached${way} (${reason})`,
    // When a run is followed, the base URL has just worked.
    advice: isStream && !isOnThisMachine ? "" : check,
    fate: isStream ? "may go on" : isFinal ? "refused" : "not run",
  };
}

function notTaken({ operation, url }: Attempt): Explanation {
  const reason =
    `${url.origin} closes its connections before it takes a request, as a server does that is reloaded`;
  const fate = operation === "stream run" ? "may go on" : "not run";
  return { reason, fate };
}

function broken(text: string, { operation, url }: Attempt): Explanation {
  const { reason, check } = lookUp(BROKEN, text, url);
  const whole = `the connection to ${url.origin} broke (${reason})`;
  const advice = operation === "create thread" ? check : "";
  return { reason: whole, advice, fate: UNKNOWN_FATE[operation] };
}
