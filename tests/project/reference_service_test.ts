import { assert, assertEquals, assertRejects } from "@std/assert";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";

const KEY = { "x-api-key": TEST_KEY };
const JSON_TYPE = { ...KEY, "content-type": "application/json" };
const STREAM = { ...KEY, accept: "text/event-stream" };

function run(prompt: unknown, others: object = {}): string {
  return JSON.stringify({
    ...{ agentName: "the-brain", prompt, wait: false },
    ...others,
  });
}

async function createThread(service: ReferenceService): Promise<string> {
  const response = await fetch(`${service.url}/threads`, {
    method: "POST",
    headers: KEY,
  });
  return (await response.json()).thread_id;
}

function createRun(
  service: ReferenceService,
  thread: string,
  prompt: string,
): Promise<Response> {
  return fetch(`${service.url}/threads/${thread}/runs`, {
    method: "POST",
    headers: JSON_TYPE,
    body: run(prompt),
  });
}

/** Starts a run and opens its stream. */
async function openStream(
  service: ReferenceService,
  thread: string,
  prompt = "hello",
  headers: Readonly<Record<string, string>> = STREAM,
): Promise<Response> {
  const { run_id } = await (await createRun(service, thread, prompt)).json();
  return await fetch(
    `${service.url}/threads/${thread}/runs/${run_id}/stream`,
    { headers },
  );
}

function parse(stream: string): unknown[] {
  return stream.split("\n").filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)));
}

/** A request for what the interface does not allow, and the status that refuses it. */
const REFUSED: readonly (readonly [
  what: string,
  status: number,
  method: "GET" | "POST",
  place: string,
  headers: Readonly<Record<string, string>>,
  body?: BodyInit,
])[] = [
  ["an unknown path", 404, "GET", "/thread", KEY],
  ["a query", 404, "POST", "/threads?a=b", KEY],
  ["another method", 405, "GET", "/threads", KEY],
  ["a missing key", 401, "POST", "/threads", {}],
  ["a wrong key", 401, "GET", "STREAM", { ...STREAM, "x-api-key": "x" }],
  ["a thread with a body", 400, "POST", "/threads", KEY, new Uint8Array(1)],
  ["a thread with a content type", 400, "POST", "/threads", JSON_TYPE],
  ["an unknown thread", 404, "POST", "/threads/none/runs", JSON_TYPE, run("")],
  ["no content type", 415, "POST", "RUNS", KEY, new Blob([run("hello")])],
  ["no JSON", 400, "POST", "RUNS", JSON_TYPE, "{"],
  [
    "another agent",
    422,
    "POST",
    "RUNS",
    JSON_TYPE,
    run("a", { agentName: "x" }),
  ],
  ["a blank prompt", 422, "POST", "RUNS", JSON_TYPE, run(" ")],
  [
    "a run that waits",
    422,
    "POST",
    "RUNS",
    JSON_TYPE,
    run("a", { wait: true }),
  ],
  ["a further field", 422, "POST", "RUNS", JSON_TYPE, run("a", { x: 1 })],
  ["an unknown run", 404, "GET", "RUNS/none/stream", STREAM],
  ["a stream of another type", 406, "GET", "STREAM", KEY],
];

Deno.test("the service refuses what its interface does not allow", async (t) => {
  await using service = ReferenceService.start();
  const thread = await createThread(service);
  const { run_id } = await (await createRun(service, thread, "hello")).json();
  const refuses = async (status: number, place: string, init: RequestInit) => {
    const path = place.replace("STREAM", `RUNS/${run_id}/stream`)
      .replace("RUNS", `/threads/${thread}/runs`);
    const response = await fetch(service.url + path, init);
    await response.body?.cancel();
    assertEquals(response.status, status);
  };
  for (const [what, status, method, place, headers, body = null] of REFUSED) {
    const init = { method, headers, body };
    await t.step(what, () => refuses(status, place, init));
  }
  const body = ReadableStream.from([new TextEncoder().encode(run("hello"))]);
  const init = { method: "POST", headers: JSON_TYPE, body };
  await t.step("a body of unknown length", () => refuses(411, "RUNS", init));
});

Deno.test("the service fails by itself on three prompts", async () => {
  await using service = ReferenceService.start();
  const thread = await createThread(service);

  const failed = await createRun(service, thread, "please fail");
  assertEquals(failed.status, 500);
  assertEquals(await failed.json(), {
    message: "The run could not be started",
  });

  const broken = await openStream(service, thread, "please break off");
  await assertRejects(() => broken.text(), TypeError);
  assertEquals(await service.requests.at(-1)?.ended, "broken");

  const silent = await openStream(service, thread, "please hang");
  await silent.body?.cancel();
  assertEquals(await service.requests.at(-1)?.ended, "dropped");
});

Deno.test("the service resumes a stream after Last-Event-ID if it sends ids", async () => {
  await using service = ReferenceService.start({ ids: true });
  const thread = await createThread(service);
  const headers = { ...STREAM, "last-event-id": "3" };
  const stream = await openStream(service, thread, "hello", headers);
  const text = await stream.text();
  assert(text.startsWith('id: 4\ndata: {"event":"progress","node":"write"'));
  assertEquals(parse(text).length, 2);
});

Deno.test("main.ts prints the service's URL and ends on SIGTERM", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-config",
      "--allow-net=127.0.0.1",
      new URL("../support/service/main.ts", import.meta.url).href,
      "--key=another-key",
    ],
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const url = (await lines.read()).value?.trimEnd();

  const response = await fetch(`${url}/threads`, {
    method: "POST",
    headers: { "x-api-key": "another-key" },
  });
  await response.body?.cancel();
  assertEquals(response.status, 200);

  child.kill("SIGTERM");
  assert((await lines.read()).done);
  const { code } = await child.status;
  if (Deno.build.os !== "windows") assertEquals(code, 0);
});
