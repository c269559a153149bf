import { assertEquals, assertMatch } from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import { parseJsonLines } from "../support/json_lines.ts";
import {
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import {
  addStream,
  promptsOf,
  serveStreams,
  TEST_KEY,
} from "../support/service/service.ts";

const UNTIDY = "a\x1b[31m\n\t\u0000\u007f\u009b2J\u2028\u202ee\u{1f600}\ud800";

Deno.test("--json writes thread, run, progress and reply, and nothing to standard error", async () => {
  await using service = serveStreams(
    events([progress("plan", "started"), complete("1")]),
    events([complete("2")]),
  );

  const { code, stdout, stderr } = await runClient({
    args: ["--json", "-p", "one", "-p", "two"],
    env: settings(service),
  });

  assertEquals({ code, stderr }, { code: 0, stderr: "" });
  assertEquals(parseJsonLines(stdout), [
    { type: "thread", thread_id: "thread-1" },
    { type: "run", run_id: "run-1" },
    { type: "progress", node: "plan", status: "started" },
    { type: "reply", text: "1" },
    { type: "run", run_id: "run-1" },
    { type: "reply", text: "2" },
  ]);
});

Deno.test("--json writes each line as it happens", async () => {
  const stream = new GatedStream();
  await using service = serveStreams(stream.behaviour);
  await using client = new Client({
    args: ["--json"],
    env: settings(service),
  });

  await client.stdout.waitFor('{"type":"thread","thread_id":"thread-1"}\n');
  await client.write("one\n");
  await client.stdout.waitFor('{"type":"run","run_id":"run-1"}\n');
  stream.progress("plan", "started");
  await client.stdout.waitFor('"status":"started"}\n');
  stream.complete("1");
  await client.stdout.waitFor('{"type":"reply","text":"1"}\n');

  assertEquals((await client.finish()).code, 0);
});

Deno.test("--json keeps text as it is, without a control character in a line", async () => {
  await using service = serveStreams(
    events([progress(UNTIDY, UNTIDY), complete(UNTIDY)]),
  );

  const { stdout } = await runClient({
    args: ["--json"],
    env: settings(service),
    stdin: "one\n",
  });

  const [, , step, reply] = parseJsonLines(stdout);
  assertEquals(step, { type: "progress", node: UNTIDY, status: UNTIDY });
  assertEquals(reply, { type: "reply", text: UNTIDY });
});

Deno.test("--json: a run that fails is an error line with operation and status, and piped input continues", async () => {
  await using service = serveStreams();
  service.misbehave("create run", json({ message: "no such field" }, 400));
  addStream(service, events([progress("plan", "started")]));
  addStream(service, events([complete("Better.")]));

  const { code, stdout, stderr } = await runClient({
    args: ["--json"],
    env: settings(service),
    stdin: "one\n\ntwo\nthree\n",
  });

  assertEquals({ code, stderr }, { code: 5, stderr: "" });
  const [, refused, , , cutOff, , reply] = parseJsonLines(stdout);
  assertEquals(refused, {
    type: "error",
    message: "Cannot start a run: the service answered 400: no such field",
    operation: "create run",
    status: 400,
    fate: "refused",
  });
  assertEquals(cutOff?.operation, "stream run");
  assertMatch(String(cutOff?.message), /ended before the run completed/);
  assertEquals(reply, { type: "reply", text: "Better." });
  assertEquals(promptsOf(service), ["one", "two", "three"]);
});

for (
  const [what, args, env] of [
    ["wrong usage", ["--json", "--nonsense"], { APP_API_KEY: TEST_KEY }],
    ["a missing key", ["--json"], {}],
  ] as const
) {
  Deno.test(`--json: ${what} is reported on standard error, with nothing on standard output`, async () => {
    const { stdout, stderr } = await runClient({ args, env });

    assertEquals(stdout, "");
    assertMatch(stderr, /^[^\n]+\n$/);
  });
}

Deno.test({
  name: "--json: a reader that is gone ends the program before the next prompt",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using service = serveStreams(events([complete("1")]));
    await using client = new Client({
      args: ["--json"],
      env: settings(service),
    });
    await client.stdout.waitFor("thread-1");

    await client.stdout.close();
    await client.write("one\ntwo\n");

    const { code, stderr } = await client.output();
    assertEquals({ code, stderr }, { code: 1, stderr: "" });
    assertEquals(promptsOf(service), ["one"]);
  },
});
