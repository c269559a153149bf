/**
 * The interface document, rule by rule and row by row, in its order. The name of each
 * test begins with the section and rule that it holds. Limits, retries and messages,
 * about which the document is silent, are tested elsewhere.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  Client,
  type ClientOutput,
  runClient,
  settings,
} from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import {
  answer,
  body,
  complete,
  events,
  json,
  progress,
  type StreamItem,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import {
  addStream,
  promptsOf,
  ReferenceService,
  serveStreams,
  TEST_KEY,
} from "../support/service/service.ts";

/** A service with one run of these events for each of a number of prompts. */
function serve(items: readonly StreamItem[], runs = 1): ReferenceService {
  const service = serveStreams();
  for (let i = 0; i < runs; i++) addStream(service, events(items));
  return service;
}

/** Runs the prompt loop with these lines as its input. */
function loop(
  service: ReferenceService,
  stdin: string,
): Promise<ClientOutput> {
  return runClient({ env: settings(service), stdin });
}

/** The reply of a run whose `complete` event has these fields. */
async function replyOf(fields: Record<string, unknown>): Promise<string> {
  await using service = serve([{ event: "complete", ...fields }]);
  const args = ["-q", "-p", "hi"];
  return (await runClient({ args, env: settings(service) })).stdout;
}

/** The requests of a service: method and path. */
function callsTo(service: ReferenceService): readonly string[] {
  return service.requests.map(({ method, path }) => `${method} ${path}`);
}

// 1. What the service does

Deno.test("1.2: a thread, a run on it with the prompt, its stream until it completes, in this order", async () => {
  await using service = serve([complete("Done.")]);
  await loop(service, "hello\n");
  assertEquals(callsTo(service), [
    "POST /threads",
    "POST /threads/thread-1/runs",
    "GET /threads/thread-1/runs/run-1/stream",
  ]);
});

Deno.test("1.3: interactive mode reads prompts line by line on one thread", async () => {
  await using service = serve([complete("Done.")], 2);
  const { stdout } = await loop(service, "one\ntwo\n");
  assertEquals(stdout, "Done.\nDone.\n");
  assertEquals(promptsOf(service), ["one", "two"]);
  const threads = service.requests
    .filter(({ operation }) => operation === "create thread");
  assertEquals(threads.length, 1);
});

Deno.test("1.3: bridge mode reads a request per line, and maps each session to a new thread", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const first = await editor.newSession();
  const { result } = await editor.request("session/new", {});
  assert(first !== result.sessionId);
  assertEquals(callsTo(service), ["POST /threads", "POST /threads"]);
});

Deno.test("1.4: every run is sent to the agent the-brain", async () => {
  await using service = serve([complete("Done.")]);
  await using editor = new Editor({ env: settings(service) });
  await editor.prompt(await editor.newSession(), "hello");
  addStream(service, events([complete("Done.")]));
  await loop(service, "hello\n");
  const runs = service.requests
    .filter(({ operation }) => operation === "create run");
  const names = runs.map((run) => JSON.parse(run.body).agentName);
  assertEquals(names, ["the-brain", "the-brain"]);
});

Deno.test("1.5: the service is reached over https at the base URL; http would send the key in clear text", async () => {
  const { code, stderr } = await runClient({
    args: ["-p", "hi"],
    env: { APP_API_KEY: TEST_KEY, APP_BASE_URL: "http://brain.example.com" },
  });
  assertEquals(code, 1);
  assertMatch(stderr, /https/);
});

// 1. Command line

for (const flag of ["--bridge", "-b"]) {
  Deno.test(`1, Command line: ${flag} runs bridge mode`, async () => {
    await using service = ReferenceService.start();
    const { code, stdout } = await runClient({
      args: [flag],
      env: settings(service),
      stdin: '{"jsonrpc":"2.0","id":1,"method":"agents/list"}\n',
    });
    assertEquals(code, 0);
    assertEquals(JSON.parse(stdout).id, 1);
  });
}

for (const flag of ["--help", "-h"]) {
  Deno.test(`1, Command line: ${flag} prints usage and returns, without a key`, async () => {
    const { code, stdout, stderr } = await runClient({ args: [flag], env: {} });
    assertEquals([code, stderr], [0, ""]);
    assertMatch(stdout, /^Usage: agent-gateway/m);
  });
}

