import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  connectionFailure,
  type ConnectionFailureOptions,
  tlsSetupFailure,
} from "../../../../lib/gateway/connection/connection_failure.ts";
import { loopbackFailure } from "../../../../lib/gateway/connection/loopback.ts";
import {
  noConnectionError,
  protocolError,
  socksError,
  tunnelError,
  tunnelStatusError,
} from "../../../../lib/gateway/connection/tunnel_error.ts";
import type { Failure } from "../../../../lib/gateway/failure/failure.ts";
import type { Proxy } from "../../../../lib/settings.ts";
import { Redactor } from "../../../../lib/text.ts";
import { withVariables } from "../../../support/environment.ts";
import { testRows } from "../../../support/tables.ts";

const KEY = "test-key-0123456789";
const redactor = new Redactor(KEY);

/**
 * An error of `fetch`, with a text of Deno 2.9.6 as its cause. One that begins with a
 * kind failed before the connection was made, or after.
 */
function rejection(text: string): TypeError {
  const [, kind, words] = /^(Connect|SendRequest): (.*)$/s.exec(text) ?? [];
  const place = kind === "Connect"
    ? "for url (https://service.test/threads)"
    : "from 127.0.0.1:1 for https://service.test/threads (127.0.0.1:443)";
  const cause = kind === undefined
    ? text
    : `error sending request ${place}: client error (${kind}): ${words}`;
  return new TypeError("fetch failed", { cause: new Error(cause) });
}

/** What is known of a failure, in a line. */
function told({ stage, problem, reason, advice }: Failure): string {
  return `${stage}, ${problem}: ${reason}. ${advice}`;
}

interface Circumstances extends Partial<ConnectionFailureOptions> {
  readonly env?: Readonly<Record<string, string>>;
  readonly baseUrl?: string;
  readonly proxy?: Proxy;
}

/** The line about a rejection of a request to create a thread. */
function explain(
  text: string,
  { env = {}, baseUrl = "https://service.test", proxy, ...others }:
    Circumstances = {},
): string {
  const route = { url: new URL(baseUrl), proxy, redactor };
  const options = { operation: "create thread", route, ...others } as const;
  return withVariables(
    env,
    () => told(connectionFailure(rejection(text), options)),
  );
}

const USUAL = " Check the base URL, the network and the service";

