import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { runClient, settings } from "../support/client_process.ts";
import {
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import {
  ReferenceService,
  serveStreams,
  TEST_KEY,
} from "../support/service/service.ts";

// Which command lines are wrong, and what each error says, is tested in
// tests/lib/command_line_test.ts.

for (
  const [args, named] of [
    [["--json", "--nonsense"], '"--nonsense"'],
    [["--bridge", "-p", "hello"], "--prompt"],
  ] as const
) {
  Deno.test(`${JSON.stringify(args)} is wrong usage: exit 2, and one line names ${named}`, async () => {
    const { code, stdout, stderr } = await runClient({ args });

    assertEquals([code, stdout], [2, ""]);
    assertMatch(stderr, /^[^\n]+; see agent-gateway --help\n$/);
    assertStringIncludes(stderr, named);
  });
}

Deno.test("--help prints the usage without a key, also with --bridge: exit 0 (interface 1)", async () => {
  const args = ["--bridge", "--help"];
  const { code, stdout, stderr } = await runClient({ args, env: {} });

  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /\n\nUsage: agent-gateway \[OPTIONS\] \[-\]\n/);
  assertMatch(stdout, /^(?:.{0,80}\n){1,40}$/);
  for (const part of ["-b, --bridge", "--base-url URL", "APP_API_KEY"]) {
    assertStringIncludes(stdout, part);
  }
});

Deno.test("--version prints the version without a key: exit 0", async () => {
  const args = ["--version"];
  const { code, stdout, stderr } = await runClient({ args, env: {} });

  assertEquals([code, stderr], [0, ""]);
  assertMatch(
    stdout,
    /^agent-gateway \S+ \(deno \d+\.\d+\.\d+, \w+(?:-\w+){2,3}\)\n$/,
  );
  assertEquals(stdout.split(" ")[1], config.version);
});

const UNUSABLE = "http://host.example";

Deno.test("the last --base-url counts, also over APP_BASE_URL", async () => {
  await using service = ReferenceService.start();

  const { code, stdout } = await runClient({
    args: [`--base-url=${UNUSABLE}`, "-q", `--base-url=${service.url}/`],
    env: { APP_API_KEY: TEST_KEY, APP_BASE_URL: UNUSABLE },
    stdin: "6 * 7\n",
  });

  assertEquals([code, stdout], [0, "6 * 7 = 42\n"]);
  assertEquals(service.requests.length, 3);
});

Deno.test("-b runs bridge mode, whatever belongs to other modes (interface 1)", async () => {
  const stdin = '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n';

  const { code, stdout } = await runClient({ args: ["-bq", "-b"], stdin });

  assertEquals(code, 0);
  assertEquals(JSON.parse(stdout).result.capabilities, { agents: true });
});

const HOSTILE = "# One\n\x1b[2Jtwo `code`";

Deno.test("--color=always styles replies and errors in a pipe, too, cleaned as on a terminal, whatever NO_COLOR and TERM say", async () => {
  await using service = serveStreams(events([complete(HOSTILE)]));
  service.misbehave("create run", json({ message: "no\x1b[2J" }, 400));

  const { stdout, stderr } = await runClient({
    args: ["-q", "--color=always"],
    env: { ...settings(service), NO_COLOR: "1", TERM: "dumb" },
    stdin: "one\ntwo\n",
  });

  assertEquals(
    stdout,
    "\x1b[1m# One\x1b[22m\ntwo \x1b[36m`\x1b[39mcode\x1b[36m`\x1b[39m\n",
  );
  assertEquals(
    stderr,
    "agent-gateway: \x1b[31merror:\x1b[39m Prompt 2 on thread thread-1: The service answered 400: no.\n",
  );
});

Deno.test("--timeout ends a prompt whose stream takes too long, and names thread and run; the next prompt runs", async () => {
  await using service = serveStreams(
    events([progress("plan", "started")], { end: "hang" }),
    events([complete("Hello!")]),
  );

  const output = await runClient({
    args: ["-q", "--timeout=5."],
    env: settings(service),
    stdin: "one\ntwo\n",
  });

  assertEquals([output.code, output.stdout], [5, "Hello!\n"]);
  assertMatch(
    output.stderr,
    /^agent-gateway: error: There was no reply within 5 s\. The run may still continue\. \(thread thread-1, run run-1, request [-\da-f]{36}\)\n$/,
  );
});