Deno.test("1, Command line: without arguments, interactive mode runs", async () => {
  await using service = serve([complete("Done.")]);
  const { code, stdout } = await loop(service, "hello\n");
  assertEquals([code, stdout], [0, "Done.\n"]);
});

// 1. Interactive mode rules

Deno.test("1, Interactive 1: a banner with the masked key, then a thread", async () => {
  await using service = ReferenceService.start();
  service.misbehave("create thread", answer(400));
  const { stderr } = await loop(service, "");
  const masked = `${TEST_KEY.slice(0, 4)}...${TEST_KEY.slice(-4)}`;
  assertMatch(stderr.split("\n")[0] ?? "", RegExp(`key ${masked}$`));
  assertMatch(stderr, /The service answered 400/);
});

Deno.test("1, Interactive 2: empty input asks again and sends nothing", async () => {
  await using service = serve([complete("Done.")]);
  const { code } = await loop(service, "\n   \nhello\n");
  assertEquals([code, promptsOf(service)], [0, ["hello"]]);
});

for (const word of ["exit", "quit", "EXIT", "Quit"]) {
  Deno.test(`1, Interactive 3: "${word}" leaves with exit code 0`, async () => {
    await using service = serveStreams();
    await using client = new Client({ env: settings(service) });
    await client.write(`${word}\n`); // The input stays open.
    assertEquals((await client.output()).code, 0);
    assertEquals(promptsOf(service), []);
  });
}

Deno.test("1, Interactive 4: progress and errors go to standard error, the reply to standard output, and the loop goes on", async () => {
  await using service = serve([progress("plan", "started"), complete("One.")]);
  service.misbehave("create run", json({ message: "too long" }, 413));
  addStream(service, events([complete("Three.")]));
  const { stdout, stderr } = await loop(service, "one\ntwo\nthree\n");
  assertEquals(stdout, "One.\nThree.\n");
  assertMatch(stderr, /^plan: started$/m);
  assertMatch(stderr, /^agent-gateway: error: .*413.*too long/m);
});

// 2. Resources and their fields

Deno.test("2, Thread: without thread_id in the answer, the creation fails", async () => {
  await using service = ReferenceService.start();
  service.misbehave("create thread", json({ id: "t" }), Infinity);
  const { code, stdout } = await runClient({
    args: ["-p", "hi"],
    env: settings(service),
  });
  assert(code !== 0);
  assertEquals([stdout, promptsOf(service)], ["", []]);
});

Deno.test("2, Run: the stream is that of the run_id in the answer", async () => {
  await using service = serve([complete("Done.")]);
  await loop(service, "hello\n");
  const { path } = service.requests.at(-1) ?? {};
  assertEquals(path, "/threads/thread-1/runs/run-1/stream");
});

Deno.test("2, Run-creation request body: agentName, prompt, and wait: false", async () => {
  await using service = serve([complete("Done.")]);
  await loop(service, 'say "hi" é\n');
  const { body } = await service.waitFor("create run");
  assertEquals(JSON.parse(body), {
    agentName: "the-brain",
    prompt: 'say "hi" é',
    wait: false,
  });
});

Deno.test("2, Reply text selection 1: instructorState.explanation", async () => {
  const messages = [{ role: "assistant", content: "not this" }];
  const instructorState = { explanation: "this" };
  assertEquals(await replyOf({ instructorState, messages }), "this\n");
});

Deno.test("2, Reply text selection 2: the run's messages", async () => {
  const messages = [{ role: "assistant", content: "this" }];
  assertEquals(await replyOf({ messages }), "this\n");
});

Deno.test("2, Reply text selection 3: a notice that the run has completed", async () => {
  assertEquals(await replyOf({}), "Run completed.\n");
});

Deno.test("2, Bridge session map: it is in memory, and another process does not have it", async () => {
  await using service = ReferenceService.start();
  await using first = new Editor({ env: settings(service) });
  await using second = new Editor({ env: settings(service) });
  const sessionId = await first.newSession();
  await second.request("initialize", { protocolVersion: 1 });
  const { error } = await second.prompt(sessionId, "hello");
  assertEquals(error?.code, -32002);
});

// 3. States and transitions

