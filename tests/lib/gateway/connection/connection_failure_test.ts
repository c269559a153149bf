import { assertEquals, assertStringIncludes } from "@std/assert";
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

const LOST = "connection lost";

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

const CERTIFICATE = "invalid peer certificate:";
const UNKNOWN_ISSUER = `${CERTIFICATE} UnknownIssuer`;
const FOR_OTHERS =
  `${CERTIFICATE} certificate not valid for name "service.test"; certificate is only valid for`;
const NO_NAME =
  "dns error: failed to lookup address information: Name or service not known";
const SERVICE = "https://service.test";

/**
 * Pairs of lines: the text of a library, and what is told of it, behind a problem that
 * may pass, if it is not that the connection was lost.
 */
function pairsOf(
  table: string,
): readonly (readonly [string, string, string])[] {
  const pairs = table.matchAll(/^(\S.*)\n {2}(?:\[(.*?)\] )?(.*)$/gm);
  return Array.from(
    pairs,
    ([, text = "", problem = LOST, words = ""]) => [text, words, problem],
  );
}

/** Why no connection was made, with advice of its own. The number decides. */
const CONNECTING = pairsOf(`
tcp connect error: Connection refused (os error 111)
  [connection refused] connection refused
tcp connect error: Verbindungsaufbau abgelehnt (os error 10061)
  [connection refused] connection refused
tcp connect error: No route to host (os error 113)
  [no connection] no route to the host
tcp connect error: Network is unreachable (os error 101)
  [no connection] no route to the host
tcp connect error: Der Host war nicht erreichbar. (os error 10065)
  [no connection] no route to the host
tcp connect error: Connection timed out (os error 110)
  it does not answer
tcp connect error: Ein Verbindungsversuch ist fehlgeschlagen. (os error 10060)
  it does not answer
Eine vorhandene Verbindung wurde geschlossen. (os error 10054)
  closed at once, perhaps by a firewall
tls handshake eof
  closed at once, perhaps by a firewall
dns error: failed to lookup address information: Name or service not known
  the name service.test cannot be resolved
dns error: Der angegebene Host ist unbekannt. (os error 11001)
  the name service.test cannot be resolved
Nicht-authoritativer Host nicht gefunden. (os error 11002)
  the name service.test cannot be resolved
Der angegebene Name hat keine Adresse. (os error 11004)
  the name service.test cannot be resolved
tcp open error: Too many open files (os error 24)
  [too many open files] too many open files). Close some sessions, or raise the limit (ulimit -n).
received fatal alert: ProtocolVersion
  it supports neither TLS 1.2 nor TLS 1.3
peer is incompatible: ServerDoesNotSupportTls12Or13. See https://docs.rs/rustls
  it supports neither TLS 1.2 nor TLS 1.3
received fatal alert: HandshakeFailure
  it refused TLS: HandshakeFailure
received corrupt message of type InvalidContentType
  what answers at port 443 does not speak https
invalid peer certificate: certificate not valid for name "service.test"
  [certificate not valid] its certificate is not for service.test
invalid peer certificate: UnknownIssuer
  [certificate not valid] its certificate comes from a CA that is not trusted, or it does not send its intermediate certificate). Trust the CA: DENO_TLS_CA_STORE=system, or DENO_CERT=FILE.
invalid peer certificate: certificate expired: verification time 1795268068 (UNIX), but certificate is not valid after 1768478400 (26797962 seconds ago)
  [certificate not valid] its certificate expired on 2026-01-15 12:00 UTC; the clock of this machine says 2026-11-21 13:34 UTC). Check both.
invalid peer certificate: certificate not valid yet: verification time 1795268068 (UNIX), but certificate is not valid before 1893456000 (98179638 seconds in future)
  [certificate not valid] its certificate is not valid before 2030-01-01 00:00 UTC; the clock of this machine says 2026-11-21 13:34 UTC). Check both.
invalid peer certificate: Revoked
  [certificate not valid] its certificate is not valid: revoked). The service needs another certificate.
invalid peer certificate: Other(OtherError(UnsupportedCriticalExtension))
  [certificate not valid] its certificate is not valid: unsupported critical extension). The service needs another certificate.
invalid peer certificate: Other(OtherError(UnsupportedCertVersion))
  [certificate not valid] its certificate is not of version 3 of X.509). The service needs another certificate.
invalid peer certificate: Other(OtherError(NameConstraintViolation))
  [certificate not valid] the CA of its certificate may not sign for service.test (name constraints)). The service needs another certificate.
invalid peer certificate: Other(OtherError(EndEntityUsedAsCa))
  [certificate not valid] its certificate is signed by one that is not of a CA (CA:FALSE)). The service needs another certificate.
invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))
  [certificate not valid] its certificate is that of a CA (CA:TRUE), which a server may not use). The service needs another certificate.
something new
  something new
it knows test-key-0123456789!
  it knows ...!
`);

