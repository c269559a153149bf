import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  connectionError,
  tlsSetupError,
} from "../../../lib/gateway/connection_failure.ts";
import type { Operation } from "../../../lib/gateway/service_error.ts";

const KEY = "test-key-0123456789";
const RUN_MAY_GO_ON = "the run may still go on at the service";
const NOT_AGAIN = "the run may have started, so it is not tried again";

/** A rejection of `fetch`. All texts here are those of Deno 2.9.6. */
function fetchFailure(text: string): TypeError {
  return new TypeError("fetch failed", { cause: new Error(text) });
}

/** A rejection before a connection was made. */
function notConnected(text: string): TypeError {
  return fetchFailure(
    `error sending request for url (https://service.test/threads): client error (Connect): ${text}`,
  );
}

/** A rejection after a connection was made. */
function sendFailure(text: string): TypeError {
  return fetchFailure(
    `error sending request from 127.0.0.1:1 for https://service.test/threads (127.0.0.1:443): client error (SendRequest): ${text}`,
  );
}

/** The message for the user, with no other relevant variables than these. */
function tell(
  cause: unknown,
  { operation = "create thread", baseUrl = "https://service.test", env = {} }: {
    readonly operation?: Operation;
    readonly baseUrl?: string;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): string {
  return withVariables(
    env,
    () => connectionError(cause, { operation, baseUrl, apiKey: KEY }).reason,
  );
}

const VARIABLES = [
  "HTTPS_PROXY",
  "https_proxy",
  "ALL_PROXY",
  "all_proxy",
  "NO_PROXY",
  "no_proxy",
  "DENO_CERT",
];

function withVariables<T>(
  variables: Readonly<Record<string, string>>,
  act: () => T,
): T {
  const before = VARIABLES.map((name) => Deno.env.get(name));
  const set = (name: string, value: string | undefined) => {
    if (value === undefined) Deno.env.delete(name);
    else Deno.env.set(name, value);
  };
  try {
    for (const name of VARIABLES) set(name, variables[name]);
    return act();
  } finally {
    VARIABLES.forEach((name, index) => set(name, before[index]));
  }
}

const CERTIFICATE = "invalid peer certificate: ";

for (
  const [text, told] of [
    [
      "tcp connect error: Connection refused (os error 111)",
      "(connection refused); check that the service runs, and the base URL",
    ],
    [
      "tcp connect error: No connection could be made because the target machine actively refused it. (os error 10061)",
      "(connection refused); check that the service runs, and the base URL",
    ],
    [
      "tcp connect error: No route to host (os error 113)",
      "(no route leads there); check the network",
    ],
    [
      "tcp connect error: Network is unreachable (os error 101)",
      "(no route leads there); check the network",
    ],
    [
      "tcp connect error: Connection timed out (os error 110)",
      "(it does not answer); check the network and the base URL",
    ],
    [
      "dns error: failed to lookup address information: Name or service not known",
      "(the name service.test cannot be resolved); check the base URL and the network",
    ],
    [
      `${CERTIFICATE}certificate expired: verification time 1795268068 (UNIX), but certificate is not valid after 1768478400 (26797962 seconds ago)`,
      "(its certificate expired on 2026-01-15 12:00 UTC); check the clock of this machine (2026-11-21 13:34 UTC), or tell who runs the service",
    ],
    [
      `${CERTIFICATE}certificate not valid yet: verification time 1795268068 (UNIX), but certificate is not valid before 1893456000 (98179638 seconds in future)`,
      "(its certificate is not valid before 2030-01-01 00:00 UTC); check the clock of this machine (2026-11-21 13:34 UTC)",
    ],
    [
      `${CERTIFICATE}certificate not valid for name "service.test"; certificate is only valid for DnsName("other.test") or DnsName("*.foo.test")`,
      "(its certificate is not for service.test, but for other.test, *.foo.test); check the base URL, and whether this network asks you to sign in",
    ],
    [
      `${CERTIFICATE}certificate not valid for name "service.test"; certificate is only valid for ${
        ["a", "b", "c", "d"].map((name) => `DnsName("${name}")`).join(", ")
      }`,
      "(its certificate is not for service.test, but for a, b, c and others); check the base URL, and whether this network asks you to sign in",
    ],
    [
      `${CERTIFICATE}certificate not valid for name "service.test"`,
      "(its certificate is not for service.test); check the base URL, and whether this network asks you to sign in",
    ],
    [
      `${CERTIFICATE}UnknownIssuer`,
      "(its certificate was issued by an authority that is not trusted); check the base URL, or trust the issuer (DENO_TLS_CA_STORE=system, or DENO_CERT)",
    ],
    [
      `${CERTIFICATE}Revoked`,
      "(its certificate is not valid: Revoked); check the base URL, or tell who runs the service",
    ],
    [
      "received fatal alert: ProtocolVersion",
      "(it speaks no version of TLS that is safe; 1.2 or 1.3 is needed); check the base URL, or tell who runs the service",
    ],
    [
      "peer is incompatible: ServerDoesNotSupportTls12Or13. See https://docs.rs/rustls",
      "(it speaks no version of TLS that is safe; 1.2 or 1.3 is needed); check the base URL, or tell who runs the service",
    ],
    [
      "received fatal alert: HandshakeFailure",
      "(it shares no safe TLS settings with this program); check the base URL, or ask who runs the service",
    ],
    [
      "received fatal alert: InternalError",
      "(it refused TLS: InternalError); check the base URL, or ask who runs the service",
    ],
    [
      "received corrupt message of type InvalidContentType",
      "(what answers at port 443 does not speak https); check the base URL",
    ],
    [
      "tls handshake eof",
      "(the connection was closed before TLS was set up); check the base URL, and whether a firewall is in between",
    ],
    [
      "Connection reset by peer (os error 104)",
      "(the connection was closed before TLS was set up); check the base URL, and whether a firewall is in between",
    ],
    [
      "something new",
      "(something new); check that the service runs, and the base URL",
    ],
  ] as const
) {
  Deno.test(`connectionError() tells ${JSON.stringify(text.slice(0, 60))}`, () => {
    assertEquals(
      tell(notConnected(text)),
      `https://service.test cannot be reached ${told}`,
    );
  });
}

const HTTP_PROXY = "http://me:secret@proxy.test:3128";

for (
  const [text, proxy, told] of [
    [
      "proxy authentication required",
      HTTP_PROXY,
      "(it asks for a user name and a password); check those in HTTPS_PROXY (http://user:password@host:port)",
    ],
    [
      "unsuccessful tunnel",
      HTTP_PROXY,
      "(it refused the connection); check HTTPS_PROXY and NO_PROXY",
    ],
    [
      "unexpected eof while tunneling",
      HTTP_PROXY,
      "(it closed the connection); check HTTPS_PROXY and NO_PROXY",
    ],
    [
      "tcp connect error: Connection refused (os error 111)",
      HTTP_PROXY,
      "(connection refused); check HTTPS_PROXY and NO_PROXY",
    ],
    [
      "dns error: failed to lookup address information: Name or service not known",
      HTTP_PROXY,
      "(the name proxy.test cannot be resolved); check HTTPS_PROXY and NO_PROXY",
    ],
    [
      "Connection reset by peer (os error 104)",
      HTTP_PROXY,
      "(the connection was closed before TLS was set up); check HTTPS_PROXY and NO_PROXY, and the base URL",
    ],
    [
      "received corrupt message of type InvalidContentType",
      "https://proxy.test:3128",
      "(it does not speak https); check HTTPS_PROXY: most proxies are named by http://, for https services, too",
    ],
    [
      "Proxy server unreachable",
      "socks5://proxy.test:1080",
      "(it does not answer); check HTTPS_PROXY and NO_PROXY",
    ],
    [
      "Invalid response version",
      "socks5://proxy.test:1080",
      "(it does not speak SOCKS); check HTTPS_PROXY: an HTTP proxy is named by http://",
    ],
  ] as const
) {
  const { protocol, host } = new URL(proxy);
  Deno.test(`connectionError() names the proxy ${protocol} for ${JSON.stringify(text)}`, () => {
    const told1 = tell(notConnected(text), { env: { HTTPS_PROXY: proxy } });
    assertEquals(
      told1,
      `https://service.test cannot be reached through the proxy ${protocol}//${host} ${told}`,
    );
  });
}

for (
  const [what, env] of [
    ["NO_PROXY", { HTTPS_PROXY: HTTP_PROXY, NO_PROXY: "service.test" }],
    ["a proxy with a TLS failure of the service", { HTTPS_PROXY: HTTP_PROXY }],
  ] as const
) {
  Deno.test(`connectionError() does not blame the proxy with ${what}`, () => {
    const text = what === "NO_PROXY"
      ? "tcp connect error: Connection refused (os error 111)"
      : `${CERTIFICATE}UnknownIssuer`;
    assertMatch(tell(notConnected(text), { env }), /cannot be reached \(/);
  });
}

Deno.test("connectionError() says that a name of SOCKS is the service's", () => {
  const text = "dns error: failed to lookup address information";
  const env = { HTTPS_PROXY: "socks4://proxy.test:1080" };
  assertStringIncludes(
    tell(notConnected(text), { env }),
    "cannot be reached (the name service.test cannot be resolved); ",
  );
});

Deno.test("connectionError() names the file of DENO_CERT if an issuer is not trusted", () => {
  const env = { DENO_CERT: "/etc/company.pem" };
  assertEquals(
    tell(notConnected(`${CERTIFICATE}UnknownIssuer`), { env }),
    "https://service.test cannot be reached (its certificate was issued by an authority that is not trusted); " +
      `check the base URL, or check that "/etc/company.pem", which DENO_CERT names, holds the issuer's certificate as PEM`,
  );
});

for (
  const text of [
    "dns error: failed to lookup address information",
    "unsuccessful tunnel",
    "tcp connect error: Connection refused (os error 111)",
  ]
) {
  Deno.test(`connectionError() says for ${JSON.stringify(text)} that no service is configured if the host is only an example`, () => {
    const baseUrl = "https://the-brain.example";
    for (const env of [{}, { HTTPS_PROXY: HTTP_PROXY }]) {
      assertEquals(
        tell(notConnected(text), { baseUrl, env }),
        "no service is configured: https://the-brain.example is a placeholder; " +
          "set APP_BASE_URL or --base-url to the URL of your service",
      );
    }
  });
}

const CLOSED = "it was closed without an answer";

for (
  const [cause, reason] of [
    [sendFailure("connection closed before message completed"), CLOSED],
    [fetchFailure("Connection reset by peer (os error 104)"), "it was reset"],
    [
      sendFailure("invalid HTTP version parsed"),
      "what answers there does not speak HTTP",
    ],
    [
      new TypeError("error reading a body from connection"),
      "it was closed within the answer",
    ],
    [
      fetchFailure("received fatal alert: CertificateRequired"),
      "it asks for a client certificate, and there is none",
    ],
    [
      sendFailure("connection error received: not a result of an error"),
      "the other end broke the protocol",
    ],
    [
      sendFailure(
        "stream error received: unspecific protocol error detected",
      ),
      "the other end broke the protocol",
    ],
  ] as const
) {
  Deno.test(`connectionError() tells that a connection broke: ${reason}`, () => {
    const start = `the connection to https://service.test broke (${reason}); `;
    assertEquals(
      tell(cause, { operation: "create run" }),
      start + NOT_AGAIN,
    );
    assertEquals(
      tell(cause, { operation: "stream run" }),
      start + RUN_MAY_GO_ON,
    );
    assertStringIncludes(tell(cause), start);
  });
}

Deno.test("connectionError() asks for http: or https: if a service on this machine closes", () => {
  assertEquals(
    tell(sendFailure("connection closed before message completed"), {
      baseUrl: "http://127.0.0.1:8080/api",
    }),
    `the connection to http://127.0.0.1:8080 broke (${CLOSED}); ` +
      "check the base URL (http: or https:), or try again later",
  );
});

Deno.test("connectionError() of a run that cannot be followed says that it may go on, and never to try again", () => {
  const operation = "stream run";
  for (
    const [text, told] of [
      ["tcp connect error: Connection refused (os error 111)", ""],
      [
        `${CERTIFICATE}certificate expired`,
        /check the clock of this machine \([^)]+\), or tell who runs the service; $/,
      ],
    ] as const
  ) {
    const message = tell(notConnected(text), { operation });
    const [start = "", end] = message.split(RUN_MAY_GO_ON);
    assertEquals(end, "");
    assertEquals(/again/.test(start), false);
    if (told === "") assertMatch(start, /\(connection refused\); $/);
    else assertMatch(start, told);
  }
});

Deno.test("connectionError() is one clean line without the key, whatever a certificate holds", () => {
  const names = `DnsName("${KEY}"), DnsName("a\x1b[31m\nb\u202e"), Other(c)`;
  const text =
    `${CERTIFICATE}certificate not valid for name "service.test"; certificate is only valid for ${names}`;
  assertEquals(
    tell(notConnected(text)),
    "https://service.test cannot be reached (its certificate is not for service.test, " +
      "but for test...6789, a b, c); check the base URL, and whether this network asks you to sign in",
  );
});

for (
  const [text, told] of [
    [
      "Failed opening CA file: No such file or directory (os error 2)",
      'the file "/etc/company.pem" that DENO_CERT names cannot be read (No such file or directory); check DENO_CERT',
    ],
    [
      "Unable to add pem file to certificate store: Is a directory (os error 21)",
      'the file "/etc/company.pem" that DENO_CERT names cannot be read (Is a directory); check DENO_CERT',
    ],
    [
      'Unknown certificate store "attic" specified (allowed: "system,mozilla")',
      'TLS cannot be set up (Unknown certificate store "attic" specified (allowed: "system,mozilla")); check DENO_CERT and DENO_TLS_CA_STORE',
    ],
  ] as const
) {
  Deno.test(`tlsSetupError() tells ${JSON.stringify(text)}`, () => {
    const env = { DENO_CERT: "/etc/company.pem" };
    const error = withVariables(
      env,
      () => tlsSetupError(new Error(text), "create thread"),
    );
    assertEquals(error.reason, told);
  });
}
