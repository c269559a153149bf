import { assertEquals, assertFalse, assertMatch } from "@std/assert";
import { isNewDeno, runClient } from "../support/client_process.ts";
import {
  ca,
  DIRECT,
  environment,
  NAME,
  tls,
} from "../support/corporate_network.ts";
import { Editor } from "../support/editor.ts";
import { Folder, PROXY_VARIABLES } from "../support/environment.ts";
import { tunnels } from "../support/faulty_service/answers.ts";
import {
  FaultyService,
  type FaultyServiceOptions,
  type Script,
  unreachable,
} from "../support/faulty_service/service.ts";
import { LocalCa } from "../support/local_ca.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";

// The real program on real networks. Which words belong to which failure is
// tested in tests/lib/gateway/connection/connection_failure_test.ts; here, each kind
// of failure happens once, because its words depend on what Deno says.

const PROMPT = "count to 3";
const REPLY = "1\n2\n3\n";

type Variables = Readonly<Record<string, string>>;

/** Runs one prompt; standard error then contains only failures. */
function runPrompt(baseUrl: string, env: Variables = {}) {
  const args = ["--quiet"];
  const stdin = `${PROMPT}\n`;
  return runClient({ args, env: environment(baseUrl, env), stdin });
}

function port({ url }: { readonly url: string }): number {
  return Number(new URL(url).port);
}

/** A proxy whose tunnels lead to a service. */
function proxyTo(
  service: ReferenceService,
  options?: FaultyServiceOptions,
): Promise<FaultyService> {
  return FaultyService.start(tunnels(() => port(service)), options);
}

const UNTRUSTED =
  "its certificate comes from a CA that is not trusted, or it does not send its intermediate certificate";
const SERVICE = "Check the base URL, the network and the service";

const stranger = new LocalCa();
addEventListener("unload", () => stranger[Symbol.dispose]());

/** The fatal alert protocol_version, as OpenSSL sends it with -tls1_1. */
const alert: Script = async (connection) => {
  await connection.write(Uint8Array.of(0x15, 3, 1, 0, 2, 2, 70));
  await connection.gone;
};
const silent: Script = ({ gone }) => gone;

interface Failure {
  /** What is told: `URL` and `PROXY` stand for themselves, `*` for any text. */
  readonly told: string;
  /** The service's certificate: by default, the one that is trusted. */
  readonly tls?: ReturnType<LocalCa["issue"]> | "none";
  /** Where the client looks for the service, if it is not at its own URL. */
  readonly at?: "https:" | "http:" | FaultyService | string;
  readonly env?: Variables;
  readonly code?: 1 | 3;
}

const FAILURES: Readonly<Record<string, () => Failure | Promise<Failure>>> = {
  "a certificate for another name": () => ({
    tls: ca.issue("other.test"),
    told:
      `URL cannot be reached (its certificate is not for 127.0.0.1, but for other.test). ${SERVICE}`,
  }),
  "an expired certificate": () => ({
    tls: ca.issueExpired("127.0.0.1"),
    told:
      "* (its certificate expired on 2020-12-31 23:59 UTC; the clock of this machine says 20* UTC)*",
  }),
  "DENO_CERT that names no file": () => ({
    env: { DENO_CERT: "/nowhere.gone" },
    told: 'TLS cannot be set up (*). Check DENO_CERT ("/nowhere.gone")',
    code: 1,
  }),
  "DENO_TLS_CA_STORE that is not known": () => ({
    env: { DENO_CERT: "", DENO_TLS_CA_STORE: "attic" },
    told:
      'TLS cannot be set up (Unknown certificate store "attic" *). Check DENO_TLS_CA_STORE',
    code: 1,
  }),
  "DENO_TLS_CA_STORE=system, and SSL_CERT_FILE that names no file": () => ({
    env: {
      ...{ DENO_CERT: "", DENO_TLS_CA_STORE: "system", SSL_CERT_DIR: "" },
      SSL_CERT_FILE: "/nowhere.gone",
    },
    told:
      "TLS cannot be set up (*). Check DENO_TLS_CA_STORE, SSL_CERT_FILE and SSL_CERT_DIR",
    code: 1,
  }),
  "https: at a port that does not speak it": () => ({
    ...{ tls: "none", at: "https:" },
    told:
      `URL cannot be reached (what answers at port * does not speak https). ${SERVICE}`,
  }),
  "http: at a port that speaks https": () => ({
    at: "http:",
    told: "*URL *. Check the base URL*",
  }),
  "a service with TLS 1.1 at most": async () => ({
    at: await FaultyService.start(alert),
    told:
      `URL cannot be reached (it supports neither TLS 1.2 nor TLS 1.3). ${SERVICE}`,
  }),
  "a port that Deno blocks": () => ({
    at: "https://127.0.0.1:9",
    told: "Port 9 cannot be used: Deno blocks it. Use another port",
    code: 1,
  }),
  "a name that does not exist": () => ({
    at: "https://service.invalid",
    told:
      `URL cannot be reached (the name service.invalid cannot be resolved). ${SERVICE}`,
  }),
  "a proxy with a certificate that nobody trusts": async () => {
    const options = { tls: stranger.issue("127.0.0.1") };
    const { url } = await FaultyService.start(silent, options);
    return {
      ...{ at: `https://${NAME}`, env: { HTTPS_PROXY: url } },
      told:
        `URL cannot be reached through the proxy ${url} (${UNTRUSTED}). Check that * (DENO_CERT) contains*`,
    };
  },
  "a proxy that is not there": () => {
    const proxy = unreachable();
    return {
      ...{ at: `https://${NAME}`, env: { ALL_PROXY: proxy } },
      told:
        `URL cannot be reached through the proxy ${proxy} (connection refused). Check ALL_PROXY and NO_PROXY`,
    };
  },
};

