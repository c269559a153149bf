import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { sameFlags } from "../../tools/deno.ts";
import { Client, PROGRAM } from "../support/client_process.ts";
import { ca, DIRECT, NAME, tls } from "../support/corporate_network.ts";
import { PROXY_VARIABLES } from "../support/environment.ts";
import { tunnels } from "../support/faulty_service/answers.ts";
import { FaultyService } from "../support/faulty_service/service.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";

// What the table of permissions in SECURITY.md says, by leaving each of them out.

const ROOT = `${import.meta.dirname}/../..`;
const PAGE = await Deno.readTextFile(`${ROOT}/SECURITY.md`);

/** The rows of the table: the permission as it is written, and what is told without it. */
const ROWS = new Map(
  Array.from(
    PAGE.matchAll(/^\| (`--[^|]+?) +\|[^|]*\| (.*?) +\|$/gm),
    ([, permission = "", told = ""]) => [permission, told],
  ),
);

const LOGIN = "al:geheim-0815";

/**
 * A service with `https:`, whose CA only `DENO_CERT` names, one with `http:`, and a proxy
 * that leads to the first one.
 */
class Network implements AsyncDisposable {
  readonly plain = ReferenceService.start();

  private constructor(
    readonly secure: ReferenceService,
    readonly proxy: FaultyService,
  ) {}

  static async make(): Promise<Network> {
    const secure = ReferenceService.start({ tls });
    const port = Number(new URL(secure.url).port);
    return new Network(secure, await FaultyService.start(tunnels(() => port)));
  }

  /** The proxy with a login, in the form of a variable. */
  get proxyUrl(): string {
    return this.proxy.url.replace("//", `//${LOGIN}@`);
  }

  /** Runs a prompt with these permissions only. */
  async run(
    permissions: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly code: number; readonly stderr: string }> {
    const program = [
      ...[Deno.execPath(), "run", "-q", ...sameFlags, "--no-prompt"],
      ...[...permissions, `${ROOT}/main.ts`],
    ];
    await using client = new Client({
      program,
      args: ["-q", "-p", "6 * 7"],
      env: {
        APP_API_KEY: TEST_KEY,
        APP_BASE_URL: this.secure.url,
        DENO_CERT: ca.certificate,
        DENO_NO_UPDATE_CHECK: "1",
        ...env,
      },
    });
    return await client.finish();
  }

  /** The names of the variables with which the program went to the proxy. */
  async proxied(
    permissions: readonly string[],
    baseUrl: string,
  ): Promise<readonly string[]> {
    const names = [];
    for (const name of PROXY_VARIABLES) {
      const before = this.proxy.connections;
      const env = { APP_BASE_URL: baseUrl, [name]: this.proxyUrl };
      const { code, stderr } = await this.run(permissions, env);
      assert(code < 4, stderr);
      if (this.proxy.connections > before) names.push(name);
    }
    return names;
  }

  /** The proxy's name in the headers that the services got, and the key in its bytes. */
  get leaks(): readonly string[] {
    const requests = [...this.secure.requests, ...this.plain.requests];
    const names = requests.flatMap(({ headers }) => [...headers.keys()])
      .filter((name) => name.startsWith("proxy"));
    const isKeySeen = this.proxy.received.includes(TEST_KEY);
    return isKeySeen ? [...names, "the key"] : names;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
    await this.secure[Symbol.asyncDispose]();
    await this.plain[Symbol.asyncDispose]();
  }
}

const KEY = "--allow-env=APP_API_KEY,APP_BASE_URL";
const FILE = "--allow-read=.env";

/** The variables that an `http:` service needs, as the error names them. */
const NAMES =
  "https_proxy,HTTPS_PROXY,all_proxy,ALL_PROXY,http_proxy,HTTP_PROXY";

/** What is allowed if not all is. */
interface Allowed {
  readonly env?: string;
  readonly net?: string;
  readonly others?: readonly string[];
}

function flagsFor({ env, net, others = [FILE, "--allow-sys"] }: Allowed) {
  return [env ?? "--allow-env", net ?? "--allow-net", ...others];
}

/** The permissions for the client's variables without those that a row names. */
function envWithout(row: string): string {
  const names = config.permissions.client.env
    .filter((name) => !row.toUpperCase().includes(name.toUpperCase()));
  return `--allow-env=${names.join()}`;
}

const host = ({ url }: { readonly url: string }) => new URL(url).host;
const direct = ({ secure }: Network) => `${DIRECT}:${new URL(secure.url).port}`;

/** By a row's permission: what is allowed without it, and for whom there is a proxy. */
const ALLOWED: Readonly<Record<string, (network: Network) => Allowed>> = {
  "`--allow-net=SERVICE`": () => ({ net: "--allow-net=127.0.0.1:1" }),
  "`--allow-net=PROXY`": (network) => ({
    net: `--allow-net=${direct(network)},${host(network.plain)},${NAME}`,
  }),
  "`--allow-net=127.0.0.1`": (network) => ({
    net: `--allow-net=${[
      direct(network),
      host(network.plain),
      host(network.proxy),
      NAME,
    ]}`,
  }),
  "`--allow-read=.env`": () => ({ others: ["--allow-sys"] }),
  "`--allow-sys`": () => ({ others: [FILE] }),
  "`--no-prompt`": () => ({}),
};

function allowedWithout(row: string, network: Network): readonly string[] {
  return flagsFor(ALLOWED[row]?.(network) ?? { env: envWithout(row) });
}

/** Other programs have their permissions built in. */
const ignore = PROGRAM !== "main.ts";

/** Windows does not resolve `0.0.0.0`, and knows no case of variables. */
const ignoreMatrix = ignore || Deno.build.os === "windows";

Deno.test("SECURITY.md: each permission has its row", async () => {
  const { clientPermissionFlags } = await import("../../tools/bundle.ts");
  const written = Array.from(ROWS.keys()).join(" ");
  for (const flag of clientPermissionFlags) {
    const [name = "", values = ""] = flag.split("=");
    assertStringIncludes(written, name);
    for (const value of values.split(",")) {
      assertStringIncludes(written.toLowerCase(), value.toLowerCase());
    }
  }
});

/** The variables that name the proxy of an `https:` service. */
const USED = PROXY_VARIABLES.filter((name) => !/^http_/i.test(name));

for (const row of ROWS.keys()) {
  Deno.test({
    name:
      `SECURITY.md: without ${row}, whatever proxy is set, the key and the login of the proxy reach nobody else`,
    ignore: ignoreMatrix,
    async fn() {
      await using network = await Network.make();
      const allowed = allowedWithout(row, network);
      const plain = await network.proxied(allowed, network.plain.url);
      const secure = await network.proxied(
        allowed,
        `https://${direct(network)}`,
      );

      assertEquals([network.leaks, plain], [[], []]);
      const isReached = !/HTTPS_PROXY|APP_|allow-net/.test(row);
      assertEquals(secure, isReached ? USED : []);
    },
  });
}

/** What is told in the environment that a row is about: the row, what is set, the code. */
const TOLD: readonly (readonly [
  row: string,
  set: (network: Network) => Readonly<Record<string, string>>,
  code: number,
])[] = [
  ["`--allow-env=APP_API_KEY`", () => ({}), 1],
  ["`--allow-env=APP_BASE_URL`", () => ({}), 1],
  ["`--allow-read=.env`", () => ({}), 0],
  ["`--allow-net=SERVICE`", () => ({}), 1],
  ["`--allow-net=PROXY`", ({ proxy }) => ({
    APP_BASE_URL: `https://${NAME}`,
    HTTPS_PROXY: `http://localhost:${proxy.port}`,
  }), 1],
  ["`--allow-net=127.0.0.1`", ({ proxy }) => ({
    APP_BASE_URL: `https://${NAME}`,
    HTTPS_PROXY: proxy.url,
  }), 1],
  ["`--allow-sys`", () => ({ DENO_CERT: "" }), 3],
];

for (const [row, set, code] of TOLD) {
  Deno.test({
    name: `SECURITY.md: what is told without ${row} is true`,
    ignore,
    async fn() {
      await using network = await Network.make();
      const [, message = ""] = /`([^`]+)`/.exec(ROWS.get(row) ?? "") ?? [];
      const expected = message.replaceAll("SERVICE", host(network.secure))
        .replaceAll("PROXY", `localhost:${network.proxy.port}`);
      const allowed = row.includes("PROXY")
        ? flagsFor({ net: `--allow-net=${NAME},127.0.0.1` })
        : allowedWithout(row, network);
      const output = await network.run(allowed, set(network));
      assert(expected !== "");
      assertStringIncludes(output.stderr, expected);
      assertEquals(output.code, code, output.stderr);
    },
  });
}

/** The narrowest flags in SECURITY.md, with a service and a proxy in them. */
function narrowest(network: Network, service: string): readonly string[][] {
  const [, block = ""] = /^```text\n(--allow.*?)^```$/ms.exec(PAGE) ?? [];
  return block.trim().split("\n").map((line) =>
    line.replace("agent.example.com", service)
      .replace("proxy.example:3128", host(network.proxy)).split(" ")
  );
}

Deno.test({
  name:
    "SECURITY.md: the narrowest flags work, and whatever proxy is set, the key and the login of the proxy reach nobody else",
  ignore: ignoreMatrix,
  async fn() {
    await using network = await Network.make();
    const { proxy, plain } = network;
    const url = `https://${direct(network)}`;
    const [simple = [], proxied = []] = narrowest(network, direct(network));
    const [local = [], others = []] = narrowest(network, host(plain));

    const first = await network.run(simple, { APP_BASE_URL: url });
    assertEquals([first.code, first.stderr], [0, ""]);
    const [, named = []] = narrowest(network, NAME);
    const env = { APP_BASE_URL: `https://${NAME}`, HTTPS_PROXY: proxy.url };
    const second = await network.run(named, env);
    assertEquals([second.code, second.stderr], [0, ""]);

    assertEquals(await network.proxied(simple, url), []);
    assertEquals(await network.proxied(proxied, url), ["HTTPS_PROXY"]);
    for (const flags of [local, others]) {
      assertEquals(await network.proxied(flags, plain.url), []);
    }
    assertEquals(network.leaks, []);
  },
});

Deno.test({
  name:
    "SECURITY.md: without a relay and the proxy variables, no request is sent",
  ignore: ignoreMatrix,
  async fn() {
    await using network = await Network.make();
    const { plain } = network;
    const net = `--allow-net=${direct(network)},${host(plain)}`;
    const flags = [KEY, net, FILE];
    const url = `https://${direct(network)}`;
    const env = { APP_BASE_URL: url };
    const slow = await network.run(["--allow-env", net, FILE], env);
    assertEquals([slow.code, slow.stderr], [0, ""]);
    for (const name of PROXY_VARIABLES) {
      const set = { [name]: network.proxyUrl };
      for (
        const [baseUrl, missing] of [
          [url, "--allow-net=127.0.0.1"],
          [plain.url, `--allow-env=${NAMES}`],
        ] as const
      ) {
        const local = { ...set, APP_BASE_URL: baseUrl };
        const refused = await network.run(flags, local);
        assertStringIncludes(
          refused.stderr,
          `The proxy variables cannot be read: run Deno with ${missing} as well`,
        );
        assertEquals(refused.code, 1);
      }
    }
    const readable = [`${KEY},${NAMES}`, net, FILE];
    const local = await network.run(readable, { APP_BASE_URL: plain.url });
    assertEquals([local.code, local.stderr], [0, ""]);
    assertEquals([network.leaks, network.proxy.connections], [[], 0]);
  },
});