for (const [text, words, problem] of CONNECTING) {
  Deno.test(`connectionError() explains ${text.slice(0, 70)}`, () => {
    const cause = notConnected(text);
    const usual = "Check the base URL, the network and the service.";
    const told = words.endsWith(".") ? words : `${words}). ${usual}`;
    assertEquals(tell(cause), `${SERVICE} cannot be reached (${told}`);
    const { failure } = connectionError(cause, {
      ...{ operation: "create run", baseUrl: SERVICE, redactor: REDACTOR },
    });
    assertEquals(failure.problem, problem);
  });
}

/** Why an established connection broke. */
const BROKEN = pairsOf(`
connection closed before message completed
  URL closed the connection without an answer
Connection reset by peer (os error 104)
  URL reset the connection
invalid HTTP version parsed
  What answers at URL does not speak HTTP
error reading a body from connection
  URL closed the connection in the middle of its answer
received fatal alert: CertificateRequired
  URL cannot be used: it requires a client certificate, which this program does not support
something new
  The connection to URL broke (something new)
stream error received: unspecific protocol error detected
  URL broke the protocol of the connection
stream error received: refused stream before processing any application logic
  URL broke the protocol of the connection
stream error received: not a result of an error
  URL broke the protocol of the connection
tcp connect error: Connection refused
  The connection to URL broke (tcp connect error: Connection refused)
connection closed
  [connection closed] URL closed the connection before accepting the request; it may be restarting
connection error received: not a result of an error
  [connection closed] URL closed the connection before accepting the request; it may be restarting
connection error received: not a result of an error (b"max_age")
  [connection closed] URL closed the connection before accepting the request; it may be restarting
`);

for (const [text, words, problem] of BROKEN) {
  Deno.test(`connectionError() tells that a connection broke: ${text}`, () => {
    const isInBody = text.includes("a body");
    const cause = isInBody ? new TypeError(text) : sendFailure(text);
    const [thread, run, stream] = problem === LOST
      ? [
        "Check the base URL, or try again later.",
        "The run may have started, so the prompt was not retried.",
        "The run may still continue.",
      ]
      : [
        "Try again later.",
        "The prompt did not run. Try again later.",
        "The run may still continue.",
      ];
    const operations = ["create thread", "create run", "stream run"] as const;
    const told = operations.map((operation) => tell(cause, { operation }));
    const reason = words.replace("URL", SERVICE);
    assertEquals(
      told,
      [thread, run, stream].map((end) => `${reason}. ${end}`),
    );
    const { failure } = connectionError(cause, {
      ...{ operation: "create run", baseUrl: SERVICE, redactor: REDACTOR },
    });
    assertEquals(failure.problem, problem);
  });
}

/** What else the words depend on: the text, the circumstances, and what is told. */
const SPECIAL: readonly (readonly [unknown, Circumstances, string])[] = [
  [
    notConnected(NO_NAME),
    { env: { HTTP_PROXY: "http://proxy.test:3128" } },
    "cannot be reached (the name service.test cannot be resolved). Check the base URL, the network and the service, or set HTTPS_PROXY (only HTTP_PROXY is set).",
  ],
  [
    new Error("Too many open files (os error 24)"),
    { operation: "create run" },
    "cannot be reached (too many open files). The prompt did not run. Close some sessions, or raise the limit (ulimit -n).",
  ],
  [
    new Error('Requires net access to "service.test:443", run'),
    { operation: "create run" },
    "cannot be reached (Deno may not connect to service.test). Run Deno with --allow-net=service.test.",
  ],
  [
    notConnected("invalid dns name"),
    { operation: "create run" },
    "cannot be reached (no host can have the name service.test). Check the base URL, the network and the service.",
  ],
  // One clean line, whatever a certificate holds.
  [
    notConnected(`${FOR_OTHERS} DnsName("a\x1b[31m\nb\u202e"), Other(c)`),
    {},
    "(its certificate is not for service.test, but for a b)",
  ],
  // The base URL has just worked.
  [
    notConnected("tls handshake eof"),
    { operation: "stream run" },
    "cannot be reached (closed at once, perhaps by a firewall). The run may still continue.",
  ],
  [
    notConnected(UNKNOWN_ISSUER),
    { env: { DENO_CERT: "/etc/company.pem" } },
    'intermediate certificate). Check that "/etc/company.pem" (DENO_CERT) contains the CA\'s certificate as PEM.',
  ],
  [
    notConnected(UNKNOWN_ISSUER),
    { env: { DENO_TLS_CA_STORE: "mozilla,system" } },
    "intermediate certificate). Add the CA to this system's store, or name its file in DENO_CERT.",
  ],
  [
    notConnected(UNKNOWN_ISSUER),
    { baseUrl: "https://agent.company.example" },
    "https://agent.company.example cannot be reached (its certificate comes from",
  ],
  ...[undefined, statusFailure(proxy("http"), 502, []).failure].map((
    relayFailure,
  ) =>
    [
      notConnected(NO_NAME),
      { baseUrl: "https://the-brain.example", relayFailure },
      "No service is configured: https://the-brain.example is a placeholder. Set APP_BASE_URL or --base-url to the URL of your service.",
    ] as const
  ),
];

for (const [cause, circumstances, told] of SPECIAL) {
  Deno.test(`connectionError() says ${told}`, () => {
    assertStringIncludes(tell(cause, circumstances), told);
  });
}

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