Deno.test("3: initialize answers with serverInfo and capabilities {agents: true}", async () => {
  await using editor = new Editor();
  const { result } = await editor.request("initialize");
  assertEquals(result.capabilities, { agents: true });
  assertEquals(typeof result.serverInfo.name, "string");
});

Deno.test("3: session/new requires initialize, and creates a thread after it", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const { error } = await editor.request("session/new", {});
  assert(error !== undefined);
  assertEquals(service.requests.length, 0);
  const sessionId = await editor.newSession();
  assertEquals(typeof sessionId, "string");
  assertEquals(callsTo(service), ["POST /threads"]);
});

// 4.1 Remote HTTP operations

Deno.test("4.1: all three calls carry the key in X-API-Key", async () => {
  await using service = serve([complete("Done.")]);
  await loop(service, "hello\n");
  const keys = service.requests.map(({ headers }) => headers.get("x-api-key"));
  assertEquals(keys, [TEST_KEY, TEST_KEY, TEST_KEY]);
});

Deno.test("4.1, operation 1: POST /threads has no payload", async () => {
  await using service = serve([complete("Done.")]);
  await loop(service, "hello\n");
  const { method, path, body } = await service.waitFor("create thread");
  assertEquals([method, path, body], ["POST", "/threads", ""]);
});

Deno.test("4.1, operation 2: POST /threads/{threadId}/runs has a JSON body", async () => {
  await using service = serve([complete("Done.")]);
  await loop(service, "hello\n");
  const { method, path, headers } = await service.waitFor("create run");
  assertEquals([method, path], ["POST", "/threads/thread-1/runs"]);
  assertEquals(headers.get("content-type"), "application/json");
});

Deno.test("4.1, operation 3: GET .../stream accepts text/event-stream", async () => {
  await using service = serve([complete("Done.")]);
  await loop(service, "hello\n");
  const { method, headers } = await service.waitFor("stream");
  assertEquals([method, headers.get("accept")], ["GET", "text/event-stream"]);
});

Deno.test("4.1, Stream-reading rules 1 to 3: chunks are cut anywhere, each data: line is JSON, and what is none is ignored", async () => {
  const text = "data: not JSON\n" +
    'data: {"event":"progress","node":"pläne","status":"a"}\n' +
    "data: {\n\n" +
    'data: {"event":"complete","instructorState":{"explanation":"Fin 🙂"}}\n';
  await using service = serveStreams(body([text], { chunkSize: 1 }));
  const { stdout, stderr } = await loop(service, "hello\n");
  assertEquals(stdout, "Fin 🙂\n");
  assertMatch(stderr, /^pläne: a$/m);
});

Deno.test("4.1, Stream-reading rule 4: progress is told while the run goes on", async () => {
  const stream = new GatedStream();
  await using service = serveStreams(stream.behaviour);
  await using client = new Client({ env: settings(service) });
  await client.write("hello\n");
  stream.progress("plan", "started");
  await client.stderr.waitFor("plan: started\n");
  assertEquals(client.stdout.text, "");
  stream.complete("Done.");
  await client.stdout.waitFor("Done.\n");
});

Deno.test("4.1, Stream-reading rule 5: complete ends the run with the reply", async () => {
  await using service = serve([complete("Done."), progress("late", "x")]);
  const { stdout, stderr } = await loop(service, "hello\n");
  assertEquals(stdout, "Done.\n");
  assert(!stderr.includes("late"));
});

Deno.test("4.1, Stream-reading rule 6: a stream that fails is an error", async () => {
  await using service = serveStreams(answer(400));
  const { stderr } = await loop(service, "hello\n");
  assertMatch(stderr, /^agent-gateway: error: .*400/m);
});

// 4.2 Bridge JSON-RPC methods

Deno.test("4.2: initialize, session/new, session/prompt with a string and with blocks, agents/list, and any other", async () => {
  await using service = serve(
    [progress("plan", "started"), complete("Done.")],
    2,
  );
  await using editor = new Editor({ env: settings(service) });
  assert((await editor.request("initialize")).result.serverInfo);
  const { result } = await editor.request("session/new");
  const { sessionId } = result;
  for (const prompt of ["hello", [{ type: "text", text: "hello" }]]) {
    const params = { sessionId, prompt };
    const { result } = await editor.request("session/prompt", params);
    assertEquals(result, { stopReason: "end_turn" });
  }
  assertEquals(promptsOf(service), ["hello", "hello"]);
  assertEquals(editor.steps(sessionId), ["plan: started", "plan: started"]);
  assertEquals(
    editor.texts(sessionId, "agent_message_chunk"),
    ["Done.", "Done."],
  );
  const list = await editor.request("agents/list");
  const ids = list.result.agents.map(({ id }: { id: string }) => id);
  assertEquals(ids, ["the-brain"]);
  assertEquals((await editor.request("session/other")).error?.code, -32601);
});

