import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { sameFlags } from "../../tools/deno.ts";
import { Client, PROGRAM } from "../support/client_process.ts";
import {
  DIRECT,
  environment,
  NAME,
  tls,
} from "../support/corporate_network.ts";
import { PROXY_VARIABLES } from "../support/environment.ts";
import { tunnels } from "../support/faulty_service/answers.ts";
import { FaultyService } from "../support/faulty_service/service.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";

// What the table of permissions in SECURITY.md says, by leaving each of them out.

const ROOT = `${import.meta.dirname}/../..`;
const PAGE = await Deno.readTextFile(`${ROOT}/SECURITY.md`);

/** The rows of the table: the permission as it is written, and what is told without it. */
const ROWS = Array.from(
  PAGE.matchAll(/^\| (`--[^|]+?) +\|[^|]*\| (.*?) +\|$/gm),
  ([, row = "", told = ""]) => [row, told] as const,
);

type Variables = Readonly<Record<string, string>>;

const host = (url: string) => new URL(url).host;

/**
 * A service with `https:`, whose CA only `DENO_CERT` names, one with `http:`, and a proxy
 * that leads to the first one.
 */
class Network implements AsyncDisposable {
  readonly plain = ReferenceService.start();
  /** The place of the service with `https:`, which is not this machine by its name. */
  readonly direct: string;

  private constructor(
    readonly secure: ReferenceService,
    readonly proxy: FaultyService,
  ) {
    this.direct = `${DIRECT}:${new URL(secure.url).port}`;
  }

  static async make(): Promise<Network> {
    const secure = ReferenceService.start({ tls });
    const port = Number(new URL(secure.url).port);
    return new Network(secure, await FaultyService.start(tunnels(() => port)));
  }

  /** The proxy, with a login. */
  proxyUrl(hostname = "127.0.0.1"): string {
    return `http://al:geheim-0815@${hostname}:${this.proxy.port}`;
  }

  /** Names a service that is only known to the proxy. */
  behindProxy(hostname?: string): Variables {
    const HTTPS_PROXY = this.proxyUrl(hostname);
    return { APP_BASE_URL: `https://${NAME}`, HTTPS_PROXY };
  }

  /** Runs a prompt with these permissions only. */
  async run(
    permissions: readonly string[],
    env: Variables = {},
  ): Promise<{ readonly code: number; readonly stderr: string }> {
    const start = [Deno.execPath(), "run", "-q", ...sameFlags, "--no-prompt"];
    await using client = new Client({
      program: [...start, ...permissions, `${ROOT}/main.ts`],
      args: ["-q", "-p", "6 * 7"],
      env: environment(this.secure.url, env),
    });
    return await client.finish();
  }

  /**
   * The variables with which the program went to the proxy. Asserts that the headers that
   * the services got have nothing of it, and that it did not see the key.
   */
  async proxied(
    permissions: readonly string[],
    baseUrl: string,
  ): Promise<readonly string[]> {
    const { plain, proxy, secure } = this;
    const used = [];
    for (const name of PROXY_VARIABLES) {
      const before = proxy.connections;
      const env = { APP_BASE_URL: baseUrl, [name]: this.proxyUrl() };
      const { code, stderr } = await this.run(permissions, env);
      assert(code < 4, stderr);
      if (proxy.connections > before) used.push(name);
    }
    const names = [...secure.requests, ...plain.requests]
      .flatMap(({ headers }) => [...headers.keys()]);
    assertEquals(names.filter((name) => name.startsWith("proxy")), []);
    assert(!proxy.received.includes(TEST_KEY), "the proxy saw the key");
    return used;
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

/** All permissions but that of a row. */
function allowedWithout(row: string, network: Network): readonly string[] {
  const { direct, plain, proxy } = network;
  const services = [direct, host(plain.url), NAME];
  const hosts: Readonly<Record<string, readonly string[]>> = {
    "`--allow-net=SERVICE`": ["127.0.0.1:1"],
    "`--allow-net=PROXY`": services,
    "`--allow-net=127.0.0.1`": [...services, `127.0.0.1:${proxy.port}`],
  };
  const variables = config.permissions.client.env
    .filter((name) => !row.toUpperCase().includes(name.toUpperCase()));
  return [
    row.includes("--allow-env") ? `--allow-env=${variables}` : "--allow-env",
    row in hosts ? `--allow-net=${hosts[row]}` : "--allow-net",
    ...[FILE, "--allow-sys"].filter((flag) => !row.includes(flag)),
  ];
}

/** Other programs have their permissions built in. */
const ignore = PROGRAM !== "main.ts";

/** Windows does not resolve `0.0.0.0`, and knows no case of variables. */
const ignoreMatrix = ignore || Deno.build.os === "windows";

Deno.test("SECURITY.md: each permission has its row", async () => {
  const { clientPermissionFlags } = await import("../../tools/bundle.ts");
  const written = ROWS.map(([row]) => row).join(" ").toLowerCase();
  for (const part of clientPermissionFlags.join("=").split(/[=,]/)) {
    assertStringIncludes(written, part.toLowerCase());
  }
});

/** The variables that name the proxy of an `https:` service. */
const USED = PROXY_VARIABLES.filter((name) => !/^http_/i.test(name));

for (const [row] of ROWS) {
  Deno.test({
    name:
      `SECURITY.md: without ${row}, whatever proxy is set, the key and the login of the proxy reach nobody else`,
    ignore: ignoreMatrix,
    async fn() {
      await using network = await Network.make();
      const { direct, plain } = network;
      const allowed = allowedWithout(row, network);

      assertEquals(await network.proxied(allowed, plain.url), []);
      const used = await network.proxied(allowed, `https://${direct}`);
      const isReached = !/HTTPS_PROXY|APP_|allow-net/.test(row);
      assertEquals(used, isReached ? USED : []);
    },
  });
}

/** By a row: the exit code without its permission, and what is set then. */
const TOLD: Readonly<
  Record<string, readonly [code: number, env?: (network: Network) => Variables]>
> = {
  "`--allow-env=APP_API_KEY`": [1],
  "`--allow-env=APP_BASE_URL`": [1],
  "`--allow-read=.env`": [0],
  "`--allow-net=SERVICE`": [1],
  "`--allow-net=PROXY`": [1, (network) => network.behindProxy("localhost")],
  "`--allow-net=127.0.0.1`": [1, (network) => network.behindProxy()],
  "`--allow-sys`": [3, () => ({ DENO_CERT: "" })],
};

for (const [row, told] of ROWS) {
  const [code, env] = TOLD[row] ?? [];
  if (code === undefined) continue;
  Deno.test({
    name: `SECURITY.md: what is told without ${row} is true`,
    ignore,
    async fn() {
      await using network = await Network.make();
      const [, message = ""] = /`([^`]+)`/.exec(told) ?? [];
      const expected = message
        .replaceAll("SERVICE", host(network.secure.url))
        .replaceAll("PROXY", `localhost:${network.proxy.port}`);
      const allowed = row.includes("=PROXY")
        ? ["--allow-env", `--allow-net=${NAME},127.0.0.1`, FILE]
        : allowedWithout(row, network);
      const output = await network.run(allowed, env?.(network));
      assert(expected !== "");
      assertStringIncludes(output.stderr, expected);
      assertEquals(output.code, code, output.stderr);
    },
  });
}

/** The narrowest flags in SECURITY.md, with a service and a proxy in them. */
function narrowest(network: Network, service: string): readonly string[][] {
  const [, block = ""] = /^```text\n(--allow.*?)^```$/ms.exec(PAGE) ?? [];
  return block.trim().replaceAll("agent.example.com", service)
    .replaceAll("proxy.example:3128", `127.0.0.1:${network.proxy.port}`)
    .split("\n").map((line) => line.split(" "));
}

Deno.test({
  name:
    "SECURITY.md: the narrowest flags work, and whatever proxy is set, the key and the login of the proxy reach nobody else",
  ignore: ignoreMatrix,
  async fn() {
    await using network = await Network.make();
    const { direct, plain } = network;
    const url = `https://${direct}`;
    const [simple = [], proxied = []] = narrowest(network, direct);
    const [, named = []] = narrowest(network, NAME);

    const turns = [
      await network.run(simple, { APP_BASE_URL: url }),
      await network.run(named, network.behindProxy()),
    ];
    const ends = turns.map(({ code, stderr }) => `${code}${stderr}`);
    assertEquals(ends, ["0", "0"]);

    assertEquals(await network.proxied(simple, url), []);
    assertEquals(await network.proxied(proxied, url), ["HTTPS_PROXY"]);
    for (const flags of narrowest(network, host(plain.url))) {
      assertEquals(await network.proxied(flags, plain.url), []);
    }
  },
});

Deno.test({
  name:
    "SECURITY.md: without a relay and the proxy variables, no request is sent",
  ignore: ignoreMatrix,
  async fn() {
    await using network = await Network.make();
    const { direct, plain, proxy } = network;
    const net = `--allow-net=${direct},${host(plain.url)}`;
    for (
      const [APP_BASE_URL, missing] of [
        [`https://${direct}`, "--allow-net=127.0.0.1"],
        [plain.url, `--allow-env=${NAMES}`],
      ] as const
    ) {
      for (const name of PROXY_VARIABLES) {
        const env = { APP_BASE_URL, [name]: network.proxyUrl() };
        const refused = await network.run([KEY, net, FILE], env);
        assertStringIncludes(
          refused.stderr,
          `The proxy variables cannot be read: run Deno with ${missing} as well`,
        );
        assertEquals(refused.code, 1);
      }
      // With the variables, and without a relay, it works.
      const flags = [`${KEY},${NAMES}`, net, FILE];
      const works = await network.run(flags, { APP_BASE_URL });
      assertEquals([works.code, works.stderr], [0, ""]);
    }
    assertEquals(proxy.connections, 0);
  },
});
