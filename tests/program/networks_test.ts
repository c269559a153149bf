import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import {
  commandLine,
  isNewDeno,
  RUN_BY_DENO,
  runClient,
} from "../support/client_process.ts";
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
  unreachable,
} from "../support/faulty_service/service.ts";
import { LocalCa } from "../support/local_ca.ts";
import {
  ReferenceService,
  type ServiceOptions,
  TEST_KEY,
} from "../support/service/service.ts";

// The real program on real networks. Which words belong to which failure is
// tested in tests/lib/gateway/connection/connection_failure_test.ts; here, each kind
// of failure happens once, because its words depend on what Deno says.

const PROMPT = "count to 3";
const REPLY = "1\n2\n3";

/** Runs one prompt in interactive mode; standard error then contains only failures. */
function runPrompt(
  baseUrl: string,
  env: Readonly<Record<string, string>> = {},
) {
  return runClient({
    args: ["--quiet"],
    env: environment(baseUrl, env),
    stdin: `${PROMPT}\n`,
  });
}

function port({ url }: { readonly url: string }): number {
  return Number(new URL(url).port);
}

/** A failure to create a thread. */
interface Failure {
  readonly url: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The error, without a full stop at its end. */
  readonly told: string | RegExp;
  /** Whether asking again would fail again: exit 1 instead of 3. */
  readonly isFinal?: boolean;
  /** A service that no request reaches. */
  readonly service?: ReferenceService;
}

type SetUp = (use: AsyncDisposableStack["use"]) => Failure | Promise<Failure>;

function start(use: AsyncDisposableStack["use"], options?: ServiceOptions) {
  return use(ReferenceService.start(options));
}

const UNTRUSTED =
  "its certificate comes from a CA that is not trusted, or it does not send its intermediate certificate";
const SERVICE = "Check the base URL, the network and the service";

const FAILURES: Record<string, SetUp> = {
  "a certificate for another name": (use) => {
    const service = start(use, { tls: ca.issue("other.test") });
    const { url } = service;
    const told =
      `${url} cannot be reached (its certificate is not for 127.0.0.1, but for other.test). ${SERVICE}`;
    return { url, service, told };
  },
  "an expired certificate": (use) => {
    const service = start(use, { tls: ca.issueExpired("127.0.0.1") });
    const told =
      /\(its certificate expired on 2020-12-31 23:59 UTC; the clock of this machine says 20\d\d-\d\d-\d\d \d\d:\d\d UTC\)/;
    return { url: service.url, service, told };
  },
  "DENO_CERT that names no file": (use) => {
    const service = start(use, { tls });
    const env = { DENO_CERT: `${ca.certificate}.gone` };
    const told =
      /^TLS cannot be set up \(.+\)\. Check DENO_CERT \(".+\.gone"\)/;
    return { url: service.url, service, env, told, isFinal: true };
  },
  "DENO_TLS_CA_STORE that is not known": (use) => {
    const service = start(use, { tls });
    const env = { DENO_CERT: "", DENO_TLS_CA_STORE: "attic" };
    const told =
      /^TLS cannot be set up \(Unknown certificate store "attic" .+\)\. Check DENO_TLS_CA_STORE$/;
    return { url: service.url, service, env, told, isFinal: true };
  },
  "DENO_TLS_CA_STORE=system, and SSL_CERT_FILE that names no file": (use) => {
    const service = start(use, { tls });
    const env = {
      DENO_CERT: "",
      DENO_TLS_CA_STORE: "system",
      SSL_CERT_FILE: `${ca.certificate}.gone`,
      SSL_CERT_DIR: "",
    };
    const told =
      /^TLS cannot be set up \(.+\)\. Check DENO_TLS_CA_STORE, SSL_CERT_FILE and SSL_CERT_DIR$/;
    return { url: service.url, service, env, told, isFinal: true };
  },
  "https: at a port that does not speak it": (use) => {
    const service = start(use);
    const url = service.url.replace("http:", "https:");
    const told = `${url} cannot be reached (what answers at port ` +
      `${port(service)} does not speak https). ${SERVICE}`;
    return { url, service, told };
  },
  "http: at a port that speaks https": (use) => {
    const service = start(use, { tls });
    const url = service.url.replace("https:", "http:");
    const told = RegExp(
      `^(?:What answers at )?${url} .+\\. Check the base URL`,
    );
    return { url, service, told };
  },
  "a service with TLS 1.1 at most": async (use) => {
    // The fatal alert protocol_version, as OpenSSL sends it with -tls1_1.
    const alert = Uint8Array.of(0x15, 3, 1, 0, 2, 2, 70);
    const service = use(
      await FaultyService.start(async (connection) => {
        await connection.write(alert);
        await connection.gone;
      }),
    );
    const url = service.url.replace("http:", "https:");
    const told = `${url} cannot be reached (it supports neither TLS 1.2 ` +
      `nor TLS 1.3). ${SERVICE}`;
    return { url, told };
  },
  "a port that Deno blocks": () => {
    const url = "https://127.0.0.1:9";
    const told = "Port 9 cannot be used: Deno blocks it. Use another port";
    return { url, told, isFinal: true };
  },
  "a name that does not exist": () => {
    const url = "https://service.invalid";
    const told =
      `${url} cannot be reached (the name service.invalid cannot be resolved). ${SERVICE}`;
    return { url, told };
  },
  "a proxy with a certificate that nobody trusts": async (use) => {
    const stranger = use(new LocalCa());
    const options = { tls: stranger.issue("127.0.0.1") };
    const { url: proxy } = use(
      await FaultyService.start(({ gone }) => gone, options),
    );
    const url = `https://${NAME}`;
    const told = RegExp(
      `^${url} cannot be reached through the proxy ${proxy} \\(${UNTRUSTED}\\)\\. ` +
        "Check that .+ \\(DENO_CERT\\) contains",
    );
    return { url, env: { HTTPS_PROXY: proxy }, told };
  },
  "a proxy that is not there": () => {
    const [url, proxy] = [`https://${NAME}`, unreachable()];
    const told = `${url} cannot be reached through the proxy ${proxy} ` +
      "(connection refused). Check ALL_PROXY and NO_PROXY";
    return { url, env: { ALL_PROXY: proxy }, told };
  },
};

