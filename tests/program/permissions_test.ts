import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { Client, PROGRAM } from "../support/client_process.ts";
import { ca, NAME, tls } from "../support/corporate_network.ts";
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

/** An `https:` service whose CA only `DENO_CERT` names, and a proxy that leads to it. */
class Network implements AsyncDisposable {
  private constructor(
    readonly service: ReferenceService,
    readonly proxy: FaultyService,
  ) {}

  static async make(): Promise<Network> {
    const service = ReferenceService.start({ tls });
    const port = Number(new URL(service.url).port);
    const proxy = await FaultyService.start(tunnels(() => port));
    return new Network(service, proxy);
  }

  /** Runs a prompt with these permissions alone. */
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
        APP_BASE_URL: this.service.url,
        DENO_CERT: ca.certificate,
        DENO_NO_UPDATE_CHECK: "1",
        ...env,
      },
    });
    return await client.finish();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
    await this.service[Symbol.asyncDispose]();
  }
}

const KEY = "--allow-env=APP_API_KEY,APP_BASE_URL";
const FILE = "--allow-read=.env";

/** By a row's permission: what is allowed instead, the environment, and the exit code. */
type Case = (network: Network) => {
  readonly allowed: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly code: number;
  /** What the row calls by a name. */
  readonly names?: Readonly<Record<string, string>>;
};

const host = ({ url }: { readonly url: string }) => new URL(url).host;
const throughProxy = ({ proxy }: Network) => ({
  APP_BASE_URL: `https://${NAME}`,
  HTTPS_PROXY: proxy.url,
});

const CASES: Readonly<Record<string, Case>> = {
  "`--allow-env=APP_API_KEY`": () => ({
    allowed: ["--allow-env=APP_BASE_URL", FILE, "--allow-net"],
    code: 1,
  }),
  "`--allow-env=APP_BASE_URL`": () => ({
    allowed: ["--allow-env=APP_API_KEY", FILE, "--allow-net"],
    code: 1,
  }),
  "`--allow-read=.env`": () => ({ allowed: [KEY, "--allow-net"], code: 0 }),
  "`--allow-net=SERVICE`": ({ service }) => ({
    allowed: [KEY, FILE, "--allow-net=127.0.0.1:1"],
    code: 1,
    names: { SERVICE: host(service) },
  }),
  "`--allow-net=PROXY`": (network) => ({
    allowed: ["--allow-env", FILE, `--allow-net=${NAME},127.0.0.1`],
    env: {
      APP_BASE_URL: `https://${NAME}`,
      HTTPS_PROXY: `http://localhost:${new URL(network.proxy.url).port}`,
    },
    code: 1,
    names: { PROXY: `localhost:${new URL(network.proxy.url).port}` },
  }),
  "`--allow-net=127.0.0.1`": (network) => ({
    allowed: [
      "--allow-env",
      FILE,
      `--allow-net=${NAME},${host(network.proxy)}`,
    ],
    env: throughProxy(network),
    code: 1,
  }),
  "`--allow-sys`": () => ({
    allowed: ["--allow-env", FILE, "--allow-net"],
    env: { DENO_CERT: "" },
    code: 3,
  }),
};

/** Rows without a message. */
const SILENT = /HTTPS_PROXY|DENO_CERT|CI|TRACEPARENT|GITHUB_ACTIONS|no-prompt/;

/** Other programs have their permissions built in. */
const ignore = PROGRAM !== "main.ts";

Deno.test("SECURITY.md: each permission has its row, and each row its test", async () => {
  const { clientPermissionFlags } = await import("../../tools/bundle.ts");
  const written = Array.from(ROWS.keys()).join(" ");
  for (const flag of clientPermissionFlags) {
    const [name = "", values = ""] = flag.split("=");
    assertStringIncludes(written, name);
    for (const value of values.split(",")) {
      assertStringIncludes(written.toLowerCase(), value.toLowerCase());
    }
  }
  for (const row of ROWS.keys()) {
    assert(row in CASES || SILENT.test(row), row);
  }
});

for (const [permission, makeCase] of Object.entries(CASES)) {
  Deno.test({
    name: `SECURITY.md: what is told without ${permission} is true`,
    ignore,
    async fn() {
      await using network = await Network.make();
      const { allowed, env, code, names = {} } = makeCase(network);
      const [, message = ""] = /`([^`]+)`/.exec(ROWS.get(permission) ?? "") ??
        [];
      let expected = message;
      for (const [name, value] of Object.entries(names)) {
        expected = expected.replaceAll(name, value);
      }
      const output = await network.run(allowed, env);
      assert(expected !== "");
      assertStringIncludes(output.stderr, expected);
      assertEquals(output.code, code, output.stderr);
    },
  });
}

Deno.test({
  name: "SECURITY.md: the narrowest flags work, without and with a proxy",
  ignore,
  async fn() {
    await using network = await Network.make();
    const [, block = ""] = /^```text\n(--allow.*?)^```$/ms.exec(PAGE) ?? [];
    const [direct = "", proxied = ""] = block.trim().split("\n");
    const { service, proxy } = network;

    const flags = direct.replace("agent.example.com", host(service));
    const first = await network.run(flags.split(" "));
    assertEquals([first.code, first.stderr], [0, ""]);

    const more = proxied.replace("agent.example.com", NAME)
      .replace("proxy.example:3128", host(proxy));
    const second = await network.run(more.split(" "), throughProxy(network));
    assertEquals([second.code, second.stderr], [0, ""]);
  },
});
