import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import {
  connectionError,
  tlsSetupError,
} from "../../../../lib/gateway/connection/connection_failure.ts";
import type {
  Fate,
  RemoteOperation,
} from "../../../../lib/gateway/failure/fate.ts";
import type {
  Failure,
  RequestError,
} from "../../../../lib/gateway/failure/failure.ts";
import { wordsOf } from "../../../../lib/gateway/failure/service_error.ts";
import { serviceError } from "../../../support/service_errors.ts";
import {
  noConnection,
  socksFailure,
  statusFailure,
  tunnelError,
  wrongProtocol,
} from "../../../../lib/gateway/connection/tunnel_failure.ts";
import type { Proxy } from "../../../../lib/settings.ts";
import { loopbackError } from "../../../../lib/gateway/connection/loopback.ts";
import { withVariables } from "../../../support/environment.ts";
import { Redactor } from "../../../../lib/text.ts";

const KEY = "test-key-0123456789";
const REDACTOR = new Redactor(KEY);

/** A rejection of `fetch`. All texts here are those of Deno 2.9.6. */
function rejection(text: string): TypeError {
  return new TypeError("fetch failed", { cause: new Error(text) });
}

/** A rejection before a connection was made. */
function notConnected(text: string): TypeError {
  return rejection(
    `error sending request for url (https://service.test/threads): client error (Connect): ${text}`,
  );
}

/** A rejection after a connection was made. */
function sendFailure(text: string): TypeError {
  return rejection(
    `error sending request from 127.0.0.1:1 for https://service.test/threads (127.0.0.1:443): client error (SendRequest): ${text}`,
  );
}

interface Circumstances {
  readonly operation?: RemoteOperation;
  readonly baseUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly relayFailure?: Failure | undefined;
}

/** The words for a rejection, with no other relevant variables than these. */
function tell(
  cause: unknown,
  { env = {}, ...others }: Circumstances = {},
): string {
  const options = {
    ...{ operation: "create thread", baseUrl: "https://service.test" } as const,
    ...others,
    redactor: REDACTOR,
  };
  const { operation } = options;
  const { failure } = withVariables(env, () => connectionError(cause, options));
  return wordsOf(serviceError(operation, failure), "client");
}

const CERTIFICATE = "invalid peer certificate: ";
const FOR_OTHERS =
  `${CERTIFICATE}certificate not valid for name "service.test"; certificate is only valid for `;
const REFUSED = "tcp connect error: Connection refused (os error 111)";
const NO_NAME =
  "dns error: failed to lookup address information: Name or service not known";
const CLOCK = "the clock of this machine says 2026-11-21 13:34 UTC";
const NO_TLS = "it supports neither TLS 1.2 nor TLS 1.3";

const OTHER = "). The service needs another certificate.";
const USUAL = "Check the base URL, the network and the service.";

