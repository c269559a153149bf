/**
 * What the texts of Deno's networking libraries mean, in the user's words.
 *
 * @module
 */

import { environmentVariable } from "../../io.ts";
import { trustedCertificates } from "../http/certificates.ts";

/** The reason, and what to check. */
export interface Finding {
  readonly reason: string;
  readonly check: string;
  /** Whether the cause is on this machine or its network. */
  readonly isOnThisMachine?: boolean;
  /** Whether asking again would fail again. */
  readonly isFinal?: boolean;
}

/** What the library's text matches, and what is told then. */
type Row = readonly [
  pattern: RegExp,
  finding: Finding | ((match: RegExpExecArray, url: URL) => Finding),
];

/**
 * What is told about a text by the first row that matches.
 *
 * @param url The URL of the service or the proxy that the text is about.
 */
export function lookUp(rows: readonly Row[], text: string, url: URL): Finding {
  for (const [pattern, finding] of rows) {
    const match = pattern.exec(text);
    if (match === null) continue;
    return typeof finding === "function" ? finding(match, url) : finding;
  }
  return { reason: text, check: "" };
}

/** How Deno's `fetch` refuses a port (https://fetch.spec.whatwg.org/#port-blocking). */
const BLOCKED = /^Fetch failed: Requests to port (\d+) are blocked/;

const WHO = "ask who runs the service";
const RUNS = "check that the service runs, and the base URL";
const NO_TLS = /corrupt message|InvalidContentType|InvalidMessage/;
const UNKNOWN_ISSUER = /^invalid peer certificate: UnknownIssuer$/;
const HANDSHAKE_CLOSED =
  /^tls handshake eof|^unexpected end of file|reset|aborted|forcibly closed/i;

/** Why TLS could not be set up. */
const TLS: readonly Row[] = [
  [
    /^invalid peer certificate: (?:certificate )?(expired|not valid yet|notvalidyet)(?:.*?time (\d+) .*?not valid \w+ (\d+))?/i,
    ([, problem = "", now, limit]) => outOfDate(problem, now, limit),
  ],
  [
    /^invalid peer certificate: certificate not valid for name(.*)$/s,
    ([, others = ""], { hostname }) => ({
      reason: `its certificate is not for ${hostname}${namesIn(others)}`,
      check: "check the base URL, and whether this network asks you to sign in",
    }),
  ],
  [UNKNOWN_ISSUER, () => ({
    reason: "its certificate was issued by an authority that is not trusted",
    check: `check the base URL, or ${howToTrust()}`,
    isOnThisMachine: true,
  })],
  [/^invalid peer certificate: (.*)$/s, ([, problem]) => ({
    reason: `its certificate is not valid: ${problem}`,
    check: "check the base URL, or tell who runs the service",
    isOnThisMachine: true,
  })],
  [/^received fatal alert: ProtocolVersion|peer is incompatible/, {
    reason: "it speaks no version of TLS that is safe; 1.2 or 1.3 is needed",
    check: "check the base URL, or tell who runs the service",
  }],
  [/^received fatal alert: (\w+)/, ([, alert = ""]) => ({
    reason: ALERTS[alert] ?? `it refused TLS: ${alert}`,
    check: `check the base URL, or ${WHO}`,
  })],
  [NO_TLS, (_match, { port }) => ({
    reason: `what answers at port ${port || "443"} does not speak https`,
    check: "check the base URL",
  })],
  [HANDSHAKE_CLOSED, {
    reason: "the connection was closed before TLS was set up",
    check: "check the base URL, and whether a firewall is in between",
  }],
];

/** Why no connection was made to a host. */
const NETWORK: readonly Row[] = [
  [BLOCKED, ([, port]) => ({
    reason:
      `port ${port} is for another protocol, and requests to it are blocked`,
    check: "check the base URL",
    isFinal: true,
  })],
  [/too many open files/i, {
    reason: "this process has too many open files",
    check: "close some sessions, or raise the limit (ulimit -n)",
    isOnThisMachine: true,
  }],
  [/refused/i, { reason: "connection refused", check: RUNS }],
  [/^dns error|lookup address|no such host/i, (_match, { hostname }) => ({
    reason: `the name ${hostname} cannot be resolved`,
    check: "check the base URL and the network",
  })],
  [/no route|unreachable/i, {
    reason: "no route leads there",
    check: "check the network",
  }],
  [/timed? ?out|deadline|10060/i, {
    reason: "it does not answer",
    check: "check the network and the base URL",
  }],
  [/^.*$/s, ([text]) => ({ reason: text, check: RUNS })],
];

