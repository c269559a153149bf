import {
  assertEquals,
  assertFalse,
  assertLess,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
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

const UNUSABLE = "http://host.example";

for (
  const [args, named] of [
    [["--nonsense"], '"--nonsense"'],
    [["--nonsense=x"], '"--nonsense=x"'],
    [["--no-bridge"], '"--no-bridge"'],
    [["--Bridge"], '"--Bridge"'],
    [["--b"], '"--b"'],
    [["--h"], '"--h"'],
    [["--base-url.x"], '"--base-url.x"'],
    [["--__proto__"], '"--__proto__"'],
    [["-bridge"], '"-bridge"'],
    [["-x"], '"-x"'],
    [["-bx"], '"-bx"'],
    [["-5"], '"-5"'],
    [["hello"], '"hello"'],
    [[""], '""'],
    [["two\nlines"], '"two\\nlines"'],
    [["--help", "hello"], '"hello"'],
    [["--bridge=x"], '"--bridge=x"'],
    [["--bridge=true"], '"--bridge=true"'],
    [["--bridge="], '"--bridge="'],
    [["--bridge", "false"], '"false"'],
    [["--help=x"], '"--help=x"'],
    [["--version", "1"], '"1"'],
    [["--quiet=0"], '"--quiet=0"'],
    [["--verbose", "very"], '"very"'],
    [["-b5"], '"-b5"'],
    [["-b=x"], '"-b=x"'],
    [["-b="], '"-b="'],
    [["-b", "x"], '"x"'],
    [["-bh", "x"], '"x"'],
    [["-b--help"], '"-b--help"'],
    [["--base-url"], "--base-url"],
    [["--base-url="], "--base-url"],
    [["--base-url", ""], "--base-url"],
    [["--base-url", "--bridge"], "--base-url"],
    [["--base-url", "-b"], "--base-url"],
    [["--base-url", "--", UNUSABLE], "--base-url"],
    [["--base-url", UNUSABLE, "--base-url"], "--base-url"],
    [["--base-url", UNUSABLE, "hello"], '"hello"'],
    [["--", "hello"], '"hello"'],
    [["--bridge", "--", "--help"], '"--help"'],
    [["--", ""], '""'],
    [["--", "-"], '"-"'],
    [["-", "-"], '"-"'],
    [["-p"], "-p"],
    [["-p", ""], "-p"],
    [["-p", " \n"], "-p"],
    [["--prompt="], "--prompt"],
    [["-p", "-q"], "-p"],
    [["-p", "-"], "-p"],
    [["-pq", "hello"], "-p"],
    [["-prompt", "hello"], '"-prompt"'],
    [["-p", "one", "two"], '"two"'],
    [["-t"], "-t"],
    [["--thread", "."], '"."'],
    [["--thread", ".."], '".."'],
    [["--thread", "é".repeat(513)], "--thread"],
    [["--completions"], "--completions"],
    [["--completions", "tcsh"], '"tcsh"'],
    [["--json=1"], '"--json=1"'],
    [["--verbose"], "--verbose"],
    [["--verbose", "-p", "hello"], "--verbose"],
    [["--bridge", "-p", "hello"], "--prompt"],
    [["--bridge", "-"], '"-"'],
    [["--bridge", "-t", "thread-1"], "--thread"],
    [["--bridge", "--json"], "--json"],
    [["--bridge", "--timeout", "1"], "--timeout"],
    [["--check", "-p", "one", "-p", "two"], "--prompt"],
    [["--check", "-t", "thread-1"], "--thread"],
    [["--timeout", "0"], "--timeout"],
    [["--timeout", "86401"], "--timeout"],
    [["--color", "red"], '"red"'],
    [["--check", "-"], '"-"'],
    [["\u009b31m\u202e"], '"\\u009b31m\\u202e"'],
  ] as const
) {
  Deno.test(`${JSON.stringify(args)} is wrong usage: exit 2, and one line names ${named}`, async () => {
    const { code, stdout, stderr } = await runClient({ args });

    assertEquals(code, 2);
    assertEquals(stdout, "");
    assertMatch(stderr, /^[^\n]+; see agent-gateway --help\n$/);
    assertStringIncludes(stderr, named);
  });
}

for (
  const args of [
    ["--help"],
    ["-h"],
    ["--bridge", "--help"],
    ["--help", "-b"],
    ["-bh"],
    ["-hb"],
    ["--help", "--version"],
    ["--help", "--base-url", UNUSABLE],
    ["--help", "--"],
  ]
) {
  Deno.test(`${JSON.stringify(args)} prints the usage without a key: exit 0 (interface 1)`, async () => {
    const { code, stdout, stderr } = await runClient({ args, env: {} });

    assertEquals(code, 0);
    assertEquals(stderr, "");
    assertMatch(stdout, /\n\nUsage: agent-gateway \[OPTIONS\] \[-\]\n/);
    assertMatch(stdout, /^(?:.{0,80}\n)+$/);
    for (
      const part of [
        ...["-b, --bridge", "--base-url URL", "-q, --quiet", "--verbose"],
        ...["-h, --help", "-V, --version", "APP_API_KEY", "APP_BASE_URL"],
      ]
    ) assertStringIncludes(stdout, part);
  });
}

for (const args of [["--version"], ["-V"], ["-bV"]]) {
  Deno.test(`${JSON.stringify(args)} prints the version without a key: exit 0`, async () => {
    const { code, stdout, stderr } = await runClient({ args, env: {} });

    assertEquals(code, 0);
    assertEquals(stderr, "");
    assertMatch(
      stdout,
      /^agent-gateway \S+ \(deno \d+\.\d+\.\d+, \w+(?:-\w+){2,3}\)\n$/,
    );
    assertEquals(stdout.split(" ")[1], config.version);
  });
}

for (
  const args of [
    (url: string) => ["--base-url", url],
    (url: string) => [`--base-url=${url}/`],
    (url: string) => ["--base-url", UNUSABLE, "--base-url", url],
    (url: string) => [`--base-url=${UNUSABLE}`, "-q", `--base-url=${url}`],
  ]
) {
  const shown = JSON.stringify(args("URL"));

  Deno.test(`${shown} reaches the service at URL: the last --base-url wins, also over APP_BASE_URL`, async () => {
    await using service = ReferenceService.start();

    const { code, stdout } = await runClient({
      args: args(service.url),
      env: { APP_API_KEY: TEST_KEY, APP_BASE_URL: UNUSABLE },
      stdin: "6 * 7\n",
    });

    assertEquals(code, 0);
    assertEquals(stdout, "6 * 7 = 42\n");
    assertEquals(service.requests.length, 3);
  });
}

for (const [args, shown] of [[[], "no argument"], [["-b"], "-b"]] as const) {
  Deno.test(`with ${shown}, a refused --base-url is a start-up failure: exit 1`, async () => {
    const { code, stdout, stderr } = await runClient({
      args: [...args, "--base-url", UNUSABLE],
    });

    assertEquals(code, 1);
    assertEquals(stdout, "");
    assertMatch(stderr, /^--base-url cannot be used: http: [^\n]+\n$/);
  });
}

for (const args of [["--bridge"], ["-b"], ["-bq", "--verbose"], ["-b", "-b"]]) {
  Deno.test(`${JSON.stringify(args)} runs bridge mode (interface 1)`, async () => {
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize" };

    const { code, stdout } = await runClient({
      args,
      stdin: JSON.stringify(initialize) + "\n",
    });

    assertEquals(code, 0);
    assertEquals(JSON.parse(stdout).result.capabilities, { agents: true });
  });
}

for (
  const [argument, meant] of [
    ["--bridg", "--bridge"],
    ["--Bridge", "--bridge"],
    ["-bridge", "--bridge"],
    ["--promt=hello", "--prompt"],
    ["--verison", "--version"],
    ["--comp", "--completions"],
    ["--base_url", "--base-url"],
    ["--b", "-b"],
    ["-B", "-b"],
  ] as const
) {
  Deno.test(`${argument} looks like a slip: the line names ${meant}`, async () => {
    const { code, stderr } = await runClient({ args: [argument] });

    assertEquals(code, 2);
    assertStringIncludes(stderr, ` (did you mean ${meant}?)`);
  });
}

for (
  const argument of ["--nonsense", "-x", "--no", `--${"x".repeat(50_000)}`]
) {
  Deno.test(`${argument.slice(0, 20)} looks like no option: the line names none, and is short`, async () => {
    const { code, stderr } = await runClient({ args: [argument] });

    assertEquals(code, 2);
    assertFalse(stderr.includes("did you mean"));
    assertLess(stderr.length, 300);
  });
}

Deno.test("the error for a bare word says how to run it", async () => {
  const { stderr } = await runClient({ args: ["hello"] });

  assertMatch(stderr, /to run a prompt: agent-gateway -p TEXT/);
});

Deno.test("--bridge takes --base-url as well", async () => {
  await using service = ReferenceService.start({ prefix: "/api/v1" });
  await using editor = new Editor({ args: ["--base-url", service.url] });

  assertEquals(typeof await editor.newSession(), "string");
  assertEquals(service.requests[0]?.path, "/api/v1/threads");
});

Deno.test("no argument runs interactive mode (interface 1)", async () => {
  await using service = ReferenceService.start();

  const { code, stdout, stderr } = await runClient({ env: settings(service) });

  assertEquals(code, 0);
  assertEquals(stdout, "");
  assertMatch(stderr, /^agent-gateway .*\n(?:.*\n)*thread .*\n$/);
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
    "\x1b[0;2m#\x1b[0m \x1b[0;1;4mOne\x1b[0m\ntwo \x1b[0;36m`\x1b[0mcode\x1b[0;36m`\x1b[0m\n",
  );
  assertEquals(
    stderr,
    "\x1b[31mError: Cannot start a run: the service answered 400: no\x1b[39m\n",
  );
});

