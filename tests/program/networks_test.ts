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
import { ReferenceService } from "../support/service/service.ts";
import { TunnelProxy } from "../support/tunnel_proxy.ts";

const ADVICE = "check the base URL, or trust the issuer of its certificate " +
  "(DENO_TLS_CA_STORE=system, or DENO_CERT)";

for (const [operation, wrong, start, end] of OPERATIONS) {
  Deno.test(`a certificate at "${operation}" that nobody trusts is an error, and its server sees no request`, async () => {
    await using service = ReferenceService.start({ tls });
    using stranger = new LocalCa();
    await using impostor = ReferenceService.start({
      tls: stranger.issue(NAME),
    });
    await using proxy = new TunnelProxy((number) =>
      port(wrong.some((other) => other === number) ? impostor : service)
    );

    const url = `https://${NAME}:${port(service)}`;
    const message = `${start}: ${url} cannot be reached (invalid peer ` +
      `certificate: UnknownIssuer); ${ADVICE}${end}`;
    await failsOnce(url, { HTTPS_PROXY: proxy.url }, { operation, message });
    assertEquals(impostor.requests, []);
  });
}

Deno.test("a certificate for another name is an error, and its server sees no request", async () => {
  await using service = ReferenceService.start({ tls: ca.issue("other.test") });

  const { code, stderr } = await runPrompt(service.url, {});

  assertEquals(code, 1);
  assertMatch(
    stderr,
    /^Error: Cannot create a thread: https:\S+ cannot be reached \(invalid peer certificate: .*name.*\); check that the service runs, and the base URL\n$/,
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
    assertMatch(alien.stderr, /UnknownIssuer/);
    assertEquals(known, GOOD);
  },
});

for (
  const [what, env, reason] of [
    [
      "DENO_CERT that names no file",
      { DENO_CERT: `${ca.certificate}.gone` },
      /Failed opening CA file: .+/,
    ],
    [
      "DENO_TLS_CA_STORE that is not known",
      { DENO_TLS_CA_STORE: "attic" },
      /Unknown certificate store "attic" .+/,
    ],
  ] as const
) {
  Deno.test(`a ${what} is an error of one line in either mode, exit 1`, async () => {
    await using service = ReferenceService.start({ tls });

    const { code, stdout, stderr } = await runPrompt(service.url, env);
    await using editor = new Editor({ env: environment(service.url, env) });
    await editor.request("initialize");
    const { error } = await editor.request("session/new");

    const message = RegExp(
      `^Cannot create a thread: TLS cannot be set up \\(${reason.source}\\); check DENO_CERT and DENO_TLS_CA_STORE$`,
    );
    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, /^Error: [^\n]+\n$/);
    assertMatch(stderr.slice("Error: ".length, -1), message);
    assertMatch(error?.message ?? "", message);
    assertEquals(error?.data, { operation: "create thread" });
    assertEquals((await editor.finish()).stderr, "");
    assertEquals(service.requests, []);
  });
}

for (const [scheme, other] of [["http", "https"], ["https", "http"]]) {
  Deno.test(`a base URL with ${scheme}: for a service that speaks ${other}: is an error, and no request arrives`, async () => {
    await using service = ReferenceService.start(
      other === "https" ? { tls } : {},
    );
    const url = `${scheme}://127.0.0.1:${port(service)}`;

    const { code, stdout, stderr } = await runPrompt(url, {});

    assertEquals([code, stdout], [1, ""]);
    assertMatch(
      stderr,
      RegExp(`^Error: Cannot create a thread: .*${url} .+\n$`),
    );
    assertEquals(service.requests, []);
  });
}