/** Why no connection was made, and advice of its own, by the library's text. */
const NOT_CONNECTED: Readonly<Record<string, string>> = {
  [REFUSED]: "connection refused",
  "tcp connect error: No connection could be made because the target machine actively refused it. (os error 10061)":
    "connection refused",
  "tcp connect error: No route to host (os error 113)": "no route to the host",
  "tcp connect error: Network is unreachable (os error 101)":
    "no route to the host",
  "tcp connect error: Connection timed out (os error 110)":
    "it does not answer",
  [NO_NAME]: "the name service.test cannot be resolved",
  // In other languages, the number decides.
  "tcp connect error: Verbindungsaufbau abgelehnt (os error 111)":
    "connection refused",
  "tcp connect error: Es konnte keine Verbindung hergestellt werden, da der Zielcomputer die Verbindung verweigerte. (os error 10061)":
    "connection refused",
  "tcp connect error: Ein Verbindungsversuch ist fehlgeschlagen. (os error 10060)":
    "it does not answer",
  "tcp connect error: Der Host war nicht erreichbar. (os error 10065)":
    "no route to the host",
  "Eine vorhandene Verbindung wurde geschlossen. (os error 10054)":
    "closed at once, perhaps by a firewall",
  "dns error: Der angegebene Host ist unbekannt. (os error 11001)":
    "the name service.test cannot be resolved",
  "Nicht-authoritativer Host nicht gefunden. (os error 11002)":
    "the name service.test cannot be resolved",
  "Der angegebene Name ist g\u00fcltig, hat aber keine Adresse. (os error 11004)":
    "the name service.test cannot be resolved",
  // One clean line, whatever a certificate holds.
  [`${FOR_OTHERS}DnsName("a\x1b[31m\nb\u202e"), Other(c)`]:
    "its certificate is not for service.test, but for a b",
  [`${CERTIFICATE}certificate not valid for name "service.test"`]:
    "its certificate is not for service.test",
  [`${CERTIFICATE}Revoked`]: `its certificate is not valid: revoked${OTHER}`,
  [`${CERTIFICATE}Other(OtherError(UnsupportedCriticalExtension))`]:
    `its certificate is not valid: unsupported critical extension${OTHER}`,
  [`${CERTIFICATE}certificate does not allow extended key usage for server authentication`]:
    `its certificate is not valid: certificate does not allow extended key usage for server authentication${OTHER}`,
  [`${CERTIFICATE}Other(OtherError(UnsupportedCertVersion))`]:
    `its certificate is not of version 3 of X.509${OTHER}`,
  [`${CERTIFICATE}Other(OtherError(NameConstraintViolation))`]:
    `the CA of its certificate may not sign for service.test (name constraints)${OTHER}`,
  [`${CERTIFICATE}Other(OtherError(EndEntityUsedAsCa))`]:
    `its certificate is signed by one that is not of a CA (CA:FALSE)${OTHER}`,
  [`${CERTIFICATE}Other(OtherError(CaUsedAsEndEntity))`]:
    `its certificate is that of a CA (CA:TRUE), which a server may not use${OTHER}`,
  "received fatal alert: ProtocolVersion": NO_TLS,
  "peer is incompatible: ServerDoesNotSupportTls12Or13. See https://docs.rs/rustls":
    NO_TLS,
  "received fatal alert: HandshakeFailure": "it refused TLS: HandshakeFailure",
  "received corrupt message of type InvalidContentType":
    "what answers at port 443 does not speak https",
  "tls handshake eof": "closed at once, perhaps by a firewall",
  "tcp open error: Too many open files (os error 24)":
    "too many open files). Close some sessions, or raise the limit (ulimit -n).",
  [`${CERTIFICATE}certificate expired: verification time 1795268068 (UNIX), but certificate is not valid after 1768478400 (26797962 seconds ago)`]:
    `its certificate expired on 2026-01-15 12:00 UTC; ${CLOCK}). Check both.`,
  [`${CERTIFICATE}certificate not valid yet: verification time 1795268068 (UNIX), but certificate is not valid before 1893456000 (98179638 seconds in future)`]:
    `its certificate is not valid before 2030-01-01 00:00 UTC; ${CLOCK}). Check both.`,
  "something new": "something new",
  [`it knows ${KEY}!`]: "it knows ...!",
};

for (const [text, reason] of Object.entries(NOT_CONNECTED)) {
  Deno.test(`connectionError() explains ${JSON.stringify(text.slice(0, 60))}`, () => {
    const told = reason.endsWith(".") ? reason : `${reason}). ${USUAL}`;
    const start = "https://service.test cannot be reached (";
    assertEquals(tell(notConnected(text)), start + told);
  });
}

Deno.test("connectionError() names HTTPS_PROXY where only HTTP_PROXY is set", () => {
  const env = { HTTP_PROXY: "http://proxy.test:3128" };
  const hint = ", or set HTTPS_PROXY (only HTTP_PROXY is set)";
  assertStringIncludes(tell(notConnected(NO_NAME), { env }), hint);
  assert(!tell(notConnected(NO_NAME)).includes(hint));
});

/** A proxy of this scheme. */
function proxy(scheme: Proxy["scheme"]): Proxy {
  const [hostname, port] = ["proxy.test", 3128];
  return {
    ...{ variable: "HTTPS_PROXY", scheme, hostname, port, user: "" },
    ...{ password: "", origin: `${scheme}://${hostname}:${port}` },
  };
}

const HTTP = proxy("http");
const SECURE = proxy("https");
const CHECK = "Check HTTPS_PROXY and NO_PROXY.";
const ALL = "Check the base URL, HTTPS_PROXY and NO_PROXY.";
const SCHEME = "Try http:// or socks5:// in HTTPS_PROXY.";
const UNKNOWN_ISSUER = `${CERTIFICATE}UnknownIssuer`;

