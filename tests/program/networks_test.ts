import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { runClient } from "../support/client_process.ts";
import {
  ca,
  DIRECT,
  environment,
  failsOnce,
  GOOD,
  NAME,
  OPERATIONS,
  port,
  PROMPT,
  REPLY,
  runPrompt,
  tls,
} from "../support/corporate_network.ts";
import { Editor } from "../support/editor.ts";
import { unreachable } from "../support/faulty_service.ts";
import { LocalCa } from "../support/local_ca.ts";
import { answer } from "../support/service/behaviours.ts";
import { RawServer } from "../support/service/raw_server.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { TunnelProxy } from "../support/tcp_proxies.ts";

const UNTRUSTED = "its certificate was issued by an authority that is not " +
  "trusted";

for (const [operation, wrong, start] of OPERATIONS) {
  Deno.test(`a certificate at "${operation}" that nobody trusts is an error, and its server sees no request`, async () => {
    await using service = ReferenceService.start({ tls });
    using stranger = new LocalCa();
    await using impostor = ReferenceService.start({
      tls: stranger.issue(NAME),
    });
    await using proxy = new TunnelProxy((number) =>
      port(number === wrong ? impostor : service)
    );

    const url = `https://${NAME}:${port(service)}`;
    const message = `${start}: ${url} cannot be reached (${UNTRUSTED}); ` +
      `check the base URL, or check that "${ca.certificate}", which ` +
      "DENO_CERT names, holds the issuer's certificate as PEM";
    await failsOnce(url, { HTTPS_PROXY: proxy.url }, { operation, message });
    assertEquals(impostor.requests, []);
  });
}

Deno.test("a certificate for another name is an error, and its server sees no request", async () => {
  await using service = ReferenceService.start({ tls: ca.issue("other.test") });

  assertEquals(await runPrompt(service.url, {}), {
    code: 1,
    stdout: "",
    stderr:
      `Error: Cannot create a thread: ${service.url} cannot be reached (its ` +
      "certificate is not for 127.0.0.1, but for other.test); check the base " +
      "URL, and whether this network asks you to sign in\n",
  });
  assertEquals(service.requests, []);
});

Deno.test("an expired certificate is an error that tells the date and the clock, and its server sees no request", async () => {
  await using service = ReferenceService.start({
    tls: ca.issueExpired("127.0.0.1"),
  });

  const { code, stderr } = await runPrompt(service.url, {});

  assertEquals(code, 1);
  const time = String.raw`20\d\d-\d\d-\d\d \d\d:\d\d UTC`;
  assertMatch(
    stderr,
    RegExp(
      `^Error: Cannot create a thread: ${service.url} cannot be reached ` +
        "\\(its certificate expired on 2020-12-31 23:59 UTC\\); check the clock of this " +
        `machine \\(${time}\\), or tell who runs the service\n$`,
    ),
  );
  assertEquals(service.requests, []);
});

Deno.test({
  name: "DENO_TLS_CA_STORE=system trusts whom the system trusts",
  // Elsewhere the system's store is not a file.
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using service = ReferenceService.start({ tls });
    const { DENO_CERT: _, ...env } = environment(service.url, {
      DENO_TLS_CA_STORE: "system",
    });
    const run = (more: Readonly<Record<string, string>>) =>
      runClient({
        args: ["--quiet"],
        env: { ...env, ...more },
        stdin: `${PROMPT}\n`,
      });

    const alien = await run({});
    const known = await run({ SSL_CERT_FILE: ca.certificate });

    assertEquals(alien.code, 1);
    assertMatch(alien.stderr, RegExp(UNTRUSTED));
    assertEquals(known, GOOD);
  },
});

for (
  const [what, env, reason] of [
    [
      "DENO_CERT that names no file",
      { DENO_CERT: `${ca.certificate}.gone` },
      /the file ".+\.gone" that DENO_CERT names cannot be read \(.+\); check DENO_CERT/,
    ],
    [
      "DENO_TLS_CA_STORE that is not known",
      { DENO_TLS_CA_STORE: "attic" },
      /TLS cannot be set up \(Unknown certificate store "attic" .+\); check DENO_CERT and DENO_TLS_CA_STORE/,
    ],
  ] as const
) {
  Deno.test(`a ${what} is an error of one line in either mode, exit 1`, async () => {
    await using service = ReferenceService.start({ tls });

    const { code, stdout, stderr } = await runPrompt(service.url, env);
    await using editor = new Editor({ env: environment(service.url, env) });
    await editor.request("initialize");
    const { error } = await editor.request("session/new");

    const message = RegExp(`^Cannot create a thread: ${reason.source}$`);
    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, /^Error: [^\n]+\n$/);
    assertMatch(stderr.slice("Error: ".length, -1), message);
    assertMatch(
      error?.message.replace("start a chat", "create a thread") ?? "",
      message,
    );
    assertEquals(error?.data, { operation: "create thread" });
    assertEquals((await editor.finish()).stderr, "");
    assertEquals(service.requests, []);
  });
}

