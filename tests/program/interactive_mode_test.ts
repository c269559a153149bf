import { assertEquals, assertMatch } from "@std/assert";
import { VERSION } from "../../lib/version.ts";
import {
  Client,
  type ClientOutput,
  runClient,
  settings,
} from "../support/client_process.ts";
import {
  answer,
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import {
  promptsOf,
  ReferenceService,
  serveStreams,
  TEST_KEY,
} from "../support/service/service.ts";

const ID = /[0-9a-f-]{36}/g;

/** Runs the program with `stdin` as its standard input. */
function runLines(
  service: ReferenceService,
  stdin: string,
  ...args: readonly string[]
): Promise<ClientOutput> {
  return runClient({ args, env: settings(service), stdin });
}

Deno.test("a prompt makes three requests, each with the key, after a banner with the masked key; its progress goes to standard error (interface 1, 4.1)", async () => {
  await using service = ReferenceService.start();

  const { code, stdout, stderr } = await runLines(service, "hello\nexit\n");

  assertEquals(code, 0);
  assertEquals(
    stdout,
    "Hello! I am the-brain. Ask me something, or what you said before.\n",
  );
  assertEquals(stderr.replaceAll(ID, "ID").trimEnd().split("\n"), [
    `agent-gateway ${VERSION}, agent the-brain, key test...cdef`,
    `service ${service.url}`,
    "thread ID",
    ...["plan: started", "recall: no earlier prompt"],
    ...["write: started", "write: done"],
  ]);
  const seen = service.requests.map(({ method, path, body, headers }) => {
    assertEquals(headers.get("x-api-key"), TEST_KEY);
    return [method, path.replaceAll(ID, "ID"), body];
  });
  const run = '{"agentName":"the-brain","prompt":"hello","wait":false}';
  assertEquals(seen, [
    ["POST", "/threads", ""],
    ["POST", "/threads/ID/runs", run],
    ["GET", "/threads/ID/runs/ID/stream", ""],
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

for (const word of ["exit", "QUIT"]) {
  Deno.test(`${JSON.stringify(word)} leaves with 0, whatever failed before and follows (interface 1, Interactive mode rules 3)`, async () => {
    await using service = serveStreams(events([complete("1")]));
    service.misbehave("create run", answer(422));
    await using client = new Client({ env: settings(service) });

    // Standard input stays open, so its end does not end the program.
    await client.write(`one\nfails\n${word}\ntwo\n`);

    const { code, stdout } = await client.output();
    assertEquals({ code, stdout }, { code: 0, stdout: "1\n" });
    assertEquals(promptsOf(service), ["one", "fails"]);
  });
}

Deno.test("--quiet leaves out banner and progress, not errors and replies", async () => {
  await using service = serveStreams(
    events([progress("plan", "started"), complete("1")]),
    events([progress("plan", "started")]),
  );

  const { code, stdout, stderr } = await runLines(service, "a\nb\n", "--quiet");

  assertEquals({ code, stdout }, { code: 5, stdout: "1\n" });
  assertMatch(stderr, /^agent-gateway: error: .+\n$/);
});

Deno.test("a piped line that is not UTF-8 is refused alone, and counts as a prompt", async () => {
  await using service = serveStreams(events([complete("1")]));
  service.misbehave("create run", json({ message: "no" }, 400));
  await using client = new Client({ args: ["-q"], env: settings(service) });

  await client.write("one\n");
  await client.write(Uint8Array.of(0x61, 0xff));
  const { code, stdout, stderr } = await client.finish("\nthree\n");

  assertEquals([code, stdout], [1, "1\n"]);
  const errors = stderr.trimEnd().split("\n");
  const [rejected = "", refused] = errors;
  assertMatch(
    rejected,
    /: Prompt 2 on thread thread-1: A line was rejected: ./,
  );
  assertEquals(
    refused,
    "agent-gateway: error: Prompt 3 on thread thread-1: The service answered 400: no.",
  );
  assertEquals(errors.length, 2);
  assertEquals(promptsOf(service), ["one", "three"]);
});
