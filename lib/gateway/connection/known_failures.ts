/**
 * The connection failures that this program recognises. Deno reports a failure only as
 * the text of the library that failed, in nested errors. This is the only module of the
 * gateway that reads that text.
 *
 * @module
 */

import { plainLine } from "../../text.ts";
import type { Stage } from "../failure/fate.ts";

/** The most of a library's text that is used, in UTF-16 code units. */
const MAX_LENGTH = 500;

export interface KnownFailure {
  /** Whether no connection was made. Otherwise the reason is a whole sentence. */
  readonly isConnecting: boolean;
  readonly stage: Stage;
  /** What went wrong, for the user; the library's text if the table lacks it. */
  readonly reason: string;
  /** Whether the table has it. Other texts may quote anything. */
  readonly isKnown: boolean;
  /** What to do; not set if it depends on the request. */
  readonly advice?: string | undefined;
  /** Why a `POST` is retried, in a few words, if it is. */
  readonly retry?: string | undefined;
  readonly isUnknownIssuer?: boolean | undefined;
}

/** A pattern for the library's text, the user's words, and what else is known. */
type Row = readonly [
  text: RegExp,
  reason: string | ((match: RegExpExecArray, url: URL) => string),
  more?: Partial<
    Pick<KnownFailure, "stage" | "advice" | "retry" | "isUnknownIssuer">
  >,
];

/** Deno's texts by which no connection was made. */
const CONNECTING =
  /client error \(Connect\)|^Too many open files|^Requires net access /;

/**
 * Why no connection was made, in parentheses after "cannot be reached". The first row
 * that matches applies. The stage is `not sent` unless a row has another.
 */
export const CONNECTING_ROWS: readonly Row[] = [
  [
    /^invalid peer certificate: certificate (expired|not valid yet).*?time (\d+) .*?not valid \w+ (\d+)/,
    ([, problem, now, limit]) => {
      const state = problem === "expired"
        ? "expired on"
        : "is not valid before";
      const clock = `the clock of this machine says ${utc(now)}`;
      return `its certificate ${state} ${utc(limit)}; ${clock}`;
    },
    { advice: "Check both" },
  ],
  [
    /^invalid peer certificate: certificate not valid for name(?:.*?only valid for \w+\("?([^"()]+))?/,
    ([, other], { hostname }) => {
      const names = other === undefined ? "" : `, but for ${other}`;
      return `its certificate is not for ${hostname}${names}`;
    },
  ],
  [
    /^invalid peer certificate: UnknownIssuer$/,
    "its certificate comes from a CA that is not trusted",
    { isUnknownIssuer: true },
  ],
  [
    /CaUsedAsEndEntity/,
    "its certificate is that of a CA (CA:TRUE), which a server may not use",
  ],
  [
    /^invalid peer certificate: (.*)$/,
    ([, problem]) => `its certificate is not valid: ${problem}`,
  ],
  [
    /^received fatal alert: ProtocolVersion|peer is incompatible/,
    "it supports neither TLS 1.2 nor TLS 1.3",
  ],
  [/^received fatal alert: (\w+)/, refusal],
  [
    /corrupt message|InvalidContentType|InvalidMessage/,
    (_, { port }) =>
      `what answers at port ${port || "443"} does not speak https`,
  ],
  [
    /^tls handshake eof|^unexpected end of file|reset|aborted|forcibly closed/i,
    "closed at once, perhaps by a firewall",
  ],
  [/too many open files/i, "too many open files", {
    advice: "Close some sessions, or raise the limit (ulimit -n)",
  }],
  [/refused/i, "connection refused", { retry: "connection refused" }],
  [
    /^dns error|lookup address|no such host/i,
    (_, { hostname }) => `the name ${hostname} cannot be resolved`,
  ],
  [/no route|unreachable/i, "no route to the host"],
  [/timed? ?out|deadline|10060/i, "it does not answer"],
];

