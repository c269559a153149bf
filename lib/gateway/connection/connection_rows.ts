/**
 * The failures of connections, by the texts of the libraries that Deno is built with:
 * the words for them, and whether a prompt may be retried. The texts are those libraries'
 * own: what they quote is not searched.
 *
 * @module
 */

import type { Failure } from "../failure/failure.ts";
import { issuerAdvice } from "./certificates.ts";
import type { SystemFault } from "./system_fault.ts";
import { type Redacted, type Redactor, safe, utc } from "../../text.ts";

export const MORE_FILES: Redacted =
  safe`Close some sessions, or raise the limit (ulimit -n)`;

/** What a row may make words of. */
interface Circumstances {
  /** What the pattern has found; empty if the row was found by what the system says. */
  readonly match: readonly Redacted[];
  /** The whole text of the library. */
  readonly text: Redacted;
  /** What it quotes of the peer; empty if it quotes nothing. */
  readonly quotation: Redacted;
  /** Parts of the URL that was asked. */
  readonly origin: Redacted;
  readonly host: Redacted;
  readonly hostname: Redacted;
  readonly port: number;
  readonly redactor: Redactor;
}

export interface Row {
  /** What the system says. It comes before the text, which is in its language. */
  readonly fault?: SystemFault;
  /** A pattern for the library's own words. */
  readonly text: RegExp;
  readonly reason: Redacted | ((about: Circumstances) => Redacted);
  readonly stage?: Failure["stage"];
  readonly advice?: Redacted | ((about: Circumstances) => Redacted);
  /** The problem, if it may pass. By default, only a stream is requested again. */
  readonly problem?: Failure["problem"];
  /** Whether it stays so: then no request is repeated. */
  readonly isFinal?: true;
}

/** Failures before or after a connection was made. */
export interface Phase {
  /** The stage, unless a row has another. */
  readonly stage: Failure["stage"];
  /** The first row that matches applies. */
  readonly rows: readonly Row[];
  /** The reason if none does. */
  readonly otherwise: (about: Circumstances) => Redacted;
}

/** What the library says if the issuer of a certificate is not trusted. */
export const UNKNOWN_ISSUER = /^invalid peer certificate: UnknownIssuer$/;

const CONNECTING_ROWS: readonly Row[] = [
  {
    text:
      /^invalid peer certificate: certificate (expired|not valid yet).*?time (\d+) .*?not valid \w+ (\d+)/,
    reason: ({ match: [, problem, now, limit] }) => {
      const state = problem === "expired"
        ? "expired on"
        : "is not valid before";
      const clock = safe`the clock of this machine says ${utc(Number(now))}`;
      return safe`its certificate ${state} ${utc(Number(limit))}; ${clock}`;
    },
    advice: safe`Check both`,
    problem: "certificate not valid",
  },
  {
    text: /^invalid peer certificate: certificate not valid for name/,
    reason: ({ hostname, quotation, redactor }) => {
      const [, other] = /only valid for \w+\("?([^"()]+)/.exec(quotation) ?? [];
      const names = other === undefined
        ? ""
        : safe`, but for ${redactor.show(other)}`;
      return safe`its certificate is not for ${hostname}${names}`;
    },
    problem: "certificate not valid",
  },
  {
    text: UNKNOWN_ISSUER,
    reason:
      safe`its certificate comes from a CA that is not trusted, or it does not send its intermediate certificate`,
    advice: ({ redactor }) => issuerAdvice(redactor),
    problem: "certificate not valid",
  },
  {
    text: /^invalid peer certificate: (?:Other\(OtherError\()?(.*?)\)*$/,
    reason: wrongCertificate,
    advice: safe`The service needs another certificate`,
    problem: "certificate not valid",
  },
  {
    text: /^received fatal alert: ProtocolVersion|^peer is incompatible/,
    reason: safe`it supports neither TLS 1.2 nor TLS 1.3`,
  },
  {
    text: /^received fatal alert: (\w+)/,
    reason: ({ match }) => refusal(match),
  },
  {
    text: /corrupt message|InvalidContentType|InvalidMessage/,
    reason: ({ port }) =>
      safe`what answers at port ${port} does not speak https`,
  },
  {
    fault: "reset",
    text: /^tls handshake eof|^unexpected end of file/i,
    reason: safe`closed at once, perhaps by a firewall`,
  },
  {
    text: /^Requires net access to /,
    reason: ({ host }) => safe`Deno may not connect to ${host}`,
    advice: ({ host }) => safe`Run Deno with --allow-net=${host}`,
    stage: "refused",
  },
  {
    fault: "no descriptors",
    text: /too many open files/i,
    reason: safe`too many open files`,
    advice: MORE_FILES,
    problem: "too many open files",
  },
  {
    fault: "refused",
    text: /refused/i,
    reason: safe`connection refused`,
    problem: "connection refused",
  },
  {
    fault: "unknown name",
    text: /^dns error|lookup address|no such host/i,
    reason: ({ hostname }) => safe`the name ${hostname} cannot be resolved`,
  },
  { // rustls, or Deno; of an `http:` service, the system says that it is unknown.
    text: /^invalid (?:dns name$|host )/,
    reason: ({ hostname }) => safe`no host can have the name ${hostname}`,
    stage: "refused",
  },
  {
    fault: "unreachable",
    text: /no route|unreachable/i,
    reason: safe`no route to the host`,
    problem: "no connection",
  },
  {
    fault: "silent",
    text: /timed? ?out|deadline/i,
    reason: safe`it does not answer`,
  },
];