/** The text of a library, and below it what is told of it, with `URL` and `USUAL`. */
const TOLD = `
Connect: tcp connect error: Connection refused (os error 111)
  not sent, connection refused: URL cannot be reached (connection refused). USUAL
Connect: tcp connect error: Verbindungsaufbau abgelehnt (os error 10061)
  not sent, connection refused: URL cannot be reached (connection refused). USUAL
Connect: tcp connect error: No route to host (os error 113)
  not sent, no connection: URL cannot be reached (no route to the host). USUAL
Connect: tcp connect error: Network is unreachable (os error 101)
  not sent, no connection: URL cannot be reached (no route to the host). USUAL
Connect: tcp connect error: Der Host war nicht erreichbar. (os error 10065)
  not sent, no connection: URL cannot be reached (no route to the host). USUAL
Connect: tcp connect error: Connection timed out (os error 110)
  not sent, connection lost: URL cannot be reached (it does not answer). USUAL
Connect: tcp connect error: Ein Verbindungsversuch ist fehlgeschlagen. (os error 10060)
  not sent, connection lost: URL cannot be reached (it does not answer). USUAL
Connect: Eine vorhandene Verbindung wurde geschlossen. (os error 10054)
  not sent, connection lost: URL cannot be reached (closed at once, perhaps by a firewall). USUAL
Connect: tls handshake eof
  not sent, connection lost: URL cannot be reached (closed at once, perhaps by a firewall). USUAL
Connect: dns error: failed to lookup address information: Name or service not known
  not sent, connection lost: URL cannot be reached (the name service.test cannot be resolved). USUAL
Connect: dns error: Der angegebene Host ist unbekannt. (os error 11001)
  not sent, connection lost: URL cannot be reached (the name service.test cannot be resolved). USUAL
Connect: Nicht-authoritativer Host nicht gefunden. (os error 11002)
  not sent, connection lost: URL cannot be reached (the name service.test cannot be resolved). USUAL
Connect: Der angegebene Name hat keine Adresse. (os error 11004)
  not sent, connection lost: URL cannot be reached (the name service.test cannot be resolved). USUAL
Connect: tcp open error: Too many open files (os error 24)
  not sent, too many open files: URL cannot be reached (too many open files). Close some sessions, or raise the limit (ulimit -n)
Connect: received fatal alert: ProtocolVersion
  not sent, connection lost: URL cannot be reached (it supports neither TLS 1.2 nor TLS 1.3). USUAL
Connect: peer is incompatible: ServerDoesNotSupportTls12Or13. See https://docs.rs/rustls
  not sent, connection lost: URL cannot be reached (it supports neither TLS 1.2 nor TLS 1.3). USUAL
Connect: received fatal alert: HandshakeFailure
  not sent, connection lost: URL cannot be reached (it refused TLS: HandshakeFailure). USUAL
Connect: received corrupt message of type InvalidContentType
  not sent, connection lost: URL cannot be reached (what answers at port 443 does not speak https). USUAL
Connect: invalid peer certificate: certificate not valid for name "service.test"
  not sent, certificate not valid: URL cannot be reached (its certificate is not for service.test). USUAL
Connect: invalid peer certificate: UnknownIssuer
  not sent, certificate not valid: URL cannot be reached (its certificate comes from a CA that is not trusted, or it does not send its intermediate certificate). Trust the CA: DENO_TLS_CA_STORE=system, or DENO_CERT=FILE
Connect: invalid peer certificate: certificate expired: verification time 1795268068 (UNIX), but certificate is not valid after 1768478400 (26797962 seconds ago)
  not sent, certificate not valid: URL cannot be reached (its certificate expired on 2026-01-15 12:00 UTC; the clock of this machine says 2026-11-21 13:34 UTC). Check both
Connect: invalid peer certificate: certificate not valid yet: verification time 1795268068 (UNIX), but certificate is not valid before 1893456000 (98179638 seconds in future)
  not sent, certificate not valid: URL cannot be reached (its certificate is not valid before 2030-01-01 00:00 UTC; the clock of this machine says 2026-11-21 13:34 UTC). Check both
Connect: invalid peer certificate: Revoked
  not sent, certificate not valid: URL cannot be reached (its certificate is not valid: revoked). The service needs another certificate
Connect: invalid peer certificate: Other(OtherError(UnsupportedCriticalExtension))
  not sent, certificate not valid: URL cannot be reached (its certificate is not valid: unsupported critical extension). The service needs another certificate
Connect: invalid peer certificate: Other(OtherError(UnsupportedCertVersion))
  not sent, certificate not valid: URL cannot be reached (its certificate is not of version 3 of X.509). The service needs another certificate
Connect: invalid peer certificate: Other(OtherError(NameConstraintViolation))
  not sent, certificate not valid: URL cannot be reached (the CA of its certificate may not sign for service.test (name constraints)). The service needs another certificate
Connect: invalid peer certificate: Other(OtherError(EndEntityUsedAsCa))
  not sent, certificate not valid: URL cannot be reached (its certificate is signed by one that is not of a CA (CA:FALSE)). The service needs another certificate
Connect: invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))
  not sent, certificate not valid: URL cannot be reached (its certificate is that of a CA (CA:TRUE), which a server may not use). The service needs another certificate
Connect: something new
  not sent, connection lost: URL cannot be reached (something new). USUAL
Connect: it knows test-key-0123456789!
  not sent, connection lost: URL cannot be reached (it knows ...!). USUAL
SendRequest: connection closed before message completed
  perhaps taken, connection lost: URL closed the connection without an answer. Check the base URL, or try again later
SendRequest: Connection reset by peer (os error 104)
  perhaps taken, connection lost: URL reset the connection. Check the base URL, or try again later
SendRequest: invalid HTTP version parsed
  perhaps taken, connection lost: What answers at URL does not speak HTTP. Check the base URL, or try again later
error reading a body from connection
  perhaps taken, connection lost: URL closed the connection in the middle of its answer. Check the base URL, or try again later
SendRequest: received fatal alert: CertificateRequired
  perhaps taken, connection lost: URL cannot be used: it requires a client certificate, which this program does not support. Check the base URL, or try again later
SendRequest: something new
  perhaps taken, connection lost: The connection to URL broke (something new). Check the base URL, or try again later
SendRequest: stream error received: unspecific protocol error detected
  perhaps taken, connection lost: URL broke the protocol of the connection. Check the base URL, or try again later
SendRequest: stream error received: refused stream before processing any application logic
  perhaps taken, connection lost: URL broke the protocol of the connection. Check the base URL, or try again later
SendRequest: stream error received: not a result of an error
  perhaps taken, connection lost: URL broke the protocol of the connection. Check the base URL, or try again later
SendRequest: tcp connect error: Connection refused
  perhaps taken, connection lost: The connection to URL broke (tcp connect error: Connection refused). Check the base URL, or try again later
SendRequest: connection closed
  not taken, connection closed: URL closed the connection before accepting the request; it may be restarting. undefined
SendRequest: connection error received: not a result of an error
  not taken, connection closed: URL closed the connection before accepting the request; it may be restarting. undefined
SendRequest: connection error received: not a result of an error (b"max_age")
  not taken, connection closed: URL closed the connection before accepting the request; it may be restarting. undefined
Too many open files (os error 24)
  not sent, too many open files: URL cannot be reached (too many open files). Close some sessions, or raise the limit (ulimit -n)
Requires net access to "service.test:443", run
  refused, connection lost: URL cannot be reached (Deno may not connect to service.test). Run Deno with --allow-net=service.test
Connect: invalid dns name
  refused, connection lost: URL cannot be reached (no host can have the name service.test). USUAL
Fetch failed: Requests to port 9 are blocked
  refused, connection lost: Port 9 cannot be used: Deno blocks it. Use another port
SendRequest: message head is too large
  perhaps taken, undefined: URL sends an answer that cannot be read: its headers are too many, too long, or malformed. The service should send fewer and shorter ones
SendRequest: stream error detected: malformed
  perhaps taken, undefined: URL sends an answer that cannot be read: its headers are too many, too long, or malformed. The service should send fewer and shorter ones
`;

