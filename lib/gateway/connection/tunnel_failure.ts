import type { Proxy } from "../../settings.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import { issuerAdvice } from "./certificates.ts";
import { isUnknownIssuer, whyNotConnected } from "./known_failures.ts";
import { FORBIDDEN, REFUSED } from "./socks.ts";

/** What the reply codes mean with which SOCKS refuses (RFC 1928, 6). */
const SOCKS_REASONS: Readonly<Record<number, string>> = {
  1: "it failed",
  [FORBIDDEN]: "its rules forbid it",
  3: "it has no route there",
  4: "it cannot find or reach the host",
  [REFUSED]: "it says: connection refused",
  6: "it says: timed out",
};

/** The error for a proxy. Without other parts, it closed the connection. */
export function tunnelError(
  proxy: Proxy,
  parts: Partial<Failure> = {},
): RequestError {
  return new RequestError({
    stage: "not sent",
    problem: "connection lost",
    reason: "it closed the connection",
    advice: schemesOf(proxy),
    ...parts,
  });
}

/** What to check if the proxy refuses the service. */
function settingsOf({ variable }: Proxy): string {
  return `Check the base URL, ${variable} and NO_PROXY`;
}

/** What to try if the proxy may speak another protocol. */
function schemesOf({ variable }: Proxy): string {
  return `Try http:// or socks5:// in ${variable}`;
}

/** The error for a proxy that cannot be connected to, or fails the TLS handshake. */
export function noConnection(proxy: Proxy, cause: unknown): RequestError {
  const url = new URL(proxy.origin);
  const { advice, ...failure } = whyNotConnected(cause, url);
  const usual = isUnknownIssuer(cause) ? issuerAdvice() : connectAdvice(proxy);
  return tunnelError(proxy, { ...failure, advice: advice ?? usual });
}

function connectAdvice(proxy: Proxy): string {
  return proxy.scheme === "https"
    ? schemesOf(proxy)
    : `Check ${proxy.variable} and NO_PROXY`;
}

export function wrongProtocol(proxy: Proxy): RequestError {
  const name = proxy.scheme.startsWith("socks") ? "SOCKS" : "HTTP";
  const reason = `it does not speak ${name}`;
  return tunnelError(proxy, { reason, stage: "refused" });
}

/**
 * The error for a proxy that requires a login, or rejects the one that it got. Only HTTP
 * proxies name the authentication schemes that they offer.
 */
export function loginFailure(
  proxy: Proxy,
  schemes?: readonly string[],
): RequestError {
  const { variable, scheme, user, password } = proxy;
  const it = schemes === undefined ? "it" : "it answered 407 and";
  if (schemes?.includes("Basic") === false && schemes.length > 0) {
    return tunnelError(proxy, {
      reason: `${it} offers ${schemes.join(", ")}, not Basic`,
      advice: "Use a local proxy (px, cntlm)",
      stage: "refused",
    });
  }
  const reason = user + password === ""
    ? `${it} requires a user name and a password`
    : `${it} rejected the user name or the password`;
  const advice =
    `Check those in ${variable} (${scheme}://user:password@host:port)`;
  return tunnelError(proxy, { reason, advice, stage: "refused" });
}

export function statusFailure(
  proxy: Proxy,
  status: number,
  schemes: readonly string[],
): RequestError {
  if (status === 407) return loginFailure(proxy, schemes);
  const isPage = status < 400 || status === 511;
  const reason = isPage
    ? `it answered ${status} with a web page, perhaps a sign-in page`
    : `it answered ${status}`;
  const mayChange = isPage || status >= 500 || status === 408 || status === 429;
  return tunnelError(proxy, {
    reason,
    advice: settingsOf(proxy),
    stage: mayChange ? "not sent" : "refused",
  });
}

export function socksFailure(proxy: Proxy, code: number): RequestError {
  const reason = SOCKS_REASONS[code] ?? `it refused with code ${code}`;
  return tunnelError(proxy, {
    reason,
    advice: settingsOf(proxy),
    stage: code === FORBIDDEN ? "refused" : "not sent",
    problem: code === REFUSED ? "connection refused" : "connection lost",
  });
}
