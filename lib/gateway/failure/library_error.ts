/** How Deno's TLS says that the issuer of a certificate is not known. */
export const UNKNOWN_ISSUER = /^invalid peer certificate: UnknownIssuer$/;

/** The innermost reason, without the URL and the number of the system's error. */
export function innerReason(error: unknown): string {
  return fullReason(error)
    .replace(/^error sending request.*?: client error \(\w+\): /s, "")
    .replace(/ \(os error \d+\)$/, "");
}

/** The reason of a failure as the library gives it, with the URL. */
export function fullReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
