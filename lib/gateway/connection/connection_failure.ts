import { environmentVariable } from "../../io.ts";
import type { Proxy } from "../../settings.ts";
import type { Redactor } from "../../text.ts";
import type { Operation } from "../failure/fate.ts";
import { type FailureParts, ServiceError } from "../failure/service_error.ts";
import { certificateVariables, issuerAdvice } from "./certificates.ts";
import { type KnownFailure, reasonOf, recognise } from "./known_failures.ts";

export interface ConnectionErrorOptions {
  readonly operation: Operation;
  readonly baseUrl: string;
  readonly redactor: Redactor;
  readonly proxy?: Pick<Proxy, "origin"> | undefined;
  /** Why the proxy did not connect to the service, if it did not. */
  readonly tunnel?: KnownFailure | undefined;
}

export function connectionError(
  cause: unknown,
  { operation, baseUrl, redactor, proxy, tunnel }: ConnectionErrorOptions,
): ServiceError {
  const url = new URL(baseUrl);
  const known = tunnel ?? recognise(cause, url);
  const { stage, isKnown } = known;
  const fail = (parts: Pick<FailureParts, "stage" | "reason" | "advice">) =>
    new ServiceError({
      ...parts,
      operation,
      retry: operation === "stream run" ? "connection lost" : known.retry,
    }, { cause });
  const reason = isKnown ? known.reason : redactor.show(known.reason);
  if (!known.isConnecting) {
    const isThread = stage === "open" && operation === "create thread";
    const usual = isThread ? "Check the base URL, or try again later" : "";
    return fail({
      stage,
      reason: isKnown
        ? reason
        : `The connection to ${url.origin} broke (${reason})`,
      advice: known.advice ?? usual,
    });
  }
  if (url.hostname.endsWith(".example")) {
    return fail({
      stage: "refused",
      reason: `No service is configured: ${url.origin} is a placeholder`,
      advice: "Set APP_BASE_URL or --base-url to the URL of your service",
    });
  }
  const hasOther = proxy === undefined &&
    ["http_proxy", "HTTP_PROXY"].some((name) => environmentVariable(name));
  const other = hasOther ? ", or set HTTPS_PROXY (only HTTP_PROXY is set)" : "";
  const way = proxy === undefined ? "" : ` through the proxy ${proxy.origin}`;
  // When a run is followed, the base URL has just worked.
  const usual = operation === "stream run"
    ? ""
    : `Check the base URL, the network and the service${other}`;
  return fail({
    stage,
    reason: `${url.origin} cannot be reached${way} (${reason})`,
    advice: known.advice ?? (known.isUnknownIssuer ? issuerAdvice() : usual),
  });
}

export function tlsSetupError(
  cause: unknown,
  operation: Operation,
): ServiceError {
  return new ServiceError({
    operation,
    stage: "refused",
    reason: `TLS cannot be set up (${reasonOf(cause)})`,
    advice: `Check ${certificateVariables()}`,
  }, { cause });
}