for (const [, text = "", line] of TOLD.matchAll(/^(\S.*)\n {2}(.*)$/gm)) {
  Deno.test(`connectionFailure() explains ${text}`, () => {
    const shown = explain(text).replace("https://service.test", "URL")
      .replace(USUAL, " USUAL");
    assertEquals(shown, line);
  });
}

const UNTRUSTED = "Connect: invalid peer certificate: UnknownIssuer";
const FOR_OTHERS =
  'Connect: invalid peer certificate: certificate not valid for name "service.test"; certificate is only valid for ';
const NO_NAME = "Connect: dns error: failed to lookup address information";
const HTTP = proxy("http");
const SECURE = proxy("https");

/** Why a proxy opened no tunnel, by its name in the table below. */
const HEARD: Readonly<Record<string, Circumstances>> = {
  "502": { relayFailure: tunnelStatusError(HTTP, 502, []).failure },
  "end": { proxy: HTTP, relayFailure: tunnelError(HTTP).failure },
};

// What else the words depend on. A service that has created a thread has a right base URL.
testRows(
  "connectionFailure() with {circumstances} and {heard} of a proxy says: {line}",
  "text | circumstances | heard | line",
  String.raw`
${FOR_OTHERS}DnsName("a${"\x1b"}[31m\nb${"\u202e"}"), Other(c) | {} | | (its certificate is not for service.test, but for a b)
Connect: tls handshake eof | {"operation":"stream run"} | | (closed at once, perhaps by a firewall). undefined
${UNTRUSTED} | {"env":{"DENO_CERT":"/etc/company.pem"}} | | Check that "/etc/company.pem" (DENO_CERT) contains the CA's certificate as PEM
${UNTRUSTED} | {"env":{"DENO_TLS_CA_STORE":"mozilla,system"}} | | Add the CA to this system's store, or name its file in DENO_CERT
${UNTRUSTED} | {"baseUrl":"https://agent.company.example"} | | https://agent.company.example cannot be reached (its certificate comes
${NO_NAME} | {"baseUrl":"https://the-brain.example"} | | refused, undefined: No service is configured: https://the-brain.example is a placeholder. Set APP_BASE_URL or --base-url to the URL of your service
${NO_NAME} | {"baseUrl":"https://the-brain.example"} | 502 | refused, undefined: No service is configured: https://the-brain.example is a placeholder.
SendRequest: connection closed before message completed | {"operation":"create run"} | | without an answer. undefined
Connect: SOCKS | {} | end | not sent, connection lost: https://service.test cannot be reached through the proxy http://proxy.test:3128 (it closed the connection). Try http:// or socks5:// in HTTPS_PROXY
`,
  ({ text, circumstances, heard, line }) => {
    const known = { ...JSON.parse(circumstances), ...HEARD[heard] };
    const told = explain(text.replace("\\n", "\n"), known);
    assertStringIncludes(told, line);
  },
);