Deno.test("https: at a port that does not speak it is an error that says so, and no request arrives", async () => {
  await using service = ReferenceService.start();
  const url = service.url.replace("http:", "https:");

  assertEquals(await runPrompt(url, {}), {
    code: 1,
    stdout: "",
    stderr:
      `Error: Cannot create a thread: ${url} cannot be reached (what answers ` +
      `at port ${port(service)} does not speak https); check the base URL\n`,
  });
  assertEquals(service.requests, []);
});

Deno.test("http: at a port that speaks https is an error that names both, and no request arrives", async () => {
  await using service = ReferenceService.start({ tls });
  const url = service.url.replace("https:", "http:");

  const { code, stderr } = await runPrompt(url, {});

  assertEquals(code, 1);
  assertMatch(
    stderr,
    RegExp(
      `^Error: Cannot create a thread: the connection to ${url} broke ` +
        "\\(.+\\); check the base URL[^\n]*\n$",
    ),
  );
  assertEquals(service.requests, []);
});

for (
  const [what, behaviour, told] of [
    [
      "a sign-in page with 200",
      answer(200, "<!doctype html><title>Sign in</title>"),
      'a web page came (status 200, "Sign in"), perhaps the sign-in page of a network or a proxy; check the base URL',
    ],
    [
      "a firewall's page with 403",
      answer(403, "<html><head><title>Access denied</title></head></html>"),
      "the service answered 403, a web page: the API key was rejected, or something in front of the service refused, such as a firewall or a sign-in page (check APP_API_KEY, the network and the base URL): Access denied",
    ],
    [
      "a page with 502",
      answer(502, "<html>\r\n<head><title>502 Bad Gateway</title></head>"),
      "the service answered 502 (try again later): 502 Bad Gateway",
    ],
  ] as const
) {
  Deno.test(`the error for ${what} says what it is, and quotes only its title`, async () => {
    await using service = ReferenceService.start({ tls });
    service.misbehave("create thread", behaviour);

    assertEquals(await runPrompt(service.url, {}), {
      code: 1,
      stdout: "",
      stderr: `Error: Cannot create a thread: ${told}\n`,
    });
  });
}

Deno.test("the base URL that exists nowhere says that no service is configured", async () => {
  const { code, stderr } = await runClient({
    args: ["--quiet"],
    env: { APP_API_KEY: TEST_KEY },
  });

  assertEquals(code, 1);
  assertEquals(
    stderr,
    "Error: Cannot create a thread: no service is configured: " +
      "https://the-brain.example is a placeholder; set APP_BASE_URL or " +
      "--base-url to the URL of your service\n",
  );
});

Deno.test("the error for a service with TLS 1.1 at most says that it is too old", async () => {
  await using server = await RawServer.start(async (connection) => {
    // The fatal alert protocol_version, as OpenSSL sends it with -tls1_1.
    await connection.write(Uint8Array.of(0x15, 3, 1, 0, 2, 2, 70));
    await connection.gone;
  });
  const url = server.url.replace("http:", "https:");

  assertEquals(await runPrompt(url, {}), {
    code: 1,
    stdout: "",
    stderr:
      `Error: Cannot create a thread: ${url} cannot be reached (it speaks no ` +
      "version of TLS that is safe; 1.2 or 1.3 is needed); check the base " +
      "URL, or tell who runs the service\n",
  });
});

for (const variable of ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"]) {
  Deno.test(`an https service is reached through ${variable}, which sees its name and ciphertext alone`, async () => {
    await using service = ReferenceService.start({ tls });
    await using proxy = new TunnelProxy(() => port(service));
    const url = `https://${NAME}:${port(service)}`;

    const output = await runPrompt(url, { [variable]: proxy.url });

    assertEquals(output, GOOD);
    assertEquals(service.requests.length, 3);
    for (const { headers } of service.requests) {
      assertEquals(headers.get("x-api-key"), TEST_KEY);
    }
    // One for the thread, and one for the turn.
    assertEquals(proxy.heads.length, 2);
    for (const head of proxy.heads) {
      assertMatch(
        head,
        RegExp(`^CONNECT ${NAME}:${port(service)} HTTP/1.1\r\n`),
      );
    }
    assert(proxy.seen.length > proxy.heads.join("").length);
    for (const secret of [TEST_KEY, "x-api-key", PROMPT, "/threads"]) {
      assertFalse(proxy.seen.toLowerCase().includes(secret.toLowerCase()));
    }
  });
}

Deno.test("the bridge reaches an https service through HTTPS_PROXY", async () => {
  await using service = ReferenceService.start({ tls });
  await using proxy = new TunnelProxy(() => port(service));
  const url = `https://${NAME}:${port(service)}`;
  const env = environment(url, { HTTPS_PROXY: proxy.url });
  await using editor = new Editor({ env });

  const sessionId = await editor.newSession();
  await editor.prompt(sessionId, PROMPT);

  assertEquals(editor.texts(sessionId, "agent_message_chunk"), [REPLY]);
  assertEquals(proxy.heads.length, 2);
  assertFalse(proxy.seen.includes(TEST_KEY));
});