for (const [what, setUp] of Object.entries(FAILURES)) {
  // Deno before 2.9 blocks no port.
  if (what === "a port that Deno blocks" && !await isNewDeno()) continue;
  Deno.test({
    name: `${what}: one line says so, and the service sees nothing`,
    async fn() {
      const failure = await setUp();
      const { told, at = "https:", env, code = 3 } = failure;
      await using service = ReferenceService.start(
        failure.tls === "none" ? {} : { tls: failure.tls ?? tls },
      );
      await using other = typeof at === "string" ? undefined : at;
      const url = other !== undefined
        ? other.url.replace("http:", "https:")
        : `${at}`.endsWith(":")
        ? service.url.replace(/^https?:/, `${at}`)
        : `${at}`;

      const output = await runPrompt(url, env);

      const text = told.replace("URL", url).split("*").map(RegExp.escape);
      const line = `^agent-gateway: error: ${text.join(".*")}\\.\n$`;
      assertMatch(output.stderr, RegExp(line));
      assertEquals([output.code, output.stdout], [code, ""]);
      assertEquals(service.requests, []);
    },
  });
}

/** Whether the client's Deno gives a program the system's authorities. */
async function givesAuthorities(): Promise<boolean> {
  const { stdout } = await runClient({ args: ["--version"] });
  return !/\(deno 2\.[0-7]\./.test(stdout);
}

/** What the system's store holds: our CA, and what no certificate is. */
const store = new Folder(
  `${await Deno.readTextFile(ca.certificate)}
-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
);
const SSL_CERT_FILE = `${store.path}/.env`;
addEventListener("unload", () => store[Symbol.dispose]());

/** The variables for certificates, and whether service and proxy are trusted then. */
const STORES: readonly (readonly [Variables, string])[] = [
  [{ SSL_CERT_FILE }, "yes, since Deno 2.8"],
  [{ SSL_CERT_FILE, HTTPS_PROXY: "" }, "yes, since Deno 2.8"],
  [{}, "no"],
  [{ DENO_TLS_CA_STORE: "system", SSL_CERT_FILE }, "yes"],
  [{ DENO_TLS_CA_STORE: "mozilla", SSL_CERT_FILE }, "no"],
];

for (const [variables, trusted] of STORES) {
  const names = Object.keys(variables);
  Deno.test({
    name: `the system's authorities count with ${
      JSON.stringify(names)
    }: ${trusted}`,
    // Elsewhere the system's store is not a file.
    ignore: Deno.build.os !== "linux",
    async fn() {
      await using service = ReferenceService.start({ tls });
      await using proxy = await proxyTo(service, { tls });
      const isProxied = names.includes("HTTPS_PROXY");
      const url = isProxied ? `https://${NAME}:${port(service)}` : service.url;
      const { DENO_CERT: _, ...env } = environment(url, {
        ...variables,
        ...isProxied ? { HTTPS_PROXY: proxy.url } : {},
      });

      const options = { args: ["--quiet"], stdin: `${PROMPT}\n` };
      const { stdout, stderr } = await runClient({ ...options, env });

      const isTrusted = trusted === "yes" ||
        trusted !== "no" && await givesAuthorities();
      if (!isTrusted) assertMatch(stderr, RegExp(UNTRUSTED));
      assertEquals(stdout, isTrusted ? REPLY : "");
      assertEquals(service.requests.length, isTrusted ? 3 : 0);
    },
  });
}

/** How many tunnels a turn takes, by the place of the service and the variables. */
const TUNNELS: readonly (readonly [string, Variables, number])[] = [
  [`https://${DIRECT}`, {}, 2],
  [`https://${DIRECT}`, { NO_PROXY: `other.test,${DIRECT}` }, 0],
  ["https://127.0.0.1", {}, 0],
  ["http://localhost", {}, 0],
];

