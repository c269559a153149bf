/**
 * Why a proxy did not connect to the service, in the user's words.
 *
 * @module
 */

import type { Proxy } from "../../settings.ts";
import { lookUp, UNREACHABLE, whatToCheck } from "./network_reasons.ts";

/** The reply codes with which SOCKS refuses (RFC 1928, 6), and what they mean. */
const FAILED = 1;
const FORBIDDEN = 2;
const REFUSED = 5;
const SOCKS_REASONS = [
  ...["", "it failed", "its rules forbid it", "it has no route there"],
  ...["it cannot find or reach the host", "it says: connection refused"],
  "it says: no answer in time",
];

/** A proxy did not connect to the service. */
export class TunnelError extends Error {
  readonly proxy: Proxy;
  readonly reason: string;
  readonly advice: string;
  /** Whether asking again would fail again. */
  readonly isFinal: boolean;
  /** The reply code of SOCKS for this failure. */
  readonly code: number;

  constructor(
    proxy: Proxy,
    {
      reason = "it closed the connection",
      advice = `check ${schemesOf(proxy)}`,
      isFinal = false,
      code = FAILED,
    }: Partial<Pick<TunnelError, "reason" | "advice" | "isFinal" | "code">> =
      {},
  ) {
    super();
    this.proxy = proxy;
    this.reason = reason;
    this.advice = advice;
    this.isFinal = isFinal;
    this.code = code;
  }

  /** The reason why a service with this origin cannot be reached. */
  reasonFor(origin: string): string {
    return `${origin} cannot be reached through the proxy ${this.proxy.origin} (${this.reason})`;
  }
}

/** What to check if the proxy refuses the service. */
function settingsOf({ variable }: Proxy): string {
  return `check the base URL, ${variable} and NO_PROXY`;
}

/** What to check if the proxy may speak another protocol. */
function schemesOf({ variable }: Proxy): string {
  return `${variable} (most proxies are named by http://, for https services, too, and those for SOCKS by socks5://)`;
}

/**
 * The error if no connection to the proxy could be made, or TLS not be set up.
 *
 * @param text Why, as the library says it.
 */
export function noConnection(proxy: Proxy, text: string): TunnelError {
  const settings = proxy.scheme === "https"
    ? schemesOf(proxy)
    : `${proxy.variable} and NO_PROXY`;
  const reason = lookUp(UNREACHABLE, text, new URL(proxy.origin));
  const advice = whatToCheck(text, settings);
  const code = /refused/i.test(text) ? REFUSED : FAILED;
  return new TunnelError(proxy, { reason, advice, code });
}

/** The error if the proxy does not speak the protocol of its URL. */
export function wrongProtocol(proxy: Proxy): TunnelError {
  const name = proxy.scheme.startsWith("socks") ? "SOCKS" : "HTTP";
  const reason = `it does not speak ${name}`;
  return new TunnelError(proxy, { reason, isFinal: true });
}

/**
 * The error if the proxy asks for a login, or rejects the one that it got.
 *
 * @param schemes How an HTTP proxy lets clients log in.
 */
export function loginFailure(
  proxy: Proxy,
  schemes: readonly string[] = [],
): TunnelError {
  const { variable, scheme, user, password } = proxy;
  const offered = schemes.join(", ");
  if (offered !== "" && !/\bbasic\b/i.test(offered)) {
    return new TunnelError(proxy, {
      reason:
        `it asks for a login by ${offered}, and this program speaks Basic alone`,
      advice:
        "put a proxy of your own in between that speaks it, such as px or cntlm",
      isFinal: true,
    });
  }
  const reason = user + password === ""
    ? "it asks for a user name and a password"
    : "it rejected the user name or the password";
  const advice =
    `check those in ${variable} (${scheme}://user:password@host:port)`;
  return new TunnelError(proxy, { reason, advice, isFinal: true });
}

/**
 * The error if an HTTP proxy answered with this status, and opened no tunnel.
 *
 * @param schemes As for {@linkcode loginFailure}.
 */
export function statusFailure(
  proxy: Proxy,
  status: number,
  schemes: readonly string[] = [],
): TunnelError {
  if (status === 407) return loginFailure(proxy, schemes);
  const isPage = status < 400 || status === 511;
  const reason = isPage
    ? `a web page came (status ${status}), perhaps the sign-in page of a network`
    : `it answered ${status}`;
  const isFinal = !isPage && status < 500;
  return new TunnelError(proxy, { reason, advice: settingsOf(proxy), isFinal });
}

/** The error if a SOCKS proxy refused with this code. */
export function socksFailure(proxy: Proxy, code: number): TunnelError {
  const reason = SOCKS_REASONS[code] ?? `it refused with code ${code}`;
  const isFinal = code === FORBIDDEN;
  const advice = settingsOf(proxy);
  return new TunnelError(proxy, { reason, advice, isFinal, code });
}