// Deno before 2.9 blocks no port.
if (!await isNewDeno()) delete FAILURES["a port that Deno blocks"];

for (const [what, setUp] of Object.entries(FAILURES)) {
  Deno.test(`${what}: one line says so, and the service sees nothing`, async () => {
    await using stack = new AsyncDisposableStack();
    const { url, env, told, service, isFinal = false } = await setUp(
      stack.use.bind(stack),
    );

    const { code, stdout, stderr } = await runPrompt(url, env);

    assertEquals([code, stdout], [isFinal ? 1 : 3, ""]);
    const [, message = stderr] =
      /^agent-gateway: error: ([^\n]+)\.\n$/.exec(stderr) ?? [];
    if (typeof told === "string") assertEquals(message, told);
    else assertMatch(message, told);
    assertEquals(service?.requests ?? [], []);
  });
}

/** Whether the client's Deno gives a program the system's authorities. */
async function givesAuthorities(): Promise<boolean> {
  const { stdout } = await runClient({ args: ["--version"] });
  return !/\(deno 2\.[0-7]\./.test(stdout);
}

/** The variables for certificates, and whether the service is trusted then. */
const STORES = [
  [{ SSL_CERT_FILE: ca.certificate }, "yes, since Deno 2.8"],
  [{}, "no"],
  [{ DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: ca.certificate }, "yes"],
  [{ DENO_TLS_CA_STORE: "mozilla", SSL_CERT_FILE: ca.certificate }, "no"],
] as const;

for (const [variables, trusted] of STORES) {
  Deno.test({
    name: `the system's authorities count with ${
      JSON.stringify(Object.keys(variables))
    }: ${trusted}`,
    // Elsewhere the system's store is not a file.
    ignore: Deno.build.os !== "linux",
    async fn() {
      await using service = ReferenceService.start({ tls });
      const { DENO_CERT: _, ...env } = environment(service.url, variables);

      const options = { args: ["--quiet"], stdin: `${PROMPT}\n` };
      const { stdout, stderr } = await runClient({ ...options, env });

      const isTrusted = trusted === "yes" ||
        trusted !== "no" && await givesAuthorities();
      if (!isTrusted) assertMatch(stderr, RegExp(UNTRUSTED));
      assertEquals(stdout, isTrusted ? `${REPLY}\n` : "");
      assertEquals(service.requests.length, isTrusted ? 3 : 0);
    },
  });
}

Deno.test({
  name:
    "the system's authorities count for an https proxy, too, whatever else the system holds",
  ignore: Deno.build.os !== "linux", // Elsewhere the store is not a file.
  async fn() {
    if (!await givesAuthorities()) return;
    await using service = ReferenceService.start({ tls });
    const route = tunnels(() => port(service));
    await using proxy = await FaultyService.start(route, { tls });
    using folder = new Folder(
      await Deno.readTextFile(ca.certificate) +
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    );
    const { DENO_CERT: _, ...env } = environment(
      `https://${NAME}:${port(service)}`,
      { SSL_CERT_FILE: `${folder.path}/.env`, HTTPS_PROXY: proxy.url },
    );

    const options = { args: ["--quiet"], env, stdin: `${PROMPT}\n` };
    const { stdout, stderr } = await runClient(options);

    assertEquals([stdout, stderr], [`${REPLY}\n`, ""]);
  },
});

/** How many tunnels a turn takes, by the place of the service and the variables. */
const TUNNELS: readonly (readonly [
  service: string,
  env: Readonly<Record<string, string>>,
  tunnels: number,
])[] = [
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
      await using proxy = await FaultyService.start(
        tunnels(() => port(service)),
      );
      const proxies = PROXY_VARIABLES.map((name) => [name, proxy.url]);

      const { stdout, stderr } = await runPrompt(
        `${place}:${port(service)}`,
        { ...Object.fromEntries(proxies), ...env },
      );

      assertEquals([stdout, stderr], [`${REPLY}\n`, ""]);
      assertEquals(proxy.connections, count);
    },
  });
}

