/**
 * Explains to the user why a `fetch`, or reading its body, failed. Deno gives the
 * reason as the failing library's text, in nested errors.
 *
 * @module
 */

import { plainLine, shownText } from "../../text.ts";
import { innerReason, isNotTaken, isUnreachable } from "./deno_errors.ts";
import {
  BLOCKED,
  BROKEN,
  lookUp,
  UNREACHABLE,
  whatToCheck,
} from "./network_reasons.ts";
import { certificateFile } from "../http/certificates.ts";
import {
  type Fate,
  type Operation,
  UNKNOWN_FATE,
  untakenFate,
} from "./fate.ts";
import { ConnectionError, ServiceError } from "./service_error.ts";
import type { TunnelError } from "./tunnel_failure.ts";

/** What to check if the service cannot be reached. */
const SETTINGS = "the base URL, the network and the service";

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
