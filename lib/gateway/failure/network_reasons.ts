/**
 * What the texts of Deno's networking libraries mean, in the user's words.
 *
 * @module
 */

import { issuerAdvice } from "../http/certificates.ts";
import { UNKNOWN_ISSUER } from "./deno_errors.ts";

/** A pattern for the library's text, and the reason that the user reads if it matches. */
type Row = readonly [
  pattern: RegExp,
  reason: string | ((match: RegExpExecArray, url: URL) => string),
];

/**
 * The reason in the first row whose pattern matches a text; the text itself if none
 * does.
 *
 * @param url The URL of the service or the proxy that the text is about.
 */
export function lookUp(rows: readonly Row[], text: string, url: URL): string {
  for (const [pattern, reason] of rows) {
    const match = pattern.exec(text);
    if (match === null) continue;
    return typeof reason === "string" ? reason : reason(match, url);
  }
  return text;
}

/** A port that `fetch` refuses (https://fetch.spec.whatwg.org/#port-blocking). */
export const BLOCKED = /^Fetch failed: Requests to port (\d+) are blocked/;

const OUT_OF_DATE =
  /^invalid peer certificate: certificate (expired|not valid yet).*?time (\d+) .*?not valid \w+ (\d+)/;
const NOT_FOR_NAME =
  /^invalid peer certificate: certificate not valid for name(?:.*?only valid for \w+\("?([^"()]+))?/s;

/** Why no connection was made. */
export const UNREACHABLE: readonly Row[] = [
  [OUT_OF_DATE, ([, problem, now, limit]) => {
    const state = problem === "expired" ? "expired on" : "is not valid before";
    const clock = `the clock of this machine says ${utc(now)}`;
    return `its certificate ${state} ${utc(limit)}; ${clock}`;
  }],
  [NOT_FOR_NAME, ([, other], { hostname }) => {
    const names = other === undefined ? "" : `, but for ${other}`;
    return `its certificate is not for ${hostname}${names}`;
  }],
  [
    UNKNOWN_ISSUER,
    "its certificate was issued by an authority that is not trusted",
  ],
  [
    /CaUsedAsEndEntity/,
    "its certificate is that of an authority (CA:TRUE), which is not allowed for a server",
  ],
  [
    /BadSignature/,
    "its certificate was not signed by the authority that it names",
  ],
  [
    /^invalid peer certificate: (.*)$/s,
    ([, problem]) => `its certificate is not valid: ${problem}`,
  ],
  [
    /^received fatal alert: ProtocolVersion|peer is incompatible/,
    "it speaks no version of TLS that is safe; 1.2 or 1.3 is needed",
  ],
  [/^received fatal alert: (\w+)/, refusal],
  [
    /corrupt message|InvalidContentType|InvalidMessage/,
    (_, { port }) =>
      `what answers at port ${port || "443"} does not speak https`,
  ],
  [
    /^tls handshake eof|^unexpected end of file|reset|aborted|forcibly closed/i,
    "the connection was closed before TLS was set up, perhaps by a firewall",
  ],
  [
    BLOCKED,
    ([, port]) =>
      `port ${port} is for another protocol, and requests to it are blocked`,
  ],
  [
    /too many open files/i,
    "this process has too many open files: close some sessions, or raise the limit (ulimit -n)",
  ],
  [/refused/i, "connection refused"],
  [
    /^dns error|lookup address|no such host/i,
    (_, { hostname }) => `the name ${hostname} cannot be resolved`,
  ],
  [/no route|unreachable/i, "no route leads there"],
  [/timed? ?out|deadline|10060/i, "it does not answer"],
];

/** Why an established connection broke. */
export const BROKEN: readonly Row[] = [
  [/received fatal alert: (\w+)/, refusal],
  [
    /head is too large|header.*too (?:large|big|long)/i,
    "the headers of its answer are too large",
  ],
  [/reset|aborted|forcibly closed/i, "it was reset"],
  [
    /invalid HTTP|corrupt message/i,
    "what answers there does not speak HTTP",
  ],
  [
    /before message completed|eof|broken pipe/i,
    "it was closed without an answer",
  ],
  [/reading a body/, "it was closed within the answer"],
  [/(?:connection|stream) error/, "the other end broke the protocol"],
];

function refusal([, alert]: RegExpExecArray): string {
  return alert === "CertificateRequired"
    ? "it asks for a client certificate, and there is none"
    : `it refused TLS: ${alert}`;
}

/**
 * What to do if no connection was made.
 *
 * @param text Why, as the library says it.
 * @param settings The settings that name the other end, for the user.
 */
export function whatToCheck(text: string, settings: string): string {
  const other = UNKNOWN_ISSUER.test(text) ? `, or ${issuerAdvice()}` : "";
  return `check ${settings}${other}`;
}

/** A time in seconds since 1970, formatted for a person. */
function utc(seconds: string | undefined): string {
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return "an unknown time";
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