/**
 * Other failures, each as a sentence. The stage is `open` unless a row has another: the
 * connection was made, and broke.
 */
export const CONNECTED_ROWS: readonly Row[] = [
  [ // https://fetch.spec.whatwg.org/#port-blocking
    /^Fetch failed: Requests to port (\d+) are blocked/,
    ([, port]) => `Port ${port} cannot be used: Deno blocks it`,
    { stage: "refused", advice: "Use another port" },
  ],
  // - The connection was closed before hyper had passed the request to it
  //   (`client/dispatch.rs`).
  // - `GOAWAY` with `NO_ERROR` before the server took the request (RFC 9113, 6.8).
  //   Debug data follow in parentheses. After a reset, the text begins with "stream
  //   error received": that request may have been taken. HAProxy 2.6 resets some with
  //   `REFUSED_STREAM` after it passed them on.
  [
    /^connection (?:closed$|error received: not a result of an error(?: \(b"|$))/,
    (_, { origin }) =>
      `${origin} closed the connection before accepting the request; it may be restarting`,
    { stage: "not taken", retry: "connection closed" },
  ],
  [
    /received fatal alert: (\w+)/,
    (match, { origin }) => `${origin} cannot be used: ${refusal(match)}`,
  ],
  [
    /reset|aborted|forcibly closed/i,
    (_, { origin }) => `${origin} reset the connection`,
  ],
  [
    /invalid HTTP|corrupt message/i,
    (_, { origin }) => `What answers at ${origin} does not speak HTTP`,
  ],
  [
    /before message completed|eof|broken pipe/i,
    (_, { origin }) => `${origin} closed the connection without an answer`,
  ],
  [
    /reading a body/,
    (_, { origin }) =>
      `${origin} closed the connection in the middle of its answer`,
  ],
  [
    /(?:connection|stream) error/,
    (_, { origin }) => `${origin} broke the protocol of the connection`,
  ],
];

/** Looks up an error of `fetch` to the service's URL, or of reading the answer's body. */
export function recognise(error: unknown, url: URL): KnownFailure {
  const text = textOf(error);
  return lookUp(text, CONNECTING.test(text), url);
}

/** Looks up an error of connecting to a URL, or of the TLS handshake. */
export function recogniseConnecting(error: unknown, url: URL): KnownFailure {
  return lookUp(textOf(error), true, url);
}

/** Whether an error says that the issuer of a certificate is not trusted. */
export function isUnknownIssuer(error: unknown): boolean {
  const url = new URL("https://any.example");
  return recogniseConnecting(error, url).isUnknownIssuer === true;
}

/** A library's text about an error, without the URL and the system's error number. */
export function reasonOf(error: unknown): string {
  return reasonIn(textOf(error));
}

function lookUp(text: string, isConnecting: boolean, url: URL): KnownFailure {
  const found = reasonIn(text);
  const stage = isConnecting ? "not sent" : "open";
  for (
    const [pattern, told, more] of isConnecting
      ? CONNECTING_ROWS
      : CONNECTED_ROWS
  ) {
    const match = pattern.exec(found);
    if (match === null) continue;
    const reason = typeof told === "string" ? told : told(match, url);
    return { isConnecting, stage, ...more, reason, isKnown: true };
  }
  return { isConnecting, stage, reason: found, isKnown: false };
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function reasonIn(text: string): string {
  return plainLine(
    text.replace(/^error sending request.*?: client error \(\w+\): /s, "")
      .replace(/ \(os error \d+\)$/, ""),
  ).slice(0, MAX_LENGTH);
}

function refusal([, alert]: RegExpExecArray): string {
  return alert === "CertificateRequired"
    ? "it requires a client certificate, which this program does not support"
    : `it refused TLS: ${alert}`;
}

/** A time in seconds since 1970, formatted for a person. */
function utc(seconds: string | undefined): string {
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return "an unknown time";
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
