import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
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
import { type Leaf, LocalCa } from "../support/local_ca.ts";
import {
  promptsOf,
  ReferenceService,
  TEST_KEY,
} from "../support/service/service.ts";
import { rowsOf } from "../support/tables.ts";

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

// They live as long as this process.
const old = await FaultyService.start(alert);
const strangerTls = stranger.issue("127.0.0.1");
const untrusted = await FaultyService.start(silent, { tls: strangerTls });
const gone = unreachable();

/** The certificates of services: without one, `http:` is spoken. */
const CERTIFICATES: Readonly<Record<string, Leaf>> = {
  good: tls,
  "of another name": ca.issue("other.test"),
  expired: ca.issueExpired("127.0.0.1"),
};

/**
 * A service with a certificate, where the client looks for it, the variables, and what is
 * told: `URL` stands for itself, `*` for any text.
 */
const FAILURES = rowsOf<
  "what" | "certificate" | "at" | "variables" | "code" | "told"
>(`
what | certificate | at | variables | code | told
a certificate for another name | of another name | https: | | 3 | URL cannot be reached (its certificate is not for 127.0.0.1, but for other.test). ${SERVICE}
an expired certificate | expired | https: | | 3 | * (its certificate expired on 2020-12-31 23:59 UTC; the clock of this machine says 20* UTC)*
DENO_CERT that names no file | good | https: | DENO_CERT=/nowhere.gone | 1 | TLS cannot be set up (*). Check DENO_CERT ("/nowhere.gone")
DENO_TLS_CA_STORE that is not known | good | https: | DENO_CERT= DENO_TLS_CA_STORE=attic | 1 | TLS cannot be set up (Unknown certificate store "attic" *). Check DENO_TLS_CA_STORE
https: at a port that does not speak it | none | https: | | 3 | URL cannot be reached (what answers at port * does not speak https). ${SERVICE}
http: at a port that speaks https | good | http: | | 3 | *URL *. Check the base URL*
a service with TLS 1.1 at most | good | https://127.0.0.1:${old.port} | | 3 | URL cannot be reached (it supports neither TLS 1.2 nor TLS 1.3). ${SERVICE}
a port that Deno blocks | good | https://127.0.0.1:9 | | 1 | Port 9 cannot be used: Deno blocks it. Use another port
a name that does not exist | good | https://service.invalid | | 3 | URL cannot be reached (the name service.invalid cannot be resolved). ${SERVICE}
a proxy with a certificate that nobody trusts | good | https://${NAME} | HTTPS_PROXY=${untrusted.url} | 3 | URL cannot be reached through the proxy ${untrusted.url} (${UNTRUSTED}). Check that * (DENO_CERT) contains*
a proxy that is not there | good | https://${NAME} | ALL_PROXY=${gone} | 3 | URL cannot be reached through the proxy ${gone} (connection refused). Check ALL_PROXY and NO_PROXY
`);