// 5. Authentication

Deno.test("5.2: the key of the environment takes precedence over that of .env, which is read in the current folder", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/.env`, `APP_API_KEY=${TEST_KEY}\n`);
    await using service = serve([complete("Done.")], 2);
    const args = ["-q", "--base-url", service.url, "-p", "hi"];
    await runClient({ args, cwd: folder, env: {} });
    await runClient({ args, cwd: folder, env: { APP_API_KEY: "another-key" } });
    const keys = service.requests
      .filter(({ operation }) => operation === "create thread")
      .map(({ headers }) => headers.get("x-api-key"));
    assertEquals(keys, [TEST_KEY, "another-key"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("5.3 and 5.4: without a key, an error on standard error and exit code 1, and neither front end opens a session or sends anything", async () => {
  await using service = ReferenceService.start();
  for (const args of [["-p", "hi"], ["--bridge"]]) {
    const env = { APP_BASE_URL: service.url };
    const { code, stderr } = await runClient({ args, env });
    assertEquals(code, 1);
    assertMatch(stderr, /APP_API_KEY is not set/);
  }
  assertEquals(service.requests, []);
});

const MASKS = [
  ["sixteen-letters!", "sixt...ers!"],
  ["12345678", "****"],
  ["123456789", "1234...6789"],
] as const;

for (const [key, masked] of MASKS) {
  Deno.test(`5.5: the banner shows a key of ${key.length} characters as ${masked}`, async () => {
    await using service = ReferenceService.start({ key });
    const env = { APP_API_KEY: key, APP_BASE_URL: service.url };
    const { stderr } = await runClient({ env });
    assert(stderr.split("\n")[0]?.endsWith(`key ${masked}`), stderr);
  });
}

// 6. Events

Deno.test("6: one session/update for each progress event and for the reply, before the answer to session/prompt", async () => {
  const steps = [progress("a", "1"), progress("a", "1"), progress("b", "2")];
  await using service = serve([...steps, complete("Done.")]);
  await using editor = new Editor({ env: settings(service) });
  await editor.request("initialize"); // a client of the contract alone
  const { result } = await editor.request("session/new");
  const id = await editor.send("session/prompt", {
    sessionId: result.sessionId,
    prompt: "hello",
  });
  await editor.response(id);
  await editor.finish();
  const told = editor.messages.slice(2).map(({ method, id, params }) =>
    method === undefined ? id : params.update.sessionUpdate
  );
  const thought = "agent_thought_chunk";
  assertEquals(told, [thought, thought, thought, "agent_message_chunk", id]);
});

// 7. Errors

Deno.test("7: a line that is not JSON is answered with -32700 and id null, an unknown method with -32601, each an object with id, code and message", async () => {
  await using editor = new Editor();
  await editor.sendLine("{not json");
  const parse = await editor.response(null);
  assertEquals([parse.id, parse.error?.code], [null, -32700]);
  const other = await editor.request("nothing/known");
  assertEquals(other.error?.code, -32601);
  for (const { error } of [parse, other]) {
    assertEquals(typeof error?.message, "string");
  }
});

Deno.test("7: a thread that cannot be created is an error of session/new", async () => {
  await using service = ReferenceService.start();
  service.misbehave("create thread", json({}), Infinity);
  await using editor = new Editor({ env: settings(service) });
  await editor.request("initialize");
  const { error } = await editor.request("session/new");
  assertEquals(typeof error?.message, "string");
});

// 9. Versioning

Deno.test("9.1: the reply is read from instructorState.explanation, whatever other fields an event has", async () => {
  const reply = await replyOf({
    instructorState: { explanation: "this", version: 7, answer: "not this" },
    answer: "nor this",
    explanation: "nor this",
  });
  assertEquals(reply, "this\n");
});
