/**
 * The failures of connections that are known, in one table. Deno gives the reason as
 * the failing library's text, in nested errors, and only that text tells them apart:
 * no other module of the gateway reads it.
 *
 * @module
 */

import { plainLine } from "../../text.ts";
import type { Stage } from "../failure/fate.ts";

/** The most of a library's text that is used, in UTF-16 code units. */
const MAX_LENGTH = 500;

export interface KnownFailure {
  /** `connecting`: no connection was made. `connected`: one was, and it broke. */
  readonly phase: "connecting" | "connected";
  readonly stage: Stage;
  /** What went wrong, for the user; of a text that is not in the table, the text itself. */
  readonly reason: string;
  /** Whether the table has it. Other texts may quote anything. */
  readonly isKnown: boolean;
  /** What to do; not set if it depends on the request. */
  readonly advice?: string | undefined;
  /** Why a `POST` is sent again, in a few words, if it is. */
  readonly retry?: string | undefined;
  readonly isUnknownIssuer?: boolean | undefined;
}

/** A pattern for the library's text, the user's words, and what else is known. */
type Row = readonly [
  text: RegExp,
  reason: string | ((match: RegExpExecArray, url: URL) => string),
  more?: Partial<Pick<KnownFailure, "stage" | "retry" | "isUnknownIssuer">>,
];

/** Deno's texts by which no connection was made. */
const CONNECTING =
  /client error \(Connect\)|^Fetch failed: Requests to port |^Too many open files|^Requires net access /;

/** The first row that matches counts. The stage is `not sent` unless a row has another. */
const CONNECTING_ROWS: readonly Row[] = [
  [
    /^invalid peer certificate: certificate (expired|not valid yet).*?time (\d+) .*?not valid \w+ (\d+)/,
    ([, problem, now, limit]) => {
      const state = problem === "expired"
        ? "expired on"
        : "is not valid before";
      const clock = `the clock of this machine says ${utc(now)}`;
      return `its certificate ${state} ${utc(limit)}; ${clock}`;
    },
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
    "its certificate was issued by an authority that is not trusted",
    { isUnknownIssuer: true },
  ],
  [
    /CaUsedAsEndEntity/,
    "its certificate is that of an authority (CA:TRUE), which is not allowed for a server",
  ],
  [
    /^invalid peer certificate: (.*)$/,
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
  [ // https://fetch.spec.whatwg.org/#port-blocking
    /^Fetch failed: Requests to port (\d+) are blocked/,
    ([, port]) =>
      `port ${port} is for another protocol, and requests to it are blocked`,
    { stage: "refused" },
  ],
  [
    /too many open files/i,
    "this process has too many open files: close some sessions, or raise the limit (ulimit -n)",
  ],
  [/refused/i, "connection refused", { retry: "connection refused" }],
  [
    /^dns error|lookup address|no such host/i,
    (_, { hostname }) => `the name ${hostname} cannot be resolved`,
  ],
  [/no route|unreachable/i, "no route leads there"],
  [/timed? ?out|deadline|10060/i, "it does not answer"],
];

/** The same for a connection that was made. The stage is `open` unless a row has another. */
const CONNECTED_ROWS: readonly Row[] = [
  // - The connection was closed before hyper had passed the request to it
  //   (`client/dispatch.rs`).
  // - `GOAWAY` with `NO_ERROR` before the server took the request (RFC 9113, 6.8).
  //   Debug data follow in parentheses. After a reset, the text begins with "stream
  //   error received": that request may have been taken. HAProxy 2.6 resets some with
  //   `REFUSED_STREAM` after it passed them on.
  [
    /^connection (?:closed$|error received: not a result of an error(?: \(b"|$))/,
    "it was closed before the request was accepted; the service may be restarting",
    { stage: "not taken", retry: "connection closed" },
  ],
  [/received fatal alert: (\w+)/, refusal],
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

/** What is known of an error of `fetch`, or of reading its body, at the service's URL. */
export function recognise(error: unknown, url: URL): KnownFailure {
  const text = textOf(error);
  const isConnecting = CONNECTING.test(text);
  return lookUp(text, isConnecting ? "connecting" : "connected", url);
}

/** What is known of an error of making a connection to a URL, or of setting up TLS. */
export function recogniseConnecting(error: unknown, url: URL): KnownFailure {
  return lookUp(textOf(error), "connecting", url);
}

/** Whether an error says that the issuer of a certificate is not trusted. */
export function isUnknownIssuer(error: unknown): boolean {
  const url = new URL("https://any.example");
  return recogniseConnecting(error, url).isUnknownIssuer === true;
}

/** A library's text about an error, without the URL and the number of the system's error. */
export function reasonOf(error: unknown): string {
  return reasonIn(textOf(error));
}

function lookUp(
  text: string,
  phase: KnownFailure["phase"],
  url: URL,
): KnownFailure {
  const reason = reasonIn(text);
  const rows = phase === "connecting" ? CONNECTING_ROWS : CONNECTED_ROWS;
  const stage = phase === "connecting" ? "not sent" : "open";
  for (const [pattern, told, more] of rows) {
    const match = pattern.exec(reason);
    if (match === null) continue;
    const words = typeof told === "string" ? told : told(match, url);
    return { phase, stage, ...more, reason: words, isKnown: true };
  }
  return { phase, stage, reason, isKnown: false };
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
    ? "it asks for a client certificate, and there is none"
    : `it refused TLS: ${alert}`;
}

/** A time in seconds since 1970, formatted for a person. */
function utc(seconds: string | undefined): string {
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return "an unknown time";
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
