import type { Proxy } from "../../settings.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import { CONNECTING } from "./connection_rows.ts";
import { failureIn } from "./known_failures.ts";
import { joinSafe, type Redacted, type Redactor, safe } from "../../text.ts";

/** The schemes by which clients log in at a proxy, of those whose names are known. */
export const SCHEMES = [
  "Basic",
  "Digest",
  "NTLM",
  "Negotiate",
  "Bearer",
] as const;
export type Scheme = typeof SCHEMES[number];

/** What the reply codes mean with which SOCKS refuses (RFC 1928, 6). */
const SOCKS_REPLIES: Readonly<Record<number, Partial<Failure>>> = {
  2: { reason: safe`its rules forbid it`, stage: "refused" },
  3: { reason: safe`it has no route there`, problem: "no connection" },
  4: { reason: safe`it cannot find or reach the host` },
  5: {
    reason: safe`it says: connection refused`,
    problem: "connection refused",
  },
};

/** The error for a proxy. Without other parts, it closed the connection. */
export function tunnelError(
  proxy: Proxy,
  parts: Partial<Failure> = {},
): RequestError {
  return new RequestError({
    stage: "not sent",
    problem: "connection lost",
    reason: safe`it closed the connection`,
    advice: schemesOf(proxy),
    ...parts,
  });
}

/** What to check if the proxy refuses the service. */
function settingsOf({ variable }: Proxy): Redacted {
  return safe`Check the base URL, ${variable} and NO_PROXY`;
}

/** What to try if the proxy may speak another protocol. */
function schemesOf({ variable }: Proxy): Redacted {
  return safe`Try http:// or socks5:// in ${variable}`;
}

/** The error for a proxy that cannot be connected to, or fails the TLS handshake. */
export function noConnectionError(
  proxy: Proxy,
  cause: unknown,
  redactor: Redactor,
): RequestError {
  const url = new URL(proxy.origin);
  const { advice, ...failure } = failureIn(CONNECTING, cause, url, redactor);
  const usual = proxy.scheme === "https"
    ? schemesOf(proxy)
    : safe`Check ${proxy.variable} and NO_PROXY`;
  return tunnelError(proxy, { ...failure, advice: advice ?? usual });
}

export function protocolError(proxy: Proxy): RequestError {
  const name = proxy.scheme.startsWith("socks") ? "SOCKS" : "HTTP";
  const reason = safe`it does not speak ${name}`;
  return tunnelError(proxy, { reason, stage: "refused" });
}

/**
 * The error for a proxy that requires a login, or rejects the one that it got. Only HTTP
 * proxies name the authentication schemes that they offer.
 */
export function loginError(
  proxy: Proxy,
  schemes?: readonly Scheme[],
): RequestError {
  const { variable, scheme, user, password } = proxy;
  const it = schemes === undefined ? "it" : "it answered 407 and";
  if (schemes?.includes("Basic") === false && schemes.length > 0) {
    return tunnelError(proxy, {
      reason: safe`${it} offers ${joinSafe(schemes, ", ")}, not Basic`,
      advice: safe`Use a local proxy (px, cntlm)`,
      stage: "refused",
    });
  }
  const reason = user + password === ""
    ? safe`${it} requires a user name and a password`
    : safe`${it} rejected the user name or the password`;
  const advice =
    safe`Check those in ${variable} (${scheme}://user:password@host:port)`;
  return tunnelError(proxy, { reason, advice, stage: "refused" });
}

export function tunnelStatusError(
  proxy: Proxy,
  status: number,
  schemes: readonly Scheme[],
): RequestError {
  if (status === 407) return loginError(proxy, schemes);
  const mayChange = status >= 500 || status === 408 || status === 429;
  return tunnelError(proxy, {
    reason: safe`it answered ${status}`,
    advice: settingsOf(proxy),
    stage: mayChange ? "not sent" : "refused",
  });
}

export function socksError(proxy: Proxy, code: number): RequestError {
  return tunnelError(proxy, {
    reason: safe`it refused with code ${code}`,
    advice: settingsOf(proxy),
    ...SOCKS_REPLIES[code],
  });
}