for (const args of [["--color=never"], ["--color=auto"], []]) {
  Deno.test(`a reply in a pipe with ${JSON.stringify(args)} is not changed`, async () => {
    await using service = serveStreams(events([complete(HOSTILE)]));
    const { stdout } = await runClient({
      args: ["-q", "-p", "hello", ...args],
      env: settings(service),
    });
    assertEquals(stdout, `${HOSTILE}\n`);
  });
}

Deno.test("--color=always changes nothing of --json", async () => {
  await using service = serveStreams(events([complete("# One")]));
  const { stdout } = await runClient({
    args: ["--json", "--color=always", "-p", "hello"],
    env: settings(service),
  });
  assertEquals(
    stdout.split("\n").at(-2),
    '{"type":"reply","text":"# One"}',
  );
});

Deno.test("--timeout ends a prompt whose stream takes too long, and names thread and run; the next prompt runs", async () => {
  await using service = serveStreams(
    events([progress("plan", "started")], { end: "hang" }),
    events([complete("Hello!")]),
  );

  const output = await runClient({
    args: ["-q", "--timeout=10."],
    env: settings(service),
    stdin: "one\ntwo\n",
  });

  assertEquals(output, {
    code: 5,
    stdout: "Hello!\n",
    stderr:
      "Error: Cannot follow the run: there was no reply within 10 s; the run may still go on at the service (thread thread-1, run run-1)\n",
  });
});