for (const { what, certificate, at, variables, code, told } of FAILURES) {
  // Deno before 2.9 blocks no port.
  if (what === "a port that Deno blocks" && !await isNewDeno()) continue;
  Deno.test(`${what}: one line says so, and the service sees nothing`, async () => {
    const leaf = CERTIFICATES[certificate];
    await using service = ReferenceService.start(leaf ? { tls: leaf } : {});
    const url = at.endsWith(":") ? service.url.replace(/^https?:/, at) : at;
    const pairs = variables.match(/\S+/g)?.map((pair) => pair.split("="));

    const output = await runPrompt(url, Object.fromEntries(pairs ?? []));

    const text = told.replace("URL", url).split("*").map(RegExp.escape);
    const line = `^agent-gateway: error: ${text.join(".*")}\\.\n$`;
    assertMatch(output.stderr, RegExp(line));
    assertEquals([output.code, output.stdout], [Number(code), ""]);
    assertEquals(service.requests, []);
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

const STORE = { DENO_CERT: "", SSL_CERT_FILE };
const PROXIES = Object.fromEntries(
  PROXY_VARIABLES.map((name) => [name, "http://PROXY"]),
);

/** A service, the variables, and how many tunnels a turn takes. */
const TURNS: readonly (readonly [
  place: string,
  env: Variables,
  tunnels: 0 | 2 | "no, it is not trusted" | "4, since Deno 2.8",
])[] = [
  [`https://${DIRECT}`, PROXIES, 2],
  [`https://${DIRECT}`, { ...PROXIES, NO_PROXY: `other.test,${DIRECT}` }, 0],
  ["https://127.0.0.1", PROXIES, 0],
  ["http://localhost", PROXIES, 0],
  // Two more fail first, to the proxy and to the service: its CA is not loaded yet.
  [
    `https://${NAME}`,
    { ...STORE, HTTPS_PROXY: "https://PROXY" },
    "4, since Deno 2.8",
  ],
  ["https://127.0.0.1", { DENO_CERT: "" }, "no, it is not trusted"],
  ["https://127.0.0.1", { ...STORE, DENO_TLS_CA_STORE: "system" }, 0],
  [
    "https://127.0.0.1",
    { ...STORE, DENO_TLS_CA_STORE: "mozilla" },
    "no, it is not trusted",
  ],
];

for (const [place, variables, count] of TURNS) {
  const isAboutStore = variables.SSL_CERT_FILE !== undefined;
  const set = JSON.stringify({ ...variables, SSL_CERT_FILE: isAboutStore });
  Deno.test({
    name: `${place} is reached by ${count} tunnels with ${set}`,
    // The system's store is a file on Linux, and Windows does not resolve 0.0.0.0.
    ignore: isAboutStore && Deno.build.os !== "linux" ||
      place.endsWith(DIRECT) && Deno.build.os === "windows",
    async fn() {
      const isPlain = place.startsWith("http:");
      const isTlsProxy = variables.HTTPS_PROXY === "https://PROXY";
      await using service = ReferenceService.start(isPlain ? {} : { tls });
      await using proxy = await proxyTo(service, isTlsProxy ? { tls } : {});
      const env = Object.entries(variables)
        .map(([name, value]) => [name, value.replace(/.*PROXY/, proxy.url)]);

      const url = `${place}:${port(service)}`;
      const { stdout, stderr } = await runPrompt(url, Object.fromEntries(env));

      const isTrusted = typeof count === "number" ||
        count.startsWith("4") && await givesAuthorities();
      assertEquals(stderr.includes(UNTRUSTED), !isTrusted);
      assertEquals(stdout, isTrusted ? REPLY : "");
      const tunnels = parseInt(`${count}`);
      // One that was opened ahead and is slow gets another one beside it.
      const right = tunnels === 0 ? [0] : [tunnels, tunnels + 1];
      const made = proxy.connections;
      assert(!isTrusted || right.includes(made), `${made} tunnels`);
      assertEquals(service.requests.length, isTrusted ? 3 : 0);
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
    const login = `Proxy-Authorization: Basic ${btoa("al:se cret")}\r\n`;
    // One for the thread, and one for the turn, or two if the first of them is slow.
    const asked = proxy.requests.map(({ head }) =>
      head.startsWith(`CONNECT ${place} HTTP/1.1\r\n`) && head.includes(login)
    );
    assertEquals(asked, [true, true, ...asked.length > 2 ? [true] : []]);
    assertFalse(RegExp(`${TEST_KEY}|${PROMPT}|/threads`).test(proxy.received));
    const seen = service.requests.map(({ headers }) => [...headers].flat());
    assertEquals(seen.length, 3);
    assertFalse(/proxy|basic|cret/i.test(seen.join()), seen.join());
  });
}

Deno.test("a stranger behind the proxy is an error for an editor, and its next request works", async () => {
  await using service = ReferenceService.start({ tls });
  await using impostor = ReferenceService.start({ tls: stranger.issue(NAME) });
  let isOver = false;
  await using proxy = await FaultyService.start(
    tunnels((number) => port(number > 1 && !isOver ? impostor : service)),
  );
  const url = `https://${NAME}:${port(service)}`;
  const env = environment(url, { HTTPS_PROXY: proxy.url });
  await using editor = new Editor({ env });
  const sessionId = await editor.newSession();

  const { error } = await editor.prompt(sessionId, PROMPT);
  isOver = true;
  const next = await editor.prompt(sessionId, PROMPT);

  const told =
    `${url} cannot be reached through the proxy ${proxy.url} (${UNTRUSTED}). The prompt did not run. `;
  assertEquals(error?.message.slice(0, told.length), told);
  assertEquals([next.error, impostor.requests], [undefined, []]);
});

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

// With a relay for each, they would need 3 descriptors each; a service on this machine is
// reached directly.
for (const [host, sessions] of [["127.0.0.1", 50], [NAME, 42]] as const) {
  Deno.test({
    name:
      `sessions with ${host} for which there are no descriptors lose nothing`,
    ignore: Deno.build.os === "windows", // It has no such limit.
    async fn() {
      await using service = ReferenceService.start({ tls, pace: 200 });
      await using proxy = await proxyTo(service);
      const url = `https://${host}:${port(service)}`;
      await using editor = new Editor({
        env: environment(url, { HTTPS_PROXY: proxy.url }),
        startedBy: ["sh", "-c", 'ulimit -n 140 && exec "$@"', "sh"],
      });
      const each = Array.from({ length: sessions });
      const ids = await Promise.all(each.map(() => editor.newSession()));

      const answers = await Promise.all(
        ids.map((id) => editor.prompt(id, PROMPT)),
      );

      const ends = answers.map(({ result, error }) =>
        result?.stopReason ?? error?.message
      );
      assertEquals(ends, each.fill("end_turn"));
      assertEquals(promptsOf(service).length, sessions);
    },
  });
}
