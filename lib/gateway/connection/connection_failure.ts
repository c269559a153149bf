import { DEFAULT_BASE_URL } from "../../settings.ts";
import { type Redactor, safe } from "../../text.ts";
import type { RemoteOperation } from "../failure/fate.ts";
import type { Failure } from "../failure/failure.ts";
import { certificateVariables } from "./certificates.ts";
import { CONNECTED, CONNECTING, MORE_FILES } from "./connection_rows.ts";
import {
  failureIn,
  isNotConnected,
  isOutOfFiles,
  reasonOf,
} from "./known_failures.ts";
import type { Route } from "./route.ts";

export interface ConnectionFailureOptions {
  readonly operation: RemoteOperation;
  readonly route: Pick<Route, "url" | "proxy" | "redactor">;
  /** Why the relay did not reach the service, if it did not. */
  readonly relayFailure?: Failure | undefined;
}

/** Why a request failed, by an error of `fetch`. */
export function connectionFailure(
  cause: unknown,
  options: ConnectionFailureOptions,
): Failure {
  const { operation, route: { url, redactor }, relayFailure } = options;
  if (relayFailure !== undefined || isNotConnected(cause)) {
    const known = relayFailure ?? failureIn(CONNECTING, cause, url, redactor);
    return cannotReach(known, options);
  }

  const known = failureIn(CONNECTED, cause, url, redactor);
  const isThread = known.stage === "perhaps taken" &&
    operation === "create thread";
  const usual = isThread
    ? safe`Check the base URL, or try again later`
    : undefined;
  return { ...known, advice: known.advice ?? usual };
}

/** @param known Why, in a few words. */
function cannotReach(
  known: Failure,
  { operation, route: { url, proxy, redactor } }: ConnectionFailureOptions,
): Failure {
  const origin = redactor.show(url.origin);
  if (url.origin === DEFAULT_BASE_URL) {
    return {
      stage: "refused",
      reason: safe`No service is configured: ${origin} is a placeholder`,
      advice: safe`Set APP_BASE_URL or --base-url to the URL of your service`,
    };
  }
  const through = proxy === undefined
    ? ""
    : safe` through the proxy ${redactor.show(proxy.origin)}`;
  // When a run is followed, the base URL has just worked.
  const usual = operation === "stream run"
    ? undefined
    : safe`Check the base URL, the network and the service`;
  return {
    ...known,
    reason: safe`${origin} cannot be reached${through} (${known.reason})`,
    advice: known.advice ?? usual,
  };
}

/** Why an HTTP client cannot be made. */
export function tlsSetupFailure(cause: unknown, redactor: Redactor): Failure {
  if (isOutOfFiles(cause)) return OUT_OF_FILES;
  const variables = certificateVariables(redactor);
  return {
    stage: "refused",
    reason: safe`TLS cannot be set up (${reasonOf(cause, redactor)})`,
    advice: variables && safe`Check ${variables}`,
  };
}

/** The program has no descriptor left. Other sessions return theirs. */
export const OUT_OF_FILES: Failure = {
  stage: "not sent",
  reason: safe`There are too many open files`,
  advice: MORE_FILES,
  problem: "too many open files",
};