function lost(proxy: Proxy, text: string): RequestError {
  return withVariables(
    {},
    () => noConnection(proxy, new Error(text), REDACTOR),
  );
}

function answered(status: number): RequestError {
  return statusFailure(HTTP, status, []);
}

/**
 * What is told about the failure of a proxy, and the fate of a prompt. Further
 * words are tested with the bytes of proxies, in relay_test.ts.
 */
const BY_PROXY: readonly (readonly [RequestError, string, Fate])[] = [
  [
    tunnelError(HTTP),
    `connection). The prompt did not run. ${SCHEME}`,
    "not run",
  ],
  [
    lost(HTTP, "Connection refused"),
    `refused). The prompt did not run. ${CHECK}`,
    "not run",
  ],
  [lost(HTTP, NO_NAME), "the name proxy.test cannot", "not run"],
  [
    lost(HTTP, "invalid host 'a..b': empty label found in FQDN"),
    `(no host can have the name proxy.test). ${CHECK}`,
    "refused",
  ],
  [lost(HTTP, "Too many open files"), "(too many open files)", "not run"],
  [lost(SECURE, UNKNOWN_ISSUER), "Trust the CA: ", "not run"],
  [lost(SECURE, "InvalidMessage"), SCHEME, "not run"],
  [wrongProtocol(HTTP), SCHEME, "refused"],
  [answered(400), `it answered 400). ${ALL}`, "refused"],
  [answered(403), `it answered 403). ${ALL}`, "refused"],
  [answered(407), "(http://user:password@host:port)", "refused"],
  [
    answered(503),
    `it answered 503). The prompt did not run. ${ALL}`,
    "not run",
  ],
  [answered(500), "it answered 500", "not run"],
  [answered(408), "it answered 408", "not run"],
  [answered(429), "it answered 429", "not run"],
  [answered(302), "it answered 302 with a web page", "not run"],
  [answered(511), "it answered 511 with a web page", "not run"],
  [socksFailure(HTTP, 2), `its rules forbid it). ${ALL}`, "refused"],
  [socksFailure(HTTP, 5), "it says: connection refused", "not run"],
  [socksFailure(HTTP, 99), "it refused with code 99", "not run"],
];

for (const [{ failure: tunnel }, told, fate] of BY_PROXY) {
  Deno.test(`connectionError() names the proxy: ${told}`, () => {
    const { failure } = connectionError(notConnected("SOCKS"), {
      ...{
        operation: "create run",
        redactor: REDACTOR,
        relayFailure: tunnel,
      },
      ...{ baseUrl: "https://service.test", proxy: HTTP },
    });
    const error = serviceError("create run", failure);
    const { message } = error;
    const start = "https://service.test cannot be reached through the proxy";
    assertStringIncludes(message, `${start} ${HTTP.origin} (`);
    assertStringIncludes(message, told);
    assertEquals(error.fate, fate);
  });
}

Deno.test("connectionError() of a relay that cannot listen says that nothing was sent", () => {
  const cause = new Error("Too many open files (os error 24)");
  assertMatch(
    tell(cause, { operation: "create run" }),
    /^https:\/\/service\.test cannot be reached .*\. The prompt did not run\. /,
  );
});

Deno.test("connectionError() names the permission that is missing", () => {
  const cause = new Error('Requires net access to "service.test:443", run');
  assertEquals(
    tell(cause, { operation: "create run" }),
    "https://service.test cannot be reached (Deno may not connect to service.test). Run Deno with --allow-net=service.test.",
  );
});

Deno.test("connectionError() refuses a name that no host can have", () => {
  const baseUrl = "https://a..b";
  const cause = notConnected("invalid dns name");
  assertEquals(
    tell(cause, { operation: "create run", baseUrl }),
    "https://a..b cannot be reached (no host can have the name a..b). Check the base URL, the network and the service.",
  );
});

Deno.test("connectionError() tells how to trust an issuer that is not trusted, and names the file of DENO_CERT", () => {
  const cause = notConnected(UNKNOWN_ISSUER);
  const start =
    "https://service.test cannot be reached (its certificate comes from a CA that is not trusted, or it does not send its intermediate certificate). ";
  const how = "Trust the CA: DENO_TLS_CA_STORE=system, or DENO_CERT=FILE.";
  assertEquals(tell(cause), start + how);
  assertStringIncludes(
    tell(cause, { env: { DENO_CERT: "/etc/company.pem" } }),
    `${start}Check that "/etc/company.pem" (DENO_CERT) contains the CA's certificate as PEM.`,
  );
  assertEquals(
    tell(cause, { env: { DENO_TLS_CA_STORE: "mozilla,system" } }),
    `${start}Add the CA to this system's store, or name its file in DENO_CERT.`,
  );
});

