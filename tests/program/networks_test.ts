import { assertEquals, assertMatch } from "@std/assert";
import { runClient } from "../support/client_process.ts";
import {
  ca,
  environment,
  failsOnce,
  GOOD,
  NAME,
  OPERATIONS,
  port,
  PROMPT,
  runPrompt,
  tls,
} from "../support/corporate_network.ts";
import { Editor } from "../support/editor.ts";
import { LocalCa } from "../support/local_ca.ts";
import { answer } from "../support/service/behaviours.ts";
import { RawServer } from "../support/service/raw_server.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { TunnelProxy } from "../support/tunnel_proxy.ts";

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
      "the service answered 403 (a web page: something in front of the service refused, such as a firewall or a sign-in page; check the network and the base URL): Access denied",
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
