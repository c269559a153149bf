import { assertEquals, assertFalse, assertMatch } from "@std/assert";
import { VERSION } from "../../lib/version.ts";
import { Client, runClient, settings } from "../support/client_process.ts";
import { events, json } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { complete, progress } from "../support/service/stream_events.ts";
import {
  addStream,
  promptsOf,
  serveStreams,
} from "../support/scripted_service.ts";

Deno.test("a prompt makes exactly three requests, in order, each with the key (interface 1.2, 4.1)", async () => {
  await using service = ReferenceService.start();

  const { code, stdout } = await runClient({
    env: settings(service),
    stdin: "hello\nexit\n",
  });

  assertEquals(code, 0);
  assertEquals(
    stdout,
    "Hello! I am the-brain. Ask me something, or what you said before.\n",
  );
  const seen = service.requests.map(({ method, path, body, headers }) => ({
    method,
    path: path.replaceAll(/[0-9a-f-]{36}/g, "ID"),
    body,
    key: headers.get("x-api-key"),
    type: headers.get("content-type"),
  }));
  assertEquals(seen, [
    {
      method: "POST",
      path: "/threads",
      body: "",
      key: TEST_KEY,
      type: null,
    },
    {
      method: "POST",
      path: "/threads/ID/runs",
      body: '{"agentName":"the-brain","prompt":"hello","wait":false}',
      key: TEST_KEY,
      type: "application/json",
    },
    {
      method: "GET",
      path: "/threads/ID/runs/ID/stream",
      body: "",
      key: TEST_KEY,
      type: null,
    },
  ]);
  assertEquals(service.requests[2]?.headers.get("accept"), "text/event-stream");
});

Deno.test("banner with the masked key, then thread, then progress, on standard error (interface 1, Interactive mode rules 1 and 4)", async () => {
  await using service = serveStreams(
    events([
      progress("plan", "started"),
      progress("plan", "done"),
      complete("Hello!"),
    ]),
  );

  const output = await runClient({ env: settings(service), stdin: "hello\n" });

  assertEquals(output, {
    code: 0,
    stdout: "Hello!\n",
    stderr: [
      `agent-gateway ${VERSION}, agent the-brain, key test...cdef`,
      `service ${service.url}`,
      "thread thread-1",
      "plan: started",
      "plan: done",
      "",
    ].join("\n"),
  });
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

  const { code, stdout } = await runClient({
    env: settings(service),
    stdin: "\n  \n\t\r\none\n\n",
  });

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

  const { code, stdout } = await runClient({
    env: settings(service),
    stdin: "a\nb\n",
  });

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

  const { code, stdout } = await runClient({
    env: settings(service),
    stdin: "a\nb\n",
  });

  assertEquals(code, 0);
  assertEquals(stdout, `${replies[0]}\n${replies[1]}\n`);
});

Deno.test("a reply of 32 MiB arrives whole", async () => {
  const reply = "0123456789abcdé\n".repeat(2 * 1024 * 1024 - 1) + "end";
  await using service = serveStreams(events([complete(reply)]));

  const { code, stdout } = await runClient({
    env: settings(service),
    stdin: "a\n",
  });

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

  const { code, stdout, stderr } = await runClient({
    env: settings(service),
    stdin: "a\nb\n",
  });

  assertEquals({ code, stdout }, { code: 1, stdout: "Hello!\n" });
  assertEquals(stderr.split("\n").slice(3), [
    "Error: Cannot start a run: the service answered 400: abc d ef",
    "abc def: abc def",
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

    const { code, stdout, stderr } = await runClient({
      args: [flag],
      env: settings(service),
      stdin: "a\nb\n",
    });

    assertEquals({ code, stdout }, { code: 1, stdout: "1\n" });
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
  ["that is not UTF-8", Uint8Array.of(0x61, 0xff, 0x0a), ["a\ufffd"]],
  ["with a byte order mark", "\ufeffone\n", ["one"]],
  ["with blanks around it", "  one \n", ["  one "]],
  ["with escape codes", "\x1b[31mone\x00\n", ["\x1b[31mone\x00"]],
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