for (
  const [what, env, tunnels] of [
    ["no NO_PROXY", {}, 2],
    ["NO_PROXY with another name", { NO_PROXY: "other.test" }, 2],
    ["NO_PROXY", { NO_PROXY: `other.test,${DIRECT}` }, 0],
    ["no_proxy", { no_proxy: DIRECT }, 0],
  ] as const
) {
  Deno.test({
    name:
      `with ${what} a service is reached by ${tunnels} tunnels of HTTPS_PROXY`,
    ignore: Deno.build.os === "windows",
    async fn() {
      await using service = ReferenceService.start({ tls });
      await using proxy = new TunnelProxy(() => port(service));
      const url = `https://${DIRECT}:${port(service)}`;

      const output = await runPrompt(url, { HTTPS_PROXY: proxy.url, ...env });

      assertEquals(output, GOOD);
      assertEquals(proxy.heads.length, tunnels);
    },
  });
}

for (const host of ["127.0.0.1", "localhost"]) {
  Deno.test(`an https service at ${host} is reached past the proxies of the environment`, async () => {
    await using service = ReferenceService.start({ tls });
    await using proxy = new TunnelProxy(() => port(service));
    const url = `https://${host}:${port(service)}`;

    const output = await runPrompt(url, {
      HTTPS_PROXY: proxy.url,
      ALL_PROXY: proxy.url,
    });

    assertEquals(output, GOOD);
    assertEquals(proxy.seen, "");
  });
}

const CHECK = "check HTTPS_PROXY and NO_PROXY";

const REFUSALS: readonly (readonly [string, string, string])[] = [
  [
    "407",
    "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
    "(it asks for a user name and a password); check those in HTTPS_PROXY (http://user:password@host:port)",
  ],
  [
    "403",
    "HTTP/1.1 403 Forbidden\r\n\r\n<html>",
    `(it refused the connection); ${CHECK}`,
  ],
  [
    "502",
    "HTTP/1.1 502 Bad Gateway\r\n\r\n<html>",
    `(it refused the connection); ${CHECK}`,
  ],
  ["no HTTP", "What?\r\n\r\n", `(it refused the connection); ${CHECK}`],
  ["nothing", "", `(it closed the connection); ${CHECK}`],
];

for (const [what, answer, told] of REFUSALS) {
  Deno.test(`a proxy that answers ${what}: the error names it and says so, exit 1, and the service sees nothing`, async () => {
    await using service = ReferenceService.start({ tls });
    await using proxy = new TunnelProxy(() => answer);
    const url = `https://${NAME}:${port(service)}`;
    const { host } = new URL(proxy.url);

    const output = await runPrompt(url, {
      HTTPS_PROXY: `http://me:secret@${host}`,
    });

    assertEquals(output, {
      code: 1,
      stdout: "",
      stderr: `Error: Cannot create a thread: ${url} cannot be reached ` +
        `through the proxy ${proxy.url} ${told}\n`,
    });
    assertEquals(service.requests, []);
    assertFalse(proxy.seen.includes(TEST_KEY));
  });
}

Deno.test("a proxy that is not there: the error names it and not the service, exit 1", async () => {
  const url = `https://${NAME}`;
  const proxy = unreachable();

  assertEquals(await runPrompt(url, { ALL_PROXY: proxy }), {
    code: 1,
    stdout: "",
    stderr: `Error: Cannot create a thread: ${url} cannot be reached through ` +
      `the proxy ${proxy} (connection refused); check ALL_PROXY and NO_PROXY\n`,
  });
});

Deno.test("a SOCKS URL for a proxy that speaks HTTP: the error says so, exit 1", async () => {
  await using proxy = await RawServer.start(async (connection) => {
    await connection.write("HTTP/1.1 400 Bad Request\r\n\r\n");
    await connection.gone;
  });
  const url = `https://${NAME}`;
  const socks = proxy.url.replace("http:", "socks5:");

  assertEquals(await runPrompt(url, { HTTPS_PROXY: socks }), {
    code: 1,
    stdout: "",
    stderr: `Error: Cannot create a thread: ${url} cannot be reached through ` +
      `the proxy ${socks} (it does not speak SOCKS); check HTTPS_PROXY: ` +
      "an HTTP proxy is named by http://\n",
  });
});

for (const [operation, wrong, start] of OPERATIONS) {
  Deno.test(`a proxy that refuses "${operation}" is an error, and the next request works`, async () => {
    await using service = ReferenceService.start({ tls });
    const refusal = "HTTP/1.1 503 Service Unavailable\r\n\r\n";
    await using proxy = new TunnelProxy((number) =>
      number === wrong ? refusal : port(service)
    );

    const url = `https://${NAME}:${port(service)}`;
    const message = `${start}: ${url} cannot be reached through the proxy ` +
      `${proxy.url} (it refused the connection); ${CHECK}`;
    await failsOnce(url, { HTTPS_PROXY: proxy.url }, { operation, message });
  });
}
