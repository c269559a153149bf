import type { Proxy } from "../../settings.ts";
import { issuerAdvice } from "./certificates.ts";
import { type KnownFailure, recogniseConnecting } from "./known_failures.ts";

/** The reply codes with which SOCKS refuses (RFC 1928, 6), and what they mean. */
const FORBIDDEN = 2;
const REFUSED = 5;
const SOCKS_REASONS = [
  ...["", "it failed", "its rules forbid it", "it has no route there"],
  ...["it cannot find or reach the host", "it says: connection refused"],
  "it says: no answer in time",
];

/** A proxy did not connect to the service. */
export class TunnelError extends Error {
  readonly failure: KnownFailure;

  /** Without other parts, the proxy closed the connection. */
  constructor(proxy: Proxy, parts: Partial<KnownFailure> = {}) {
    super();
    this.failure = {
      ...{ phase: "connecting", stage: "not sent", isKnown: true },
      reason: "it closed the connection",
      advice: `check ${schemesOf(proxy)}`,
      ...parts,
    };
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

/** The error if no connection to the proxy could be made, or TLS not be set up. */
export function noConnection(proxy: Proxy, cause: unknown): TunnelError {
  const settings = proxy.scheme === "https"
    ? schemesOf(proxy)
    : `${proxy.variable} and NO_PROXY`;
  const url = new URL(proxy.origin);
  const { reason, retry, isUnknownIssuer } = recogniseConnecting(cause, url);
  const issuer = isUnknownIssuer ? `, or ${issuerAdvice()}` : "";
  return new TunnelError(proxy, {
    ...{ reason, retry, advice: `check ${settings}${issuer}` },
  });
}

/** The error if the proxy does not speak the protocol of its URL. */
export function wrongProtocol(proxy: Proxy): TunnelError {
  const name = proxy.scheme.startsWith("socks") ? "SOCKS" : "HTTP";
  const reason = `it does not speak ${name}`;
  return new TunnelError(proxy, { reason, stage: "refused" });
}

/**
 * The error if the proxy asks for a login, or rejects the one that it got. An HTTP
 * proxy offers schemes; of SOCKS there are none.
 */
export function loginFailure(
  proxy: Proxy,
  schemes?: readonly string[],
): TunnelError {
  const { variable, scheme, user, password } = proxy;
  const it = schemes === undefined ? "it" : "it answered 407 and";
  if (schemes?.includes("Basic") === false && schemes.length > 0) {
    return new TunnelError(proxy, {
      reason: `${it} asks for a login by ${
        schemes.join(", ")
      }, and this program speaks only Basic`,
      advice:
        "put a proxy of your own in between that speaks it, such as px or cntlm",
      stage: "refused",
    });
  }
  const reason = user + password === ""
    ? `${it} asks for a user name and a password`
    : `${it} rejected the user name or the password`;
  const advice =
    `check those in ${variable} (${scheme}://user:password@host:port)`;
  return new TunnelError(proxy, { reason, advice, stage: "refused" });
}

/** The error if an HTTP proxy answered with this status, and opened no tunnel. */
export function statusFailure(
  proxy: Proxy,
  status: number,
  schemes: readonly string[],
): TunnelError {
  if (status === 407) return loginFailure(proxy, schemes);
  const isPage = status < 400 || status === 511;
  const reason = isPage
    ? `a web page came (status ${status}), perhaps the sign-in page of a network`
    : `it answered ${status}`;
  const mayChange = isPage || status >= 500 || status === 408 || status === 429;
  return new TunnelError(proxy, {
    ...{ reason, advice: settingsOf(proxy) },
    stage: mayChange ? "not sent" : "refused",
  });
}

/** The error if a SOCKS proxy refused with this code. */
export function socksFailure(proxy: Proxy, code: number): TunnelError {
  const reason = SOCKS_REASONS[code] ?? `it refused with code ${code}`;
  return new TunnelError(proxy, {
    ...{ reason, advice: settingsOf(proxy) },
    stage: code === FORBIDDEN ? "refused" : "not sent",
    retry: code === REFUSED ? "connection refused" : undefined,
  });
}