for (const tunnel of [undefined, answered(502).failure]) {
  Deno.test(`connectionError() says that no service is configured if the host is only an example, ${tunnel?.reason}`, () => {
    assertEquals(
      tell(notConnected(NO_NAME), {
        ...{ baseUrl: "https://the-brain.example", relayFailure: tunnel },
      }),
      "No service is configured: https://the-brain.example is a placeholder. " +
        "Set APP_BASE_URL or --base-url to the URL of your service.",
    );
  });
}

const SERVICE = "https://service.test";
const BROKE_PROTOCOL = `${SERVICE} broke the protocol of the connection`;

/** Why an established connection broke, by the library's text. */
const BROKEN: Readonly<Record<string, string>> = {
  "connection closed before message completed":
    `${SERVICE} closed the connection without an answer`,
  "Connection reset by peer (os error 104)": `${SERVICE} reset the connection`,
  "invalid HTTP version parsed":
    `What answers at ${SERVICE} does not speak HTTP`,
  "error reading a body from connection":
    `${SERVICE} closed the connection in the middle of its answer`,
  "received fatal alert: CertificateRequired":
    `${SERVICE} cannot be used: it requires a client certificate, which this program does not support`,
  "something new": `The connection to ${SERVICE} broke (something new)`,
  "stream error received: unspecific protocol error detected": BROKE_PROTOCOL,
  // A reset of the stream, not of the connection: the prompt may have run.
  "stream error received: not a result of an error": BROKE_PROTOCOL,
};

for (const [text, reason] of Object.entries(BROKEN)) {
  Deno.test(`connectionError() tells that a connection broke: ${text}`, () => {
    const isInBody = text.includes("a body");
    const cause = isInBody ? new TypeError(text) : sendFailure(text);
    const operations = ["create thread", "create run", "stream run"] as const;
    assertEquals(operations.map((operation) => tell(cause, { operation })), [
      `${reason}. Check the base URL, or try again later.`,
      `${reason}. The run may have started, so the prompt was not retried.`,
      `${reason}. The run may still continue.`,
    ]);
  });
}

/** `GOAWAY` with `NO_ERROR`. */
const GOAWAY = "connection error received: not a result of an error";

for (const text of [GOAWAY, "connection closed"]) {
  Deno.test(`connectionError() says that the run was not started: ${text}`, () => {
    const cause = sendFailure(text);
    const reason =
      `${SERVICE} closed the connection before accepting the request; it may be restarting.`;
    const later = "Try again later.";
    assertEquals(
      [tell(cause), tell(cause, { operation: "create run" })],
      [`${reason} ${later}`, `${reason} The prompt did not run. ${later}`],
    );
  });
}

Deno.test("connectionError() shows no part of the key, wherever a peer's words are cut", () => {
  const words = "connection error received: unexpected internal error";
  for (let length = 400; length < 520; length++) {
    const pad = "x".repeat(length);
    const told = [
      tell(sendFailure(`${words} (b"${pad}${KEY}")`)),
      tell(sendFailure(`something new (b"${pad}${KEY}")`)),
      tell(notConnected(`${FOR_OTHERS}DnsName("${pad}${KEY}")`)),
      tell(notConnected(`something new "${pad}${KEY}"`)),
    ];
    const shown = told.filter((text) => text.includes(KEY.slice(0, 5)));
    assertEquals(shown, [], `${length}`);
  }
});

const LOST = "connection lost";

