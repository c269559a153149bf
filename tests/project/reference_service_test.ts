import { assertEquals } from "@std/assert";
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

/** A body that is sent in chunks. */
function chunked(): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from([new TextEncoder().encode(run("hello"))]);
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
  ["a body of unknown length", 411, "POST", "RUNS", JSON_TYPE, chunked()],
];

Deno.test("the reference service refuses what its interface does not allow", async (t) => {
  await using service = ReferenceService.start();
  const post = (path: string, headers: HeadersInit, body: BodyInit | null) =>
    fetch(service.url + path, { method: "POST", headers, body });
  const { thread_id } = await (await post("/threads", KEY, null)).json();
  const runs = `/threads/${thread_id}/runs`;
  const { run_id } = await (await post(runs, JSON_TYPE, run("hello"))).json();
  for (const [what, status, method, place, headers, body = null] of REFUSED) {
    await t.step(what, async () => {
      const path = place.replace("STREAM", `RUNS/${run_id}/stream`)
        .replace("RUNS", runs);
      const init = { method, headers, body };
      const response = await fetch(service.url + path, init);
      await response.body?.cancel();
      assertEquals(response.status, status);
    });
  }
});