/** Why no connection was made, in parentheses after "cannot be reached". */
export const CONNECTING: Phase = {
  stage: "not sent",
  rows: CONNECTING_ROWS,
  otherwise: ({ text }) => text,
};

const CONNECTED_ROWS: readonly Row[] = [
  { // https://fetch.spec.whatwg.org/#port-blocking
    text: /^Fetch failed: Requests to port (\d+) are blocked/,
    reason: ({ match: [, port = ""] }) =>
      safe`Port ${port} cannot be used: Deno blocks it`,
    stage: "refused",
    advice: safe`Use another port`,
  },
  // - The connection was closed before hyper had passed the request to it
  //   (`client/dispatch.rs`).
  // - `GOAWAY` with `NO_ERROR` before the server took the request (RFC 9113, 6.8).
  //   After a reset, the text begins with "stream error received": that request may
  //   have been taken. HAProxy 2.6 resets some with `REFUSED_STREAM` after it passed
  //   them on.
  {
    text: /^connection (?:closed|error received: not a result of an error)$/,
    reason: ({ origin }) =>
      safe`${origin} closed the connection before accepting the request; it may be restarting`,
    stage: "not taken",
    problem: "connection closed",
  },
  {
    text: /^received fatal alert: (\w+)/,
    reason: ({ match, origin }) =>
      safe`${origin} cannot be used: ${refusal(match)}`,
  },
  {
    fault: "reset",
    text: /reset|aborted/i,
    reason: ({ origin }) => safe`${origin} reset the connection`,
  },
  { // The library's own limits; over HTTP/2, errors that it "detected" in headers.
    text: /^message head is too large$|^(?:connection|stream) error detected: /,
    reason: ({ origin }) =>
      safe`${origin} sends an answer that cannot be read: its headers are too many, too long, or malformed`,
    advice: safe`The service should send fewer and shorter ones`,
    isFinal: true,
  },
  {
    text: /invalid HTTP|corrupt message/i,
    reason: ({ origin }) => safe`What answers at ${origin} does not speak HTTP`,
  },
  {
    text: /before message completed|eof|broken pipe/i,
    reason: ({ origin }) =>
      safe`${origin} closed the connection without an answer`,
  },
  {
    text: /^error reading a body/,
    reason: ({ origin }) =>
      safe`${origin} closed the connection in the middle of its answer`,
  },
  {
    text: /^(?:connection|stream) error/,
    reason: ({ origin }) =>
      safe`${origin} broke the protocol of the connection`,
  },
];

/** Why a connection that was made broke, each as a sentence. */
export const CONNECTED: Phase = {
  stage: "perhaps taken",
  rows: CONNECTED_ROWS,
  otherwise: ({ origin, text }) =>
    safe`The connection to ${origin} broke (${text})`,
};

/** By the library's name of the problem, or its text. */
function wrongCertificate(
  { match: [, problem = ""], hostname, redactor }: Circumstances,
): Redacted {
  switch (problem) {
    case "UnsupportedCertVersion":
      return safe`its certificate is not of version 3 of X.509`;
    case "NameConstraintViolation":
      return safe`the CA of its certificate may not sign for ${hostname} (name constraints)`;
    case "CaUsedAsEndEntity":
      return safe`its certificate is that of a CA (CA:TRUE), which a server may not use`;
    case "EndEntityUsedAsCa":
      return safe`its certificate is signed by one that is not of a CA (CA:FALSE)`;
    default: {
      const words = problem.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
      return safe`its certificate is not valid: ${redactor.show(words)}`;
    }
  }
}

function refusal([, alert = ""]: readonly Redacted[]): Redacted {
  return alert === "CertificateRequired"
    ? safe`it requires a client certificate, which this program does not support`
    : safe`it refused TLS: ${alert}`;
}