for (const [place, env, count] of TUNNELS) {
  Deno.test({
    name: `${place} is reached by ${count} tunnels with ${
      JSON.stringify(env)
    } and a proxy in each variable`,
    ignore: Deno.build.os === "windows" && place.endsWith(DIRECT),
    async fn() {
      const isPlain = place.startsWith("http:");
      await using service = ReferenceService.start(isPlain ? {} : { tls });
      await using proxy = await proxyTo(service);
      const proxies = PROXY_VARIABLES.map((name) => [name, proxy.url]);
      const variables = { ...Object.fromEntries(proxies), ...env };

      const url = `${place}:${port(service)}`;
      const { stdout, stderr } = await runPrompt(url, variables);

      assertEquals([stdout, stderr, proxy.connections], [REPLY, "", count]);
    },
  });
}

for (const scheme of ["http", "https"]) {
  Deno.test(`an ${scheme} proxy gets its login, the service's name and ciphertext, and the service nothing of it`, async () => {
    await using service = ReferenceService.start({ tls });
    const place = `${NAME}:${port(service)}`;
    await using proxy = await proxyTo(
      service,
      scheme === "https" ? { tls } : {},
    );

    const { stdout, stderr } = await runPrompt(`https://${place}`, {
      ALL_PROXY: proxy.url.replace("//", "//al:se%20cret@"),
    });

    assertEquals([stdout, stderr], [REPLY, ""]);
    const heads = proxy.requests.map(({ head }) => head);
    assertEquals(heads.length, 2); // One for the thread, and one for the turn.
    const login = `\r\nProxy-Authorization: Basic ${btoa("al:se cret")}\r\n`;
    for (const head of heads) {
      const [start] = head.split("\r\n");
      assertEquals(start, `CONNECT ${place} HTTP/1.1`);
      assertEquals(head.includes(login), true);
    }
    assertFalse(RegExp(`${TEST_KEY}|${PROMPT}|/threads`).test(proxy.received));
    const seen = service.requests.map(({ headers }) => [...headers].flat());
    assertEquals(seen.length, 3);
    assertFalse(/proxy|basic|cret/i.test(seen.join()), seen.join());
  });
}

for (
  const [what, reason] of [["stranger", UNTRUSTED], [
    "refusal",
    "it answered 503",
  ]]
) {
  Deno.test(`a ${what} behind the proxy is an error for an editor, and its next request works`, async () => {
    await using service = ReferenceService.start({ tls });
    await using impostor = ReferenceService.start({
      tls: stranger.issue(NAME),
    });
    const target = what === "stranger"
      ? port(impostor)
      : "HTTP/1.1 503 Service Unavailable\r\n\r\n";
    let isOver = false;
    await using proxy = await FaultyService.start(
      tunnels((number) => number > 1 && !isOver ? target : port(service)),
    );
    const url = `https://${NAME}:${port(service)}`;
    const env = environment(url, { HTTPS_PROXY: proxy.url });
    await using editor = new Editor({ env });
    const sessionId = await editor.newSession();

    const { error } = await editor.prompt(sessionId, PROMPT);
    isOver = true;
    const next = await editor.prompt(sessionId, PROMPT);

    const told =
      `${url} cannot be reached through the proxy ${proxy.url} (${reason}). The prompt did not run. `;
    assertEquals(error?.message.slice(0, told.length), told);
    assertEquals([next.error, impostor.requests], [undefined, []]);
  });
}

Deno.test("a service that takes a connection and stays silent got nothing, and the time limit says so", async () => {
  await using service = await FaultyService.start(silent);
  const url = `https://127.0.0.1:${service.port}`;

  const { code, stderr } = await runClient({
    args: ["-q", "--thread", "t", "--timeout", "5", "-p", PROMPT],
    env: environment(url),
  });

  assertEquals([code, stderr], [
    3,
    `agent-gateway: error: There was no reply within 5 s. ${url} cannot be reached (it does not answer). The prompt did not run. Try again later.\n`,
  ]);
});

// With a relay for each, they would need 3 descriptors each.
for (
  const [way, sessions] of [["directly", 50], ["through a proxy", 42]] as const
) {
  Deno.test({
    name: `sessions for which there are no descriptors lose nothing, ${way}`,
    ignore: Deno.build.os === "windows", // It has no such limit.
    async fn() {
      await using service = ReferenceService.start({ tls, pace: 200 });
      await using proxy = await proxyTo(service);
      const env = way === "directly"
        ? environment(service.url)
        : environment(`https://${NAME}:${port(service)}`, {
          HTTPS_PROXY: proxy.url,
        });
      await using editor = new Editor({
        env,
        startedBy: ["sh", "-c", 'ulimit -n 140 && exec "$@"', "sh"],
      });
      await editor.request("initialize");
      const each = Array.from({ length: sessions });
      const ids = await Promise.all(each.map(async () => {
        const { result } = await editor.request("session/new");
        return result.sessionId as string;
      }));

      const answers = await Promise.all(
        ids.map((id) => editor.prompt(id, PROMPT)),
      );

      const ends = answers.map(({ result, error }) =>
        result?.stopReason ?? error?.message
      );
      assertEquals(ends, each.fill("end_turn"));
      const runs = service.requests
        .filter(({ operation }) => operation === "create run");
      assertEquals(runs.length, sessions);
    },
  });
}
