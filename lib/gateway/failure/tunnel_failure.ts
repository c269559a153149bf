/**
 * Why a proxy did not connect to the service, in the user's words.
 *
 * @module
 */

import type { Proxy } from "../../settings.ts";
import {
  type Finding,
  howToTrust,
  isUnknownIssuer,
  lookUp,
  UNREACHABLE,
} from "./network_reasons.ts";

/** Codes by which SOCKS refuses (RFC 1928, 6), and what they mean. */
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
  readonly finding: Finding;
  /** The code by which SOCKS says so. */
  readonly code: number;

  /** @param finding By default, the connection was closed; to check are the settings. */
  constructor(
    proxy: Proxy,
    finding: Partial<Finding> = {},
    code: number = FAILED,
  ) {
    super();
    const reason = "it closed the connection";
    const check = `check the base URL, ${proxy.variable} and NO_PROXY`;
    this.proxy = proxy;
    this.finding = { reason, check, ...finding };
    this.code = code;
  }
}

/**
 * There is no connection to the proxy, or no TLS with it.
 *
 * @param text Why, as the library says it.
 */
export function noConnection(proxy: Proxy, text: string): TunnelError {
  const url = new URL(proxy.origin);
  const { reason, check, isOnThisMachine } = lookUp(UNREACHABLE, text, url);
  const advice = isUnknownIssuer(text)
    ? `check ${proxy.variable}, or ${howToTrust()}`
    : isOnThisMachine
    ? check
    : proxy.scheme === "https"
    ? schemeAdvice(proxy)
    : `check ${proxy.variable} and NO_PROXY`;
  const code = /refused/i.test(text) ? REFUSED : FAILED;
  return new TunnelError(proxy, { reason, check: advice }, code);
}

/** The proxy does not speak the protocol of its URL. */
export function wrongProtocol(proxy: Proxy): TunnelError {
  const name = proxy.scheme.startsWith("socks") ? "SOCKS" : "HTTP";
  const reason = `it does not speak ${name}`;
  const check = schemeAdvice(proxy);
  return new TunnelError(proxy, { reason, check, isFinal: true });
}

function schemeAdvice({ variable }: Proxy): string {
  return `check ${variable}: most proxies are named by http://, for https services, too, and those for SOCKS by socks5://`;
}

/**
 * The proxy needs a login, or another one.
 *
 * @param schemes How an HTTP proxy lets clients log in.
 */
export function loginFailure(
  proxy: Proxy,
  schemes: readonly string[] = [],
): TunnelError {
  const { variable, scheme, user, password } = proxy;
  const offered = schemes.join(", ");
  const isSpoken = offered === "" || /\bbasic\b/i.test(offered);
  const reason = !isSpoken
    ? `it asks for a login by ${offered}, and this program speaks Basic alone`
    : user + password === ""
    ? "it asks for a user name and a password"
    : "it rejected the user name or the password";
  const check = isSpoken
    ? `check those in ${variable} (${scheme}://user:password@host:port)`
    : "put a proxy of your own in between that speaks it, such as px or cntlm";
  return new TunnelError(proxy, { reason, check, isFinal: true });
}

/** An HTTP proxy answered so, and opened no tunnel. */
export function statusFailure(
  proxy: Proxy,
  { status, schemes }: {
    readonly status: number;
    readonly schemes: readonly string[];
  },
): TunnelError {
  if (status === 407) return loginFailure(proxy, schemes);
  const isPage = status < 400 || status === 511;
  const reason = isPage
    ? `a web page came (status ${status}), perhaps the sign-in page of a network`
    : `it answered ${status}`;
  return new TunnelError(proxy, { reason, isFinal: !isPage && status < 500 });
}

/** A SOCKS proxy refused with this code. */
export function socksFailure(proxy: Proxy, code: number): TunnelError {
  const reason = SOCKS_REASONS[code] ?? `it refused with code ${code}`;
  const isFinal = code === FORBIDDEN;
  return new TunnelError(proxy, { reason, isFinal }, code);
}
