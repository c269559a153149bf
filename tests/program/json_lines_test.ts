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
} from "../support/service/service.ts";

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
    message: "The service answered 400: no such field.",
    operation: "create run",
    status: 400,
    fate: "refused",
  });
  assertEquals(cutOff?.operation, "stream run");
  assertMatch(String(cutOff?.message), /stream ended without a reply/);
  assertEquals(reply, { type: "reply", text: "Better." });
  assertEquals(promptsOf(service), ["one", "two", "three"]);
});

Deno.test("--json: settings that are wrong are told on standard error alone", async () => {
  const { code, stdout, stderr } = await runClient({
    args: ["--json", "-p", "6 * 7"],
    env: {},
  });
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^agent-gateway: error: APP_API_KEY is not set: .*\n$/);
});