/** A proxy of this scheme. */
function proxy(scheme: Proxy["scheme"]): Proxy {
  const origin = `${scheme}://proxy.test:3128`;
  return { variable: "HTTPS_PROXY", scheme, origin, user: "", password: "" };
}

function lost(proxy: Proxy, text: string): string {
  return withVariables(
    {},
    () => told(noConnectionError(proxy, new Error(text), redactor).failure),
  );
}

const answered = (status: number) =>
  told(tunnelStatusError(HTTP, status, []).failure);
const refused = (code: number) => told(socksError(HTTP, code).failure);

Deno.test("the failures of proxies say what became of a request and what to check; relay_test.ts has more", () => {
  const lines = [
    lost(HTTP, "Connection refused"),
    lost(HTTP, "invalid host 'a..b': empty label found in FQDN"),
    lost(SECURE, UNTRUSTED.replace("Connect: ", "")),
    lost(SECURE, "InvalidMessage"),
    told(protocolError(HTTP).failure),
    ...[302, 400, 403, 407, 408, 429, 500, 511].map(answered),
    ...[2, 3, 4, 5, 99].map(refused),
  ];
  assertEquals(
    lines,
    `
not sent, connection refused: connection refused. Check HTTPS_PROXY and NO_PROXY
refused, connection lost: no host can have the name proxy.test. Check HTTPS_PROXY and NO_PROXY
not sent, certificate not valid: its certificate comes from a CA that is not trusted, or it does not send its intermediate certificate. Trust the CA: DENO_TLS_CA_STORE=system, or DENO_CERT=FILE
not sent, connection lost: what answers at port 3128 does not speak https. Try http:// or socks5:// in HTTPS_PROXY
refused, connection lost: it does not speak HTTP. Try http:// or socks5:// in HTTPS_PROXY
refused, connection lost: it answered 302. Check the base URL, HTTPS_PROXY and NO_PROXY
refused, connection lost: it answered 400. Check the base URL, HTTPS_PROXY and NO_PROXY
refused, connection lost: it answered 403. Check the base URL, HTTPS_PROXY and NO_PROXY
refused, connection lost: it answered 407 and requires a user name and a password. Check those in HTTPS_PROXY (http://user:password@host:port)
not sent, connection lost: it answered 408. Check the base URL, HTTPS_PROXY and NO_PROXY
not sent, connection lost: it answered 429. Check the base URL, HTTPS_PROXY and NO_PROXY
not sent, connection lost: it answered 500. Check the base URL, HTTPS_PROXY and NO_PROXY
not sent, connection lost: it answered 511. Check the base URL, HTTPS_PROXY and NO_PROXY
refused, connection lost: its rules forbid it. Check the base URL, HTTPS_PROXY and NO_PROXY
not sent, no connection: it has no route there. Check the base URL, HTTPS_PROXY and NO_PROXY
not sent, connection lost: it cannot find or reach the host. Check the base URL, HTTPS_PROXY and NO_PROXY
not sent, connection refused: it says: connection refused. Check the base URL, HTTPS_PROXY and NO_PROXY
not sent, connection lost: it refused with code 99. Check the base URL, HTTPS_PROXY and NO_PROXY
`.trim().split("\n"),
  );
});

