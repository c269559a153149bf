/**
 * Explains to the user why a `fetch`, or reading its body, failed. Deno gives the
 * reason as the failing library's text, in nested errors.
 *
 * @module
 */

import { environmentVariable } from "../../io.ts";
import { plainLine } from "../../text.ts";
import { shownText } from "./foreign_text.ts";
import { type Proxy, proxyFor } from "../http/proxies.ts";
import {
  ConnectionError,
  type Failure,
  type Operation,
  ServiceError,
  UNKNOWN_OUTCOME,
} from "./service_error.ts";

/**
 * The messages of Deno's errors that prove that the service did not take a request,
 * although a connection was made. A server that is being reloaded causes both:
 *
 * - The server closed the HTTP/2 connection with `GOAWAY` and `NO_ERROR` before it
 *   took the request (RFC 9113, 6.8). After a reset, the message begins with
 *   "stream error received", and the service may have taken the request.
 * - The connection was closed before hyper had passed the request to it
 *   (`client/dispatch.rs`).
 */
const NOT_TAKEN: ReadonlySet<string> = new Set([
  "connection error received: not a result of an error",
  "connection closed",
]);

/** Whether no connection was made, so that nothing was sent. */
function isUnreachable(error: unknown): boolean {
  return fullReason(error).includes("client error (Connect)");
}

/** Whether the connection was refused. */
export function isRefused(error: unknown): boolean {
  return isUnreachable(error) && /refused/i.test(fullReason(error));
}

/** Whether the error proves that the service did not take the request. */
export function isNotTaken(error: unknown): boolean {
  return NOT_TAKEN.has(innerReason(error));
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
  const reason = innerReason(cause);
  const file = certificateFile();
  const [, system] =
    /^(?:Failed opening CA file|Unable to add pem file .*): (.*)$/
      .exec(reason) ?? [];
  return new ServiceError(
    system === undefined
      ? {
        operation,
        reason: plainLine(`TLS cannot be set up (${reason})`),
        advice: "check DENO_CERT and DENO_TLS_CA_STORE",
      }
      : {
        operation,
        reason: plainLine(
          `the file ${
            file ?? "of certificates"
          } that DENO_CERT names cannot be read (${system})`,
        ),
        advice: "check DENO_CERT",
      },
    { cause },
  );
}

/** The request that failed, and its destination. */
interface Attempt {
  readonly operation: Operation;
  readonly url: URL;
}

/** The reason, and what to check. */
interface Finding {
  readonly reason: string;
  readonly check: string;
  /** Whether the proxy on the way failed, and not the service. */
  readonly isProxy?: boolean;
  /** Whether the cause is on this machine or its network. */
  readonly isOnThisMachine?: boolean;
}

type Explanation = Pick<Failure, "reason" | "advice" | "outcome">;

function unreachable(text: string, { operation, url }: Attempt): Explanation {
  if (url.hostname.endsWith(".example")) {
    return {
      reason: `no service is configured: ${url.origin} is a placeholder`,
      advice: "set APP_BASE_URL or --base-url to the URL of your service",
    };
  }
  const proxy = proxyFor(url);
  const { reason, check, isProxy = false, isOnThisMachine = false } =
    proxyFailure(text, proxy) ?? tlsFailure(text, url) ??
      networkFailure(text, url.hostname);
  const way = isProxy ? ` through the proxy${withSpace(proxy?.origin)}` : "";
  const whole = `${url.origin} cannot be reached${way} (${reason})`;
  if (operation !== "stream run") return { reason: whole, advice: check };
  // When a run is followed, the base URL has just worked.
  return {
    reason: whole,
    advice: isProxy || isOnThisMachine ? check : "",
    outcome: UNKNOWN_OUTCOME[operation],
  };
}

function notTaken({ operation, url }: Attempt): Explanation {
  return {
    reason:
      `${url.origin} closes its connections before it takes a request, as a server does that is reloaded`,
    outcome: operation === "create run"
      ? "the run was not started"
      : UNKNOWN_OUTCOME[operation],
  };
}

function broken(text: string, { operation, url }: Attempt): Explanation {
  const { reason, check } = brokenFailure(text, url);
  const whole = `the connection to ${url.origin} broke (${reason})`;
  return operation === "create thread" && check !== ""
    ? { reason: whole, advice: check }
    : { reason: whole, outcome: UNKNOWN_OUTCOME[operation] };
}