/** The problems that may pass, by the library's text. */
const PROBLEMS: readonly (readonly [unknown, string?])[] = [
  [notConnected(REFUSED), "connection refused"],
  [
    notConnected("tcp connect error: abgelehnt (os error 10061)"),
    "connection refused",
  ],
  [sendFailure("connection closed"), "connection closed"],
  [sendFailure(GOAWAY), "connection closed"],
  [sendFailure(`${GOAWAY} (b"max_age")`), "connection closed"],
  [sendFailure(GOAWAY.replace("connection", "stream")), LOST],
  [
    sendFailure("stream error received: refused stream before processing any"),
    LOST,
  ],
  [sendFailure("Connection reset by peer (os error 104)"), LOST],
  [notConnected(NO_NAME), LOST],
  [notConnected("tcp connect error: (os error 113)"), "no connection"],
  [notConnected("tcp connect error: (os error 101)"), "no connection"],
  [notConnected(UNKNOWN_ISSUER), "certificate not valid"],
  [notConnected(`${CERTIFICATE}certificate expired`), "certificate not valid"],
  [sendFailure("connection closed before message completed"), LOST],
  [sendFailure("tcp connect error: Connection refused"), LOST],
  [new Error("something new"), LOST],
  // An answer that can never be read
  [sendFailure("message head is too large")],
  [rejection("stream error detected: unspecific protocol error detected")],
  [rejection('connection error detected: detected excessive load (b"x")')],
];

Deno.test("connectionError() says which problem may pass", () => {
  for (const [cause, problem] of PROBLEMS) {
    const { failure } = connectionError(cause, {
      operation: "create run",
      baseUrl: "https://service.test",
      redactor: REDACTOR,
    });
    assertEquals(failure.problem, problem);
  }
});

Deno.test("the program without descriptors is told so, also while TLS is set up, and the answers of SOCKS which problem may pass", () => {
  const cause = new Error("Failed opening CA file: (os error 24)");
  const { failure } = tlsSetupError(cause, REDACTOR);
  assertEquals(
    [failure.stage, failure.reason, failure.problem],
    ["not sent", "There are too many open files", "too many open files"],
  );
  const problems = [3, 4, 5].map((code) =>
    socksFailure(HTTP, code).failure.problem
  );
  assertEquals(problems, ["no connection", LOST, "connection refused"]);
});

Deno.test("connectionError() of a run that cannot be followed advises nothing, as the base URL has just worked", () => {
  const told = tell(notConnected(REFUSED), { operation: "stream run" });
  assertMatch(
    told,
    /\(connection refused\)\. The run may still continue\.$/,
  );
});

for (
  const [env, advice] of [
    [{ DENO_CERT: "/etc/company.pem" }, 'DENO_CERT ("/etc/company.pem")'],
    [{ DENO_TLS_CA_STORE: "attic", DENO_CERT: "" }, "DENO_TLS_CA_STORE"],
    [
      { DENO_TLS_CA_STORE: "mozilla", DENO_CERT: "a.pem" },
      'DENO_CERT ("a.pem") and DENO_TLS_CA_STORE',
    ],
    [
      { DENO_TLS_CA_STORE: "system" },
      "DENO_TLS_CA_STORE, SSL_CERT_FILE and SSL_CERT_DIR",
    ],
  ] as const
) {
  Deno.test(`tlsSetupError() tells the library's words on one clean line, and to check ${advice}`, () => {
    const text =
      "Failed opening CA file: Is a\tdirectory\x1b[31m (os error 21)";
    const tls = () => tlsSetupError(new Error(text), REDACTOR);
    const { failure } = withVariables(env, tls);
    assertEquals(
      wordsOf(serviceError("create thread", failure), "client"),
      `TLS cannot be set up (Failed opening CA file: Is a directory). Check ${advice}.`,
    );
  });
}

Deno.test("tlsSetupError() shows at most 500 characters of the library's words", () => {
  const { failure } = tlsSetupError(new Error("x".repeat(600)), REDACTOR);
  assertEquals(failure.reason.match(/x+/)?.[0].length, 500);
});

Deno.test("loopbackError() repeats a request if what was lacking may be there again", () => {
  const cause = new Error("closed");
  const rows: readonly [Parameters<typeof loopbackError>[1], string?][] = [
    [{ operation: "create run" }, "no connection"],
    [{ operation: "create run", isLate: true }],
    [{ operation: "create run", obstacle: "loopback" }],
    [
      { operation: "create run", obstacle: "descriptors" },
      "too many open files",
    ],
    [{ operation: "stream run", isLate: true }, "no connection"],
    [{ operation: "stream run", obstacle: "loopback" }, "no connection"],
  ];
  for (const [options, problem] of rows) {
    const { failure } = loopbackError(cause, options);
    assertEquals([failure.stage, failure.problem], ["not sent", problem]);
  }
});
