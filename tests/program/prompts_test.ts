import { assert, assertEquals, assertMatch } from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { parseJsonLines } from "../support/json_lines.ts";
import { complete, events, json } from "../support/service/behaviours.ts";
import {
  promptsOf,
  ReferenceService,
  serveStreams,
} from "../support/service/service.ts";

Deno.test("a reply that cannot be read is told on standard error, in JSON and in the log of the bridge: exit 0", async () => {
  const unread = { event: "complete", messages: [{ speech: "Hi." }] };
  const note = "The run completed, but its reply could not be read: ";
  await using service = ReferenceService.start();
  service.misbehave("stream", events([unread]), Infinity);
  const env = settings(service);

  const plain = await runClient({ args: ["-p", "hello", "-q"], env });
  assertEquals([plain.code, plain.stdout], [0, "Run completed.\n"]);
  assert(
    plain.stderr.startsWith(`agent-gateway: warning: ${note}`),
    plain.stderr,
  );
  const lines = await runClient({ args: ["-p", "hello", "--json"], env });
  const [, , reply] = parseJsonLines(lines.stdout);
  assertEquals([lines.code, lines.stderr, reply?.text], [
    ...[0, "", "Run completed."],
  ]);
  assert(`${reply?.note}`.startsWith(note));
  for (const args of [[], ["--verbose"]]) {
    await using editor = new Editor({ env, args });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, "hello");
    const { stderr } = await editor.finish();
    const isLogged = stderr.includes("message had no text");
    assertEquals(isLogged, args[0] === "--verbose");
    assert(!stderr.includes("Hi.")); // It may be a reply, or quote a prompt.
  }
});

const MEBIBYTE = new Uint8Array(1024 * 1024).fill(0x61);

Deno.test("-p runs prompts in order on one thread, exit and several lines among them, and leaves an open standard input alone", async () => {
  const prompts = ["one", "exit", "two\nlines", " -x ", "quit"];
  await using service = serveStreams(
    ...prompts.map((prompt) => events([complete(`${prompt}!`)])),
  );

  await using client = new Client({
    args: [
      ...["-q", "-p", "one", "--prompt", "exit"],
      "-p=two\nlines",
      "--prompt= -x ",
      "-qp",
      "quit",
    ],
    env: settings(service),
  });
  await client.write("not a prompt\n");

  // Standard input stays open, so its end does not end the program.
  const { code, stdout, stderr } = await client.output();

  assertEquals({ code, stderr }, { code: 0, stderr: "" });
  assertEquals(stdout, prompts.map((prompt) => `${prompt}!\n`).join(""));
  assertEquals(promptsOf(service), prompts);
  assertEquals(
    service.requests.filter(({ path }) => path === "/threads").length,
    1,
  );
});

for (
  const [what, args, input, prompt] of [
    ["- alone is the prompt", ["-"], "one\ntwo\n", "one\ntwo"],
    [
      "- after -p follows an empty line",
      ["-p", "Why?", "-"],
      "a\nb\n",
      "Why?\n\na\nb",
    ],
  ] as const
) {
  Deno.test(`standard input as a prompt: ${what}`, async () => {
    await using service = serveStreams(events([complete("1")]));
    const output = await runClient({
      args: ["-q", ...args],
      env: settings(service),
      stdin: input,
    });

    assertEquals(output, { code: 0, stdout: "1\n", stderr: "" });
    assertEquals(promptsOf(service), [prompt]);
  });
}

Deno.test("standard input with 17 MiB is no prompt: one line, exit 1, and no request", async () => {
  await using service = ReferenceService.start();
  const env = settings(service);
  await using client = new Client({ args: ["-"], env });

  for (let i = 0; i < 17; i++) {
    await client.write(MEBIBYTE).catch(() => {}); // The client has ended.
  }
  const { code, stdout, stderr } = await client.finish();

  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^[^\n]*The prompt is larger than 16 MiB[^\n]*\n$/);
  assertEquals(service.requests.length, 0);
});

Deno.test("--thread continues that thread and creates none", async () => {
  await using service = ReferenceService.start();
  service.misbehave("create run", json({ run_id: "run-1" }));
  service.misbehave("stream", events([complete("1")]));

  const { code, stdout, stderr } = await runClient({
    args: ["--thread=my thread/1"],
    env: settings(service),
    stdin: "one\n",
  });

  assertEquals({ code, stdout }, { code: 0, stdout: "1\n" });
  assertMatch(stderr, /^thread my thread\/1$/m);
  assertEquals(service.requests.map(({ path }) => path), [
    "/threads/my%20thread%2F1/runs",
    "/threads/my%20thread%2F1/runs/run-1/stream",
  ]);
});

Deno.test("-p passes on the trace context of its environment, with the requests of the run; a chat does not", async () => {
  await using service = ReferenceService.start();
  const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const env = {
    ...settings(service),
    TRACEPARENT: trace,
    TRACESTATE: "vendor=1",
  };
  await runClient({ args: ["-q", "-p", "hello"], env });
  await runClient({ args: ["-q"], env, stdin: "hello\n" });

  const headers = service.requests.map(({ headers }) => [
    headers.get("traceparent"),
    headers.get("tracestate"),
  ]);
  const [none, some] = [[null, null], [trace, "vendor=1"]];
  assertEquals(headers, [none, some, some, none, none, none]);
});