/** The proxy's failure, if the proxy is known to have failed. */
function proxyFailure(
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
  const { protocol, hostname } = new URL(proxy.origin);
  const isSocks = protocol.startsWith("socks");
  // With SOCKS, the name that could not be resolved is the service's.
  if (/^tcp connect error/.test(text) || (!isSocks && isDns(text))) {
    return { ...networkFailure(text, hostname), check, isProxy };
  }
  if (protocol === "https:" && NO_TLS.test(text)) {
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
  if (!isSocks || isDns(text)) return undefined;
  if (text === "Proxy server unreachable") {
    return { reason: "it does not answer", check, isProxy };
  }
  if (tlsFailure(text, new URL(proxy.origin)) !== undefined) return undefined;
  return {
    reason: /invalid response version/i.test(text)
      ? "it does not speak SOCKS"
      : text,
    check: `check ${variable}: an HTTP proxy is named by http://`,
    isProxy,
  };
}

/** The library's messages for a peer that does not speak TLS. */
const NO_TLS = /corrupt message|InvalidContentType|InvalidMessage/;

/** The library's messages for a closed connection. */
const RESET = /reset|aborted|forcibly closed/i;
const HANDSHAKE_CLOSED = /^tls handshake eof|reset|aborted|forcibly closed/i;

/** The TLS failure with the service, if it is one. */
function tlsFailure(text: string, url: URL): Finding | undefined {
  const checkUrl = "check the base URL";
  const [, certificate] = /^invalid peer certificate: (.*)$/s.exec(text) ?? [];
  if (certificate !== undefined) return certificateFailure(certificate, url);
  const [, alert] = /^received fatal alert: (\w+)/.exec(text) ?? [];
  if (alert === "ProtocolVersion" || /peer is incompatible/.test(text)) {
    return {
      reason: "it speaks no version of TLS that is safe; 1.2 or 1.3 is needed",
      check: `${checkUrl}, or tell who runs the service`,
    };
  }
  if (alert !== undefined) {
    return {
      reason: ALERTS[alert] ?? `it refused TLS: ${alert}`,
      check: `${checkUrl}, or ask who runs the service`,
    };
  }
  if (NO_TLS.test(text)) {
    const port = url.port === "" ? "443" : url.port;
    return {
      reason: `what answers at port ${port} does not speak https`,
      check: checkUrl,
    };
  }
  if (HANDSHAKE_CLOSED.test(text)) {
    return {
      reason: "the connection was closed before TLS was set up",
      check: `${checkUrl}, and whether a firewall is in between`,
    };
  }
  return undefined;
}

const ALERTS: Readonly<Record<string, string>> = {
  HandshakeFailure: "it shares no safe TLS settings with this program",
  CertificateRequired: "it asks for a client certificate, and there is none",
  UnrecognisedName: "it does not know this name",
};

function certificateFailure(text: string, url: URL): Finding {
  const [, problem, now, limit] =
    /^(?:certificate )?(expired|not valid yet|notvalidyet)(?:.*?time (\d+) .*?not valid \w+ (\d+))?/i
      .exec(text) ?? [];
  if (problem !== undefined) {
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
  if (text.startsWith("certificate not valid for name")) {
    const others = namesIn(text);
    return {
      reason: `its certificate is not for ${url.hostname}${
        others === "" ? "" : `, but for ${others}`
      }`,
      check: "check the base URL, and whether this network asks you to sign in",
    };
  }
  const file = certificateFile();
  if (text === "UnknownIssuer") {
    const trust = file === undefined
      ? "trust the issuer (DENO_TLS_CA_STORE=system, or DENO_CERT)"
      : `check that ${file}, which DENO_CERT names, holds the issuer's certificate as PEM`;
    return {
      reason: "its certificate was issued by an authority that is not trusted",
      check: `check the base URL, or ${trust}`,
      isOnThisMachine: true,
    };
  }
  return {
    reason: `its certificate is not valid: ${text}`,
    check: "check the base URL, or tell who runs the service",
    isOnThisMachine: true,
  };
}

/** At most three of the certificate's names in the library's text. */
function namesIn(text: string): string {
  const names = Array.from(
    text.slice(0, 1000).matchAll(/\w\("?([^"()]+)"?\)/g),
    ([, name]) => name,
  );
  const first = names.slice(0, 3).join(", ");
  return names.length > 3 ? `${first} and others` : first;
}

/** Why no connection was made to a host. */
function networkFailure(text: string, hostname: string): Finding {
  if (/too many open files/i.test(text)) {
    return {
      reason: "this process has too many open files",
      check: "close some sessions, or raise the limit (ulimit -n)",
      isOnThisMachine: true,
    };
  }
  if (/refused/i.test(text)) {
    return {
      reason: "connection refused",
      check: "check that the service runs, and the base URL",
    };
  }
  if (isDns(text)) {
    return {
      reason: `the name ${hostname} cannot be resolved`,
      check: "check the base URL and the network",
    };
  }
  if (/no route|unreachable/i.test(text)) {
    return { reason: "no route leads there", check: "check the network" };
  }
  if (/timed? ?out|deadline|10060/i.test(text)) {
    return {
      reason: "it does not answer",
      check: "check the network and the base URL",
    };
  }
  return {
    reason: text,
    check: "check that the service runs, and the base URL",
  };
}

function isDns(text: string): boolean {
  return text.startsWith("dns error");
}

/** Why an established connection broke. */
function brokenFailure(text: string, url: URL): Finding {
  const [, alert] = /received fatal alert: (\w+)/.exec(text) ?? [];
  if (alert !== undefined) {
    const reason = ALERTS[alert] ?? `the other end refused TLS: ${alert}`;
    return { reason, check: "ask who runs the service" };
  }
  if (/head is too large|header.*too (?:large|big|long)/i.test(text)) {
    return {
      reason: "the headers of its answer are too large",
      check: "ask who runs the service",
    };
  }
  if (RESET.test(text)) return { reason: "it was reset", check: "" };
  if (/invalid HTTP|corrupt message/i.test(text)) {
    return {
      reason: "what answers there does not speak HTTP",
      check: "check the base URL",
    };
  }
  if (/before message completed|eof|broken pipe/i.test(text)) {
    return {
      reason: "it was closed without an answer",
      check: url.protocol === "http:"
        ? "check the base URL (http: or https:), or try again later"
        : "",
    };
  }
  if (/reading a body/.test(text)) {
    return { reason: "it was closed within the answer", check: "" };
  }
  if (/(?:connection|stream) error/.test(text)) {
    return { reason: "the other end broke the protocol", check: "" };
  }
  return { reason: text, check: "" };
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

function withSpace(text: string | undefined): string {
  return text === undefined ? "" : ` ${text}`;
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
