import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { VERSION } from "../../lib/version.ts";
import {
  Client,
  type ClientOutput,
  runClient,
  settings,
} from "../support/client_process.ts";
import { QUIET_HOST, unreachable } from "../support/faulty_service.ts";
import {
  answer,
  type Behaviour,
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import {
  addStream,
  promptsOf,
  ReferenceService,
  serveStreams,
  TEST_KEY,
} from "../support/service/service.ts";

/** Runs the program with `stdin` as its standard input. */
function runLines(
  service: ReferenceService,
  stdin: string,
  ...args: readonly string[]
): Promise<ClientOutput> {
  return runClient({ args, env: settings(service), stdin });
}

Deno.test("a prompt makes exactly three requests, in order, each with the key (interface 1.2, 4.1)", async () => {
  await using service = ReferenceService.start();

  const { code, stdout } = await runLines(service, "hello\nexit\n");

  assertEquals(code, 0);
  assertEquals(
    stdout,
    "Hello! I am the-brain. Ask me something, or what you said before.\n",
  );
  const seen = service.requests.map(({ method, path, body, headers }) => {
    assertEquals(headers.get("x-api-key"), TEST_KEY);
    return [method, path.replaceAll(/[0-9a-f-]{36}/g, "ID"), body];
  });
  const run = '{"agentName":"the-brain","prompt":"hello","wait":false}';
  assertEquals(seen, [
    ["POST", "/threads", ""],
    ["POST", "/threads/ID/runs", run],
    ["GET", "/threads/ID/runs/ID/stream", ""],
  ]);
  const [, created, stream] = service.requests;
  assertEquals(created?.headers.get("content-type"), "application/json");
  assertEquals(stream?.headers.get("accept"), "text/event-stream");
});

Deno.test("banner with the masked key, then thread, then progress, on standard error (interface 1, Interactive mode rules 1 and 4)", async () => {
  await using service = serveStreams(
    events([
      progress("plan", "started"),
      progress("plan", "done"),
      complete("Hello!"),
    ]),
  );

  const output = await runLines(service, "hello\n");

  assertEquals(output.stdout, "Hello!\n");
  assertEquals(output.stderr.trimEnd().split("\n"), [
    `agent-gateway ${VERSION}, agent the-brain, key test...cdef`,
    `service ${service.url}`,
    "thread thread-1",
    "plan: started",
    "plan: done",
  ]);
});

Deno.test("progress is shown during the run, and the next prompt waits for its end", async () => {
  const first = new GatedStream();
  const second = new GatedStream();
  await using service = serveStreams(first.behaviour, second.behaviour);
  await using client = new Client({ env: settings(service) });
  await client.write("one\ntwo\n");

  first.progress("plan", "started");
  await client.stderr.waitFor("plan: started\n");
  assertEquals(promptsOf(service), ["one"]);
  first.complete("1");
  await client.stdout.waitFor("1\n");
  second.progress("write", "started");
  await client.stderr.waitFor("write: started\n");
  second.complete("2");
  await client.stdout.waitFor("1\n2\n");

  assertEquals((await client.finish()).code, 0);
  assertEquals(promptsOf(service), ["one", "two"]);
});

Deno.test("empty input is no prompt (interface 1, Interactive mode rules 2)", async () => {
  await using service = serveStreams(events([complete("1")]));

  const { code, stdout } = await runLines(service, "\n  \n\t\r\none\n\n");

  assertEquals({ code, stdout }, { code: 0, stdout: "1\n" });
  assertEquals(promptsOf(service), ["one"]);
});

for (const word of ["exit", "QUIT", " Exit "]) {
  Deno.test(`${JSON.stringify(word)} leaves with 0, whatever follows (interface 1, Interactive mode rules 3)`, async () => {
    await using service = serveStreams(events([complete("1")]));
    await using client = new Client({ env: settings(service) });

    // Standard input stays open, so its end does not end the program.
    await client.write(`one\n${word}\ntwo\n`);

    const { code, stdout } = await client.output();
    assertEquals({ code, stdout }, { code: 0, stdout: "1\n" });
    assertEquals(promptsOf(service), ["one"]);
  });
}

Deno.test("two prompts yield two replies and nothing else on standard output", async () => {
  await using service = ReferenceService.start();

  const { code, stdout } = await runLines(service, "a\nb\n");

  assertEquals(code, 0);
  assertEquals(stdout, "You said: a\nYou said: b\n");
});

Deno.test("a reply goes through a pipe byte for byte, escape codes and all (interface 1, Interactive mode rules 4)", async () => {
  const replies = [
    "\x1b[31mred\x1b[m \x1b]0;title\x07 \x9b2J \u202e\ttab\r\nnext\n\n",
    "日本語 👩‍💻 e\u0301 \u0000 \ufeff end",
  ];
  await using service = serveStreams(
    ...replies.map((reply) => events([complete(reply)])),
  );

  const { code, stdout } = await runLines(service, "a\nb\n");

  assertEquals(code, 0);
  assertEquals(stdout, `${replies[0]}\n${replies[1]}\n`);
});

Deno.test("a reply of 15 MiB arrives whole", async () => {
  const reply = "0123456789abcdé\n".repeat(800 * 1024) + "end";
  await using service = serveStreams(events([complete(reply)]));

  const { code, stdout } = await runLines(service, "a\n");

  assertEquals(code, 0);
  assertEquals(stdout.length, reply.length + 1);
  assertEquals(stdout === `${reply}\n`, true);
});

Deno.test("progress and errors are one line each, without control characters (interface 7)", async () => {
  const hostile = "a\x1b[31mb\x1b]0;t\x07c\x9b2J\nd\re\u202ef";
  await using service = serveStreams();
  service.misbehave("create run", json({ message: hostile }, 400));
  addStream(
    service,
    events([progress(hostile, hostile), complete("Hello!")]),
  );

  const { code, stdout, stderr } = await runLines(service, "a\nb\n");

  assertEquals({ code, stdout }, { code: 1, stdout: "Hello!\n" });
  assertEquals(stderr.split("\n").slice(3), [
    "Error: Cannot start a run: the service answered 400: abc d ef",
    "abc d ef: abc d ef",
    "",
  ]);
});

Deno.test("there are no escape codes where there is no terminal", async () => {
  await using service = ReferenceService.start();

  const { stdout, stderr } = await runClient({
    env: { ...settings(service), TERM: "xterm-256color" },
    stdin: "hello\nplease fail\nplease break off\nexit\n",
  });

  assertMatch(stderr, /Error: [^]*Error: /);
  assertFalse((stdout + stderr).includes("\x1b"));
});

for (const flag of ["--quiet", "-q"]) {
  Deno.test(`${flag} leaves out banner and progress, not errors and replies`, async () => {
    await using service = serveStreams(
      events([progress("plan", "started"), complete("1")]),
      events([progress("plan", "started")]),
    );

    const { code, stdout, stderr } = await runLines(service, "a\nb\n", flag);

    assertEquals({ code, stdout }, { code: 5, stdout: "1\n" });
    assertMatch(stderr, /^Error: .+\n$/);
  });
}

const LINES: readonly (readonly [
  name: string,
  input: string | Uint8Array,
  prompts: readonly string[],
])[] = [
  ["without a newline at the end", "one\ntwo", ["one", "two"]],
  ["with Windows line ends", "one\r\ntwo\r\n", ["one", "two"]],
  ["with a byte order mark", "\ufeffone\n", ["one"]],
  ["with blanks around it", "  one \n", ["  one "]],
  ["with escape codes", "\x1b[31mone\n", ["\x1b[31mone"]],
  ["of 4 MiB", `${"é".repeat(2 << 20)}\n`, ["é".repeat(2 << 20)]],
];

for (const [name, input, prompts] of LINES) {
  Deno.test(`input ${name} reaches the service as it is meant`, async () => {
    const reply = events([complete("1")]);
    await using service = serveStreams(...prompts.map(() => reply));
    await using client = new Client({ env: settings(service) });

    await client.write(input);
    const { code } = await client.finish();

    assertEquals(code, 0);
    assertEquals(promptsOf(service), prompts);
  });
}

Deno.test("a piped line that is not UTF-8 is refused alone, and the end is exit 1", async () => {
  await using service = ReferenceService.start();
  await using client = new Client({ args: ["-q"], env: settings(service) });

  await client.write("one\n");
  await client.write(Uint8Array.of(0x61, 0xff));
  const { code, stdout, stderr } = await client.finish("\ntwo\n");

  assertEquals([code, stdout], [1, "You said: one\nYou said: two\n"]);
  assertMatch(stderr, /^Error: Cannot take a line as a prompt: .+\n$/);
  assertEquals(promptsOf(service), ["one", "two"]);
});

Deno.test("a thread that cannot be created is an error, and the end (interface 7)", async () => {
  await using service = ReferenceService.start();
  service.misbehave("create thread", json({}));

  const { code, stdout, stderr } = await runLines(service, "hello\n", "-q");

  assert(code !== 0);
  assertEquals(stdout, "");
  assertMatch(
    stderr,
    /^Error: Cannot create a thread: .+ no thread_id; try again later\n$/,
  );
  assertEquals(service.requests.length, 1);
});

const FAILURES: readonly (readonly [
  name: string,
  operation: "create run" | "stream",
  behaviour: Behaviour,
  message: RegExp,
])[] = [
  ["is refused", "create run", answer(401), /start a run: .*APP_API_KEY/],
  ["has no id", "create run", json({}), /start a run: .*no run_id/],
  ["breaks off", "stream", events([]), /follow the run: .*ended before/],
];
for (const [name, operation, behaviour, message] of FAILURES) {
  Deno.test(`a run that ${name} is an error, and the next prompt works (interface 7)`, async () => {
    await using service = ReferenceService.start();
    service.misbehave(operation, behaviour);

    const { stdout, stderr } = await runLines(service, "one\ntwo\n", "-q");

    assertEquals(stdout, "You said: two\n");
    assertMatch(stderr, /^Error: Cannot .+\n$/);
    assertMatch(stderr, message);
    assertEquals(promptsOf(service), ["one", "two"]);
  });
}

Deno.test("a service that is not there: the error with its address, exit 3", async () => {
  const url = unreachable();

  const { code, stdout, stderr } = await runClient({
    args: ["-q"],
    env: settings({ url }),
    stdin: "hello\n",
  });

  assertEquals({ code, stdout }, { code: 3, stdout: "" });
  assertMatch(stderr, /^Error: Cannot create a thread: .*refused.*\n$/);
  assertMatch(stderr, RegExp(new URL(url).host));
});

Deno.test("a service that has gone and come back: the error, and the next prompt works", async () => {
  await using first = ReferenceService.start({ hostname: QUIET_HOST });
  await using client = new Client({ args: ["-q"], env: settings(first) });
  await (await first.waitFor("create thread")).ended;
  const { port } = new URL(first.url);
  await first[Symbol.asyncDispose]();

  await client.write("one\n");
  await client.stderr.waitFor(/^Error: Cannot start a run: .*refused.*\n/);
  await using second = ReferenceService.start({
    hostname: QUIET_HOST,
    port: Number(port),
  });
  addStream(second, events([complete("Better.")]));
  await client.write("two\n");
  await client.stdout.waitFor("Better.\n");

  assertEquals((await client.finish()).code, 3);
});

for (
  const [stdin, code] of [
    ["hello\nhello\n\n", 0],
    ["please fail\nhello\n", 5],
    ["hello\nplease fail\n\n", 5],
    ["please fail\nhello\nexit\n", 0],
    ["please fail\nquit", 0],
  ] as const
) {
  Deno.test(`the input ${JSON.stringify(stdin)} exits ${code}: that of the last run that failed, but 0 after exit and quit`, async () => {
    await using service = ReferenceService.start();

    const output = await runLines(service, stdin);

    assertEquals(output.code, code);
  });
}
