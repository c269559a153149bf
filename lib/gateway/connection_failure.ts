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

/**
 * What to check on this machine, if the reason lies between it and the service:
 * a proxy, or a certificate that only the company's own authority vouches for.
 */
export function localAdvice(error: unknown): string | undefined {
  const reason = fullReason(error);
  if (/tunnel|proxy authentication/.test(reason)) {
    return "check the proxy (HTTPS_PROXY, NO_PROXY)";
  }
  if (reason.includes("UnknownIssuer")) {
    return "check the base URL, or trust the issuer of its certificate (DENO_TLS_CA_STORE=system, or DENO_CERT)";
  }
  return undefined;
}

/** The innermost reason, without the URL and the number of the system's error. */
export function connectionFailure(error: unknown): string {
  return fullReason(error)
    .replace(/^error sending request.*?: client error \(\w+\): /, "")
    .replace(/^tcp connect error: /, "")
    .replace(/^unsuccessful tunnel$/, "the proxy refused the connection")
    .replace(/ \(os error \d+\)$/, "");
}

function fullReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
