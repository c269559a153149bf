import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import {
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
import { RawServer } from "../support/service/raw_server.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { TunnelProxy } from "../support/tunnel_proxy.ts";
import { unreachable } from "../support/unreachable.ts";

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