Deno.test("connectionFailure() shows no part of the key, wherever a peer's words are cut", () => {
  const words = "SendRequest: connection error received: unspecific error";
  for (let length = 400; length < 520; length++) {
    const end = `${"x".repeat(length)}${KEY}`;
    const shown = [
      explain(`${words} (b"${end}")`),
      explain(`SendRequest: something new (b"${end}")`),
      explain(`${FOR_OTHERS}DnsName("${end}")`),
      explain(`Connect: something new "${end}"`),
    ].filter((text) => text.includes(KEY.slice(0, 5)));
    assertEquals(shown, [], `${length}`);
  }
});

testRows(
  "tlsSetupFailure() tells the library's words on one clean line, and with {env} to check {advice}",
  "env | advice",
  `
{"DENO_CERT":"/etc/company.pem"}                    | DENO_CERT ("/etc/company.pem")
{"DENO_TLS_CA_STORE":"attic","DENO_CERT":""}        | DENO_TLS_CA_STORE
{"DENO_TLS_CA_STORE":"mozilla","DENO_CERT":"a.pem"} | DENO_CERT ("a.pem"), DENO_TLS_CA_STORE
`,
  ({ env, advice }) => {
    const text =
      "Failed opening CA file: Is a\tdirectory\x1b[31m (os error 21)";
    const tls = () => told(tlsSetupFailure(new Error(text), redactor));
    assertEquals(
      withVariables(JSON.parse(env), tls),
      `refused, undefined: TLS cannot be set up (Failed opening CA file: Is a directory). Check ${advice}`,
    );
  },
);

Deno.test("tlsSetupFailure() says so if the program has no descriptors", () => {
  const cause = new Error("Failed opening CA file: (os error 24)");
  assertEquals(
    told(tlsSetupFailure(cause, redactor)),
    "not sent, too many open files: There are too many open files. Close some sessions, or raise the limit (ulimit -n)",
  );
});

Deno.test("loopbackFailure() repeats a request if what was lacking may be there again", () => {
  const lines = ([
    { operation: "create run" },
    { operation: "create run", isLate: true },
    { operation: "create run", obstacle: "loopback" },
    { operation: "create run", obstacle: "descriptors" },
    { operation: "stream run", isLate: true },
    { operation: "stream run", obstacle: "loopback" },
  ] as const).map((options) => told(loopbackFailure(new Error("x"), options)));
  assertEquals(
    lines,
    `
not sent, no connection: The program cannot connect to itself on 127.0.0.1. Check whether another program keeps it busy
not sent, undefined: The program cannot connect to itself on 127.0.0.1. Check whether another program keeps it busy
not sent, undefined: The program cannot connect to itself on 127.0.0.1. Check whether a firewall forbids it
not sent, too many open files: There are too many open files. Close some sessions, or raise the limit (ulimit -n)
not sent, no connection: The program cannot connect to itself on 127.0.0.1. Check whether another program keeps it busy
not sent, no connection: The program cannot connect to itself on 127.0.0.1. Check whether a firewall forbids it
`.trim().split("\n"),
  );
});
