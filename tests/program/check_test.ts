import { assertEquals, assertFalse, assertMatch } from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import { environment, NAME, tls } from "../support/corporate_network.ts";
import { answer, hang } from "../support/service/behaviours.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { Folder } from "../support/environment.ts";
import { tunnels } from "../support/faulty_service/answers.ts";
import {
  FaultyService,
  unreachable,
} from "../support/faulty_service/service.ts";

/** The lines of a report by their step: state and text, without durations. */
async function check(
  options: {
    readonly args?: readonly string[];
    readonly env: Readonly<Record<string, string>>;
    readonly cwd?: string;
  },
) {
  const { code, stdout, stderr } = await runClient({
    ...options,
    args: ["--check", ...options.args ?? []],
    env: { DENO_NO_UPDATE_CHECK: "1", ...options.env },
  });
  assertEquals(stderr, "");
  const [version, ...lines] = stdout.trimEnd().split("\n");
  assertMatch(version ?? "", /^agent-gateway \S+ \(deno .*\)$/);
  const steps = lines.map((line) => {
    const [, state, name, , text] =
      /^(ok|note|failed|-) +(\w*) +(\d+ ms)? +(.*)$/.exec(line) ?? [line];
    return `${state} ${name}: ${text}`;
  });
  return { code, steps };
}

Deno.test("--check tells each step with its time, and creates a thread but no run: exit 0", async () => {
  await using service = ReferenceService.start();

  const { code, steps } = await check({
    args: ["--base-url", service.url],
    env: { APP_API_KEY: TEST_KEY },
  });

  assertEquals(code, 0);
  assertEquals(
    steps.map((step) => step.replace(/thread: [\w-]+/, "thread: ID")),
    [
      `ok settings: key of ${TEST_KEY.length} characters from the environment, service ${service.url} from --base-url`,
      "ok proxy: none for a service on this machine",
      "ok thread: ID was created: the key is accepted",
    ],
  );
  const report = steps.join("\n");
  for (let start = 0; start < TEST_KEY.length - 4; start++) {
    const part = TEST_KEY.slice(start, start + 5);
    assertFalse(report.includes(part), part);
  }
  assertEquals(
    service.requests.map(({ operation }) => operation),
    ["create thread"],
  );
});

Deno.test("--check names .env as the source, and warns of ignored settings", async () => {
  await using service = ReferenceService.start();
  using both = new Folder(
    `APP_API_KEY=${TEST_KEY}\nAPP_BASE_URL=${service.url}\n`,
  );
  using ignored = new Folder("APP_BASE_URL=https://other.example\n");

  const first = await check({ env: {}, cwd: both.path });
  const second = await check({ env: settings(service), cwd: ignored.path });

  assertEquals(
    first.steps[0],
    `ok settings: key of ${TEST_KEY.length} characters from .env, service ${service.url} from .env`,
  );
  assertEquals([first.code, second.code], [0, 0]);
  assertEquals(second.steps.length, 3); // APP_BASE_URL of the environment takes effect

  const third = await check({
    env: { APP_API_KEY: TEST_KEY },
    cwd: ignored.path,
  });
  assertMatch(
    third.steps[1] ?? "",
    /^note settings: Ignoring APP_BASE_URL in \.env/,
  );
});

Deno.test("--check with a key that is rejected: exit 1, and the line holds no control character and no key", async () => {
  await using service = ReferenceService.start();
  service.misbehave(
    "create thread",
    answer(401, `no\x1b[31m ${TEST_KEY}\x9b2J\nnext`),
  );

  const { code, steps } = await check({ env: settings(service) });

  assertEquals(code, 1);
  const last = steps.at(-1) ?? "";
  assertMatch(
    last,
    /^failed thread: The service rejected the API key \(401/,
  );
  // deno-lint-ignore no-control-regex -- asserts their absence
  assertFalse(/[\x00-\x1f\x7f-\x9f]/.test(last));
});

/** Variables, and the last line. */
const FAILED: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] =
  [
    [{}, /^failed settings: APP_API_KEY is not set: /],
    [
      { APP_API_KEY: TEST_KEY },
      /^failed thread: .*APP_BASE_URL.*--base-url/,
    ],
    [
      settings({ url: unreachable() }),
      /^failed thread: .* refused.*\. Check the base URL, the network/,
    ],
  ];

for (const [env, told] of FAILED) {
  Deno.test(`--check with ${Object.keys(env).join(" and ") || "no key"} says what to do: exit 1, ${told}`, async () => {
    const { code, steps } = await check({ env });

    assertEquals(code, 1);
    assertMatch(steps.at(-1) ?? "", told);
  });
}

Deno.test("--check tries the proxy in between, and shows neither its user nor its password", async () => {
  await using service = ReferenceService.start({ tls });
  const port = Number(new URL(service.url).port);
  await using proxy = await FaultyService.start(tunnels(() => port));
  const HTTPS_PROXY = proxy.url.replace("//", "//user:secret@");

  const env = environment(`https://${NAME}`, { HTTPS_PROXY });
  const { code, steps } = await check({ env });

  assertEquals(code, 0, steps.join("\n"));
  assertEquals(steps[1], `ok proxy: ${proxy.url} from HTTPS_PROXY`);
  assertFalse(steps.join("\n").includes("secret"));
});

Deno.test({
  name: "--check ends at SIGINT with 130, whatever it waits for",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using service = ReferenceService.start();
    service.misbehave("create thread", hang());
    await using client = new Client({
      args: ["--check"],
      env: settings(service),
    });
    await service.waitFor("create thread");

    client.kill("SIGINT");

    assertEquals((await client.output()).code, 130);
  },
});
