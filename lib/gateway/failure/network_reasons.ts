/**
 * What the texts of Deno's networking libraries mean, in the user's words.
 *
 * @module
 */

import { environmentVariable } from "../../io.ts";
import { trustedCertificates } from "../http/certificates.ts";

/** What could not be reached. */
export interface Peer {
  readonly name: "the service" | "the proxy";
  readonly url: URL;
  /** The settings that name it, for the user. */
  readonly settings: string;
}

/** The reason, and what to do; empty if there is nothing. */
export interface Finding {
  readonly reason: string;
  readonly check: string;
}

/** What the library's text matches, and what is told then. */
type Row = readonly [
  pattern: RegExp,
  reason: string | ((match: RegExpExecArray, peer: Peer) => string),
  check?: (peer: Peer) => string,
];

/** What is told about a text by the first row that matches. */
export function lookUp(
  rows: readonly Row[],
  text: string,
  peer: Peer,
): Finding {
  for (const [pattern, reason, check] of rows) {
    const match = pattern.exec(text);
    if (match === null) continue;
    return {
      reason: typeof reason === "string" ? reason : reason(match, peer),
      check: check?.(peer) ?? "",
    };
  }
  return { reason: text, check: "" };
}

const SETTINGS = ({ settings }: Peer) => `check ${settings}`;
const RUNS = ({ name, settings }: Peer) =>
  `check that ${name} runs, and ${settings}`;
const WHO = ({ name, settings }: Peer) =>
  `check ${settings}, or tell who runs ${name}`;
const NETWORK = ({ settings }: Peer) => `check ${settings} and the network`;

const UNKNOWN_ISSUER = /^invalid peer certificate: UnknownIssuer$/;
const OUT_OF_DATE =
  /^invalid peer certificate: certificate (expired|not valid yet).*?time (\d+) .*?not valid \w+ (\d+)/;
const NOT_FOR_NAME =
  /^invalid peer certificate: certificate not valid for name(?:.*?only valid for \w+\("?([^"()]+))?/s;

/** Why no connection was made. */
export const UNREACHABLE: readonly Row[] = [
  [
    OUT_OF_DATE,
    ([, problem, now, limit]) => {
      const state = problem === "expired"
        ? "expired on"
        : "is not valid before";
      return `its certificate ${state} ${
        time(limit)
      }; the clock of this machine says ${time(now)}`;
    },
    ({ name }) => `check the clock, or tell who runs ${name}`,
  ],
  [
    NOT_FOR_NAME,
    ([, other], { url }) =>
      `its certificate is not for ${url.hostname}${
        other ? `, but for ${other}` : ""
      }`,
    ({ settings }) =>
      `check ${settings}, and whether this network asks you to sign in`,
  ],
  [
    UNKNOWN_ISSUER,
    "its certificate was issued by an authority that is not trusted",
    ({ settings }) => `check ${settings}, or ${howToTrust()}`,
  ],
  [
    /^invalid peer certificate: (.*)$/s,
    ([, problem]) => `its certificate is not valid: ${problem}`,
    WHO,
  ],
  [
    /^received fatal alert: ProtocolVersion|peer is incompatible/,
    "it speaks no version of TLS that is safe; 1.2 or 1.3 is needed",
    WHO,
  ],
  [/^received fatal alert: (\w+)/, refusal, WHO],
  [
    /corrupt message|InvalidContentType|InvalidMessage/,
    (_, { url }) =>
      `what answers at port ${url.port || "443"} does not speak https`,
    SETTINGS,
  ],
  [
    /^tls handshake eof|^unexpected end of file|reset|aborted|forcibly closed/i,
    "the connection was closed before TLS was set up",
    ({ settings }) => `check ${settings}, and whether a firewall is in between`,
  ],
  [
    // https://fetch.spec.whatwg.org/#port-blocking
    /^Fetch failed: Requests to port (\d+) are blocked/,
    ([, port]) =>
      `port ${port} is for another protocol, and requests to it are blocked`,
    SETTINGS,
  ],
  [
    /too many open files/i,
    "this process has too many open files",
    () => "close some sessions, or raise the limit (ulimit -n)",
  ],
  [/refused/i, "connection refused", RUNS],
  [
    /^dns error|lookup address|no such host/i,
    (_, { url }) => `the name ${url.hostname} cannot be resolved`,
    NETWORK,
  ],
  [/no route|unreachable/i, "no route leads there", () => "check the network"],
  [/timed? ?out|deadline|10060/i, "it does not answer", NETWORK],
  [/^.*$/s, ([text]) => text, RUNS],
];

/** Why an established connection broke. */
export const BROKEN: readonly Row[] = [
  [/received fatal alert: (\w+)/, refusal, WHO],
  [
    /head is too large|header.*too (?:large|big|long)/i,
    "the headers of its answer are too large",
    WHO,
  ],
  [/reset|aborted|forcibly closed/i, "it was reset"],
  [
    /invalid HTTP|corrupt message/i,
    "what answers there does not speak HTTP",
    SETTINGS,
  ],
  [
    /before message completed|eof|broken pipe/i,
    "it was closed without an answer",
    ({ url }) =>
      url.protocol === "http:"
        ? "check the base URL (http: or https:), or try again later"
        : "",
  ],
  [/reading a body/, "it was closed within the answer"],
  [/(?:connection|stream) error/, "the other end broke the protocol"],
];

function refusal([, alert]: RegExpExecArray): string {
  return alert === "CertificateRequired"
    ? "it asks for a client certificate, and there is none"
    : `it refused TLS: ${alert}`;
}

/** Whether the issuer of a certificate is not known. */
export function isUnknownIssuer(text: string): boolean {
  return UNKNOWN_ISSUER.test(text);
}

/** What to do if the issuer of a certificate is not known. */
function howToTrust(): string {
  const file = certificateFile();
  if (file !== undefined) {
    return `check that ${file}, which DENO_CERT names, holds the issuer's certificate as PEM, without a byte order mark (not DER, PKCS #7 or TRUSTED CERTIFICATE)`;
  }
  return trustedCertificates().length > 0
    ? "add the issuer to this system's authorities, or name its file in DENO_CERT"
    : "trust the issuer (DENO_TLS_CA_STORE=system, or DENO_CERT)";
}

/** A time in seconds since 1970, formatted for a person. */
function time(seconds: string | undefined): string {
  const date = new Date(Number(seconds) * 1000);
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