/** Why no connection was made. */
export const UNREACHABLE: readonly Row[] = [...TLS, ...NETWORK];

/** Why an established connection broke. */
export const BROKEN: readonly Row[] = [
  [/received fatal alert: (\w+)/, ([, alert = ""]) => ({
    reason: ALERTS[alert] ?? `the other end refused TLS: ${alert}`,
    check: WHO,
  })],
  [/head is too large|header.*too (?:large|big|long)/i, {
    reason: "the headers of its answer are too large",
    check: WHO,
  }],
  [/reset|aborted|forcibly closed/i, { reason: "it was reset", check: "" }],
  [/invalid HTTP|corrupt message/i, {
    reason: "what answers there does not speak HTTP",
    check: "check the base URL",
  }],
  [/before message completed|eof|broken pipe/i, (_match, { protocol }) => ({
    reason: "it was closed without an answer",
    check: protocol === "http:"
      ? "check the base URL (http: or https:), or try again later"
      : "",
  })],
  [/reading a body/, { reason: "it was closed within the answer", check: "" }],
  [/(?:connection|stream) error/, {
    reason: "the other end broke the protocol",
    check: "",
  }],
];

const ALERTS: Readonly<Record<string, string>> = {
  HandshakeFailure: "it shares no safe TLS settings with this program",
  CertificateRequired: "it asks for a client certificate, and there is none",
  UnrecognisedName: "it does not know this name",
};

/** What is told about a certificate that has expired, or is not valid yet. */
function outOfDate(
  problem: string,
  now: string | undefined,
  limit: string | undefined,
): Finding {
  const hasExpired = problem.toLowerCase() === "expired";
  const clock = `check the clock of this machine (${time(now)})`;
  const state = hasExpired ? "expired" : "is not valid";
  const when = limit === undefined
    ? (hasExpired ? "" : " yet")
    : ` ${hasExpired ? "on" : "before"} ${time(limit)}`;
  return {
    reason: `its certificate ${state}${when}`,
    check: hasExpired ? `${clock}, or tell who runs the service` : clock,
    isOnThisMachine: true,
  };
}

/** Whether the issuer of a certificate is not known. */
export function isUnknownIssuer(text: string): boolean {
  return UNKNOWN_ISSUER.test(text);
}

/** What to do if the issuer of a certificate is not known. */
export function howToTrust(): string {
  const file = certificateFile();
  if (file !== undefined) {
    return `check that ${file}, which DENO_CERT names, holds the issuer's certificate as PEM, without a byte order mark (not DER, PKCS #7 or TRUSTED CERTIFICATE)`;
  }
  return trustedCertificates().length > 0
    ? "add the issuer to this system's authorities, or name its file in DENO_CERT"
    : "trust the issuer (DENO_TLS_CA_STORE=system, or DENO_CERT)";
}

/** At most three of the certificate's names in the library's text. */
function namesIn(text: string): string {
  const names = Array.from(
    text.slice(0, 1000).matchAll(/\w\("?([^"()]+)"?\)/g),
    ([, name]) => name,
  );
  if (names.length === 0) return "";
  const first = names.slice(0, 3).join(", ");
  return `, but for ${first}${names.length > 3 ? " and others" : ""}`;
}

/** A time in seconds since 1970, formatted for a person. */
function time(seconds: string | undefined): string {
  const date = new Date(
    seconds === undefined ? Date.now() : Number(seconds) * 1000,
  );
  if (Number.isNaN(date.getTime())) return "an unknown time";
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** The file that `DENO_CERT` names, in quotes. */
export function certificateFile(): string | undefined {
  const path = environmentVariable("DENO_CERT") ?? "";
  return path === "" ? undefined : JSON.stringify(path);
}

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
