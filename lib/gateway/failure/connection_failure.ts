/**
 * Explains to the user why a `fetch`, or reading its body, failed. Deno gives the
 * reason as the failing library's text, in nested errors.
 *
 * @module
 */

import { environmentVariable } from "../../io.ts";
import { plainLine, shownText } from "../../text.ts";
import { type Proxy, proxyFor } from "../http/proxies.ts";
import {
  ConnectionError,
  type Failure,
  type Operation,
  ServiceError,
  UNKNOWN_FATE,
} from "./service_error.ts";

/**
 * The messages of Deno's errors that prove that the service did not take a request,
 * although a connection was made. A server that is being reloaded causes both:
 *
 * - The server closed the HTTP/2 connection with `GOAWAY` and `NO_ERROR` before it
 *   took the request (RFC 9113, 6.8). Debug data follow in parentheses. After a
 *   reset, the message begins with "stream error received", and the service may
 *   have taken the request.
 * - The connection was closed before hyper had passed the request to it
 *   (`client/dispatch.rs`).
 */
const NOT_TAKEN =
  /^connection (?:closed$|error received: not a result of an error(?: \(b"|$))/;

/** How Deno's `fetch` refuses a port (https://fetch.spec.whatwg.org/#port-blocking). */
const BLOCKED = /^Fetch failed: Requests to port (\d+) are blocked/;

/** Whether no connection was made, so that nothing was sent. */
function isUnreachable(error: unknown): boolean {
  const reason = fullReason(error);
  return reason.includes("client error (Connect)") || BLOCKED.test(reason);
}

/** Whether the connection was refused. */
export function isRefused(error: unknown): boolean {
  return isUnreachable(error) && /refused/i.test(fullReason(error));
}

/** Whether the error proves that the service did not take the request. */
export function isNotTaken(error: unknown): boolean {
  return NOT_TAKEN.test(innerReason(error));
}

export interface ConnectionErrorOptions {
  readonly operation: Operation;
  /** The validated base URL of the service. */
  readonly baseUrl: string;
  /** The API key, which must not appear in the message. */
  readonly apiKey: string;
}

/**
 * The error for a connection that failed or broke.
 *
 * @param cause The rejection of `fetch` or of reading its body.
 */
export function connectionError(
  cause: unknown,
  { operation, baseUrl, apiKey }: ConnectionErrorOptions,
): ConnectionError {
  const attempt = { operation, url: new URL(baseUrl) };
  const text = shownText(innerReason(cause), { apiKey });
  const failure = isUnreachable(cause)
    ? unreachable(text, attempt)
    : isNotTaken(cause)
    ? notTaken(attempt)
    : broken(text, attempt);
  return new ConnectionError({ operation, ...failure }, { cause });
}

/** The error for a TLS configuration that this machine cannot load. */
export function tlsSetupError(
  cause: unknown,
  operation: Operation,
): ServiceError {
  const text = innerReason(cause);
  const [, system] =
    /^(?:Failed opening CA file|Unable to add pem file .*): (.*)$/
      .exec(text) ?? [];
  const file = certificateFile() ?? "of certificates";
  const [reason, advice] = system === undefined
    ? [
      `TLS cannot be set up (${text})`,
      "check DENO_CERT and DENO_TLS_CA_STORE",
    ]
    : [
      `the file ${file} that DENO_CERT names cannot be read (${system})`,
      "check DENO_CERT",
    ];
  const failure = { operation, reason: plainLine(reason), advice };
  const fate = operation === "stream run" ? "may go on" : "refused";
  return new ServiceError({ ...failure, fate }, { cause });
}

/** The request that failed, and its destination. */
interface Attempt {
  readonly operation: Operation;
  readonly url: URL;
}

type Explanation = Pick<Failure, "reason" | "advice" | "fate">;

function unreachable(text: string, { operation, url }: Attempt): Explanation {
  if (url.hostname.endsWith(".example")) {
    return {
      reason: `no service is configured: ${url.origin} is a placeholder`,
      advice: "set APP_BASE_URL or --base-url to the URL of your service",
      fate: operation === "stream run" ? "may go on" : "refused",
    };
  }
  const proxy = proxyFor(url);
  const { reason, check, isFinal, isProxy = false, isOnThisMachine = false } =
    proxyFinding(text, proxy) ?? lookUp(UNREACHABLE, text, url);
  const way = isProxy
    ? ` through the proxy${proxy ? ` ${proxy.origin}` : ""}`
    : "";
  const whole = `${url.origin} cannot be reached${way} (${reason})`;
  if (operation !== "stream run") {
    const fate = isFinal ? "refused" : "not run";
    return { reason: whole, advice: check, fate };
  }
  // When a run is followed, the base URL has just worked.
  const advice = isProxy || isOnThisMachine ? check : "";
  return { reason: whole, advice, fate: "may go on" };
}

function notTaken({ operation, url }: Attempt): Explanation {
  const reason =
    `${url.origin} closes its connections before it takes a request, as a server does that is reloaded`;
  const fate = operation === "stream run" ? "may go on" : "not run";
  return { reason, fate };
}

function broken(text: string, { operation, url }: Attempt): Explanation {
  const { reason, check } = lookUp(BROKEN, text, url);
  const whole = `the connection to ${url.origin} broke (${reason})`;
  const advice = operation === "create thread" ? check : "";
  return { reason: whole, advice, fate: UNKNOWN_FATE[operation] };
}

/** The reason, and what to check. */
interface Finding {
  readonly reason: string;
  readonly check: string;
  /** Whether the proxy on the way failed, and not the service. */
  readonly isProxy?: boolean;
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

/** What is told about a text by the first row that matches. */
function lookUp(rows: readonly Row[], text: string, url: URL): Finding {
  for (const [pattern, finding] of rows) {
    const match = pattern.exec(text);
    if (match === null) continue;
    return typeof finding === "function" ? finding(match, url) : finding;
  }
  return { reason: text, check: "" };
}

const WHO = "ask who runs the service";
const RUNS = "check that the service runs, and the base URL";
const NO_TLS = /corrupt message|InvalidContentType|InvalidMessage/;
const HANDSHAKE_CLOSED = /^tls handshake eof|reset|aborted|forcibly closed/i;

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
  [/^invalid peer certificate: UnknownIssuer$/, () => unknownIssuer()],
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
  [/^dns error/, (_match, { hostname }) => ({
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

const UNREACHABLE: readonly Row[] = [...TLS, ...NETWORK];

/** Why an established connection broke. */
const BROKEN: readonly Row[] = [
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

/** The proxy's failure, if the proxy is known to have failed. */
function proxyFinding(
  text: string,
  proxy: Proxy | undefined,
): Finding | undefined {
  const variable = proxy?.variable ?? "HTTPS_PROXY";
  const check = `check ${variable} and NO_PROXY`;
  const isProxy = true;
  if (text === "proxy authentication required") {
    return {
      reason: "it asks for a user name and a password",
      check: `check those in ${variable} (http://user:password@host:port)`,
      isProxy,
    };
  }
  if (text === "unsuccessful tunnel") {
    return { reason: "it refused the connection", check, isProxy };
  }
  if (text === "unexpected eof while tunneling") {
    return { reason: "it closed the connection", check, isProxy };
  }
  if (proxy === undefined) return undefined;
  const url = new URL(proxy.origin);
  const isSocks = url.protocol.startsWith("socks");
  const isDns = text.startsWith("dns error");
  // With SOCKS, the name that could not be resolved is the service's.
  if (/^tcp connect error/.test(text) || (!isSocks && isDns)) {
    return { ...lookUp(NETWORK, text, url), check, isProxy };
  }
  if (url.protocol === "https:" && NO_TLS.test(text)) {
    return {
      reason: "it does not speak https",
      check:
        `check ${variable}: most proxies are named by http://, for https services, too`,
      isProxy,
    };
  }
  if (HANDSHAKE_CLOSED.test(text)) {
    return {
      reason: "the connection was closed before TLS was set up",
      check: `${check}, and the base URL`,
      isProxy,
    };
  }
  if (!isSocks || isDns) return undefined;
  if (text === "Proxy server unreachable") {
    return { reason: "it does not answer", check, isProxy };
  }
  if (TLS.some(([pattern]) => pattern.test(text))) return undefined;
  return {
    reason: /invalid response version/i.test(text)
      ? "it does not speak SOCKS"
      : text,
    check: `check ${variable}: an HTTP proxy is named by http://`,
    isProxy,
  };
}

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

function unknownIssuer(): Finding {
  const file = certificateFile();
  const trust = file === undefined
    ? "trust the issuer (DENO_TLS_CA_STORE=system, or DENO_CERT)"
    : `check that ${file}, which DENO_CERT names, holds the issuer's certificate as PEM`;
  return {
    reason: "its certificate was issued by an authority that is not trusted",
    check: `check the base URL, or ${trust}`,
    isOnThisMachine: true,
  };
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
function certificateFile(): string | undefined {
  const path = environmentVariable("DENO_CERT") ?? "";
  return path === "" ? undefined : JSON.stringify(path);
}

/** The innermost reason, without the URL and the number of the system's error. */
function innerReason(error: unknown): string {
  return fullReason(error)
    .replace(/^error sending request.*?: client error \(\w+\): /s, "")
    .replace(/ \(os error \d+\)$/, "");
}

function fullReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