for (const scheme of ["http", "https"]) {
  Deno.test(`an ${scheme} proxy gets its login, the service's name and ciphertext, and the service nothing of it`, async () => {
    await using service = ReferenceService.start({ tls });
    const place = `${NAME}:${port(service)}`;
    await using proxy = await FaultyService.start(
      tunnels(() => port(service)),
      scheme === "https" ? { tls } : {},
    );

    const { stdout, stderr } = await runPrompt(`https://${place}`, {
      ALL_PROXY: proxy.url.replace("//", "//al:se%20cret@"),
    });

    assertEquals([stdout, stderr], [`${REPLY}\n`, ""]);
    const heads = proxy.requests.map(({ head }) => head);
    assertEquals(heads.length, 2); // One for the thread, and one for the turn.
    for (const head of heads) {
      assertEquals(head.split("\r\n")[0], `CONNECT ${place} HTTP/1.1`);
      assert(
        head.includes(`\nProxy-Authorization: Basic ${btoa("al:se cret")}`),
      );
    }
    assert(proxy.received.length > heads.join("").length);
    assertFalse(RegExp(`${TEST_KEY}|${PROMPT}|/threads`).test(proxy.received));
    const seen = service.requests.map(({ headers }) => [...headers].flat());
    assertEquals(seen.length, 3);
    assertFalse(/proxy|basic|cret/i.test(seen.join()), seen.join());
  });
}

for (const what of ["stranger", "refusal"] as const) {
  Deno.test(`a ${what} behind the proxy is an error for an editor, and its next request works`, async () => {
    await using service = ReferenceService.start({ tls });
    using stranger = new LocalCa();
    await using impostor = ReferenceService.start({
      tls: stranger.issue(NAME),
    });
    const isStranger = what === "stranger";
    const target = isStranger
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

    const { message = "" } = error ?? {};
    const start = `${url} cannot be reached through the proxy ${proxy.url} `;
    const reason = isStranger ? `(${UNTRUSTED}). ` : "(it answered 503). ";
    assertEquals(message.slice(0, (start + reason).length), start + reason);
    assertMatch(message, / The prompt did not run\. /);
    assertEquals(next.error, undefined);
    assertEquals(impostor.requests, []);
  });
}

Deno.test("a service that takes a connection and stays silent got nothing, and the time limit says so", async () => {
  await using service = await FaultyService.start(({ gone }) => gone);
  const url = `https://127.0.0.1:${service.port}`;

  const { code, stderr } = await runClient({
    args: ["-q", "--thread", "t", "--timeout", "5", "-p", PROMPT],
    env: environment(url),
  });

  assertEquals(
    stderr,
    "agent-gateway: error: There was no reply within 5 s. " +
      `${url} cannot be reached (it does not answer). ` +
      "The prompt did not run. Try again later.\n",
  );
  assertEquals(code, 3);
});

// A binary has the permissions that it was compiled with.
if (RUN_BY_DENO) {
  Deno.test("the permission for the service alone is enough without a proxy", async () => {
    await using service = ReferenceService.start({ tls });
    const net = `--allow-net=127.0.0.1:${port(service)}`;
    const program = commandLine()
      .map((word) => word === "--allow-net" ? net : word);
    const { code, stdout, stderr } = await runClient({
      args: ["-q"],
      env: environment(service.url),
      program,
      stdin: `${PROMPT}\n`,
    });

    assertEquals([code, stdout, stderr], [0, `${REPLY}\n`, ""]);
  });
}

// With a relay for each, they would need 3 descriptors each.
for (
  const [way, sessions] of [["directly", 50], ["through a proxy", 42]] as const
) {
  Deno.test({
    name: `sessions for which there are no descriptors lose nothing, ${way}`,
    ignore: Deno.build.os === "windows", // It has no such limit.
    async fn() {
      await using service = ReferenceService.start({ tls, pace: 200 });
      await using proxy = await FaultyService.start(
        tunnels(() => port(service)),
      );
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
      const ids = await Promise.all(
        Array.from({ length: sessions }, async () => {
          const { result } = await editor.request("session/new");
          return result.sessionId as string;
        }),
      );

      const answers = await Promise.all(
        ids.map((id) => editor.prompt(id, PROMPT)),
      );

      assertEquals(
        answers.map(({ result, error }) =>
          result?.stopReason ?? error?.message
        ),
        Array(sessions).fill("end_turn"),
      );
      const runs = service.requests
        .filter(({ operation }) => operation === "create run");
      assertEquals(runs.length, sessions);
    },
  });
}

Deno.test("a malformed HTTPS_PROXY is an error that names it, and nothing is sent", async () => {
  await using service = ReferenceService.start({ tls });
  const HTTPS_PROXY = "http://al:se#cret@127.0.0.1:9";
  const url = `https://${DIRECT}:${port(service)}`;

  const { code, stdout, stderr } = await runPrompt(url, { HTTPS_PROXY });

  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /HTTPS_PROXY: the user name or password /);
  assertFalse(/se#|cret|127\.0\.0\.1/.test(stderr), stderr);
  assertEquals(service.requests, []);
});
