import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  answer,
  body,
  delayed,
  events,
  hang,
  json,
  redirect,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { RawServer } from "../support/service/raw_server.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import {
  complete,
  encodeItem,
  progress,
} from "../support/service/stream_events.ts";

const KEY = { "x-api-key": TEST_KEY };
const JSON_TYPE = { ...KEY, "content-type": "application/json" };
const STREAM = { ...KEY, accept: "text/event-stream" };

function run(prompt: unknown): string {
  return JSON.stringify({ agentName: "the-brain", prompt, wait: false });
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

async function ask(
  service: ReferenceService,
  thread: string,
  prompt: string,
): Promise<string> {
  const stream = await openStream(service, thread, prompt);
  const { instructorState } = parse(await stream.text()).at(-1) as {
    instructorState: { explanation: string };
  };
  return instructorState.explanation;
}

Deno.test("the service streams the plan of a run, then its reply", async () => {
  await using service = ReferenceService.start();
  const thread = await createThread(service);

  const stream = await openStream(service, thread, "hello");

  assertEquals(stream.headers.get("content-type"), "text/event-stream");
  const reply = "Hello! I am the-brain. Ask me something, " +
    "or what you said before.";
  assertEquals(parse(await stream.text()), [
    progress("plan", "started"),
    progress("recall", "no earlier prompt"),
    progress("write", "started"),
    progress("write", "done"),
    {
      ...complete(reply),
      messages: [
        { role: "user", content: "hello" },
        { role: "assistant", content: reply },
      ],
    },
  ]);
});

Deno.test("the service remembers the prompts of a thread, and only those", async () => {
  await using service = ReferenceService.start();
  const [one, other] = [
    await createThread(service),
    await createThread(service),
  ];

  assertEquals(await ask(service, one, "a red fox"), "You said: a red fox");
  assertEquals(await ask(service, other, "a hen"), "You said: a hen");
  assertEquals(await ask(service, one, "what is 6 * 7?"), "6 * 7 = 42");
  assertEquals(
    await ask(service, one, "what did I say before?"),
    "Earlier on this thread you said:\n1. a red fox\n2. what is 6 * 7?",
  );
});

Deno.test("the service records what reaches it", async () => {
  await using service = ReferenceService.start({ prefix: "/api" });
  const thread = await createThread(service);
  await (await openStream(service, thread, "hi")).body?.cancel();

  assertEquals(
    service.requests.map(({ operation, body }) => [operation, body]),
    [
      ["create thread", ""],
      ["create run", run("hi")],
      ["stream", ""],
    ],
  );
  const [first] = service.requests;
  assertEquals(first?.method, "POST");
  assertEquals(first?.path, "/api/threads");
  assertEquals(first?.headers.get("x-api-key"), TEST_KEY);
  assertEquals(first?.status, 200);
  assertEquals(await first?.ended, "complete");
});

Deno.test("the service refuses what its interface does not allow", async (t) => {
  await using service = ReferenceService.start();
  const thread = await createThread(service);
  const { run_id } = await (await createRun(service, thread, "hello")).json();
  const runs = `/threads/${thread}/runs`;
  const stream = `${runs}/${run_id}/stream`;
  const post = { method: "POST" };
  const cases: readonly [string, number, string, RequestInit][] = [
    ["an unknown path", 404, "/thread", { headers: KEY }],
    ["a query", 404, "/threads?a=b", { ...post, headers: KEY }],
    ["another method", 405, "/threads", { headers: KEY }],
    ["a missing key", 401, "/threads", post],
    ["a wrong key", 401, stream, { headers: { ...STREAM, "x-api-key": "x" } }],
    ["a thread with a body", 400, "/threads", {
      ...post,
      headers: KEY,
      body: new Uint8Array(1),
    }],
    ["a thread with a content type", 400, "/threads", {
      ...post,
      headers: JSON_TYPE,
    }],
    ["an unknown thread", 404, "/threads/none/runs", {
      ...post,
      headers: JSON_TYPE,
      body: run("hello"),
    }],
    ["a run without content type", 415, runs, {
      ...post,
      headers: KEY,
      body: new TextEncoder().encode(run("hello")),
    }],
    ["a body of unknown length", 411, runs, {
      ...post,
      headers: JSON_TYPE,
      body: ReadableStream.from([new TextEncoder().encode(run("hello"))]),
    }],
    ["a body that is not JSON", 400, runs, {
      ...post,
      headers: JSON_TYPE,
      body: "{",
    }],
    ["another agent", 422, runs, {
      ...post,
      headers: JSON_TYPE,
      body: JSON.stringify({ agentName: "x", prompt: "hello", wait: false }),
    }],
    ["a blank prompt", 422, runs, {
      ...post,
      headers: JSON_TYPE,
      body: run(" "),
    }],
    ["a run that waits", 422, runs, {
      ...post,
      headers: JSON_TYPE,
      body: JSON.stringify({
        agentName: "the-brain",
        prompt: "hello",
        wait: true,
      }),
    }],
    ["a further field", 422, runs, {
      ...post,
      headers: JSON_TYPE,
      body: JSON.stringify({
        agentName: "the-brain",
        prompt: "hello",
        wait: false,
        x: 1,
      }),
    }],
    ["an unknown run", 404, `${runs}/none/stream`, { headers: STREAM }],
    ["a stream of another type", 406, stream, { headers: KEY }],
  ];
  for (const [name, status, path, init] of cases) {
    await t.step(name, async () => {
      const response = await fetch(service.url + path, init);
      await response.body?.cancel();
      assertEquals(response.status, status);
    });
  }
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

Deno.test("the service reads a path as it arrives", async () => {
  await using service = ReferenceService.start();
  const { port } = new URL(service.url);
  const connection = await Deno.connect({ port: Number(port) });
  await connection.write(new TextEncoder().encode(
    "POST /threads/%2E%2E/runs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  ));
  await new Response(connection.readable).text();
  assertEquals(service.requests[0]?.path, "/threads/%2E%2E/runs");
});

Deno.test("misbehave() replaces the next answers of one operation, in order", async () => {
  await using service = ReferenceService.start();
  service.misbehave("create thread", answer(503, "", { "retry-after": "1" }));
  service.misbehave("create thread", redirect("https://other.example/"));
  service.misbehave("create thread", json({ thread_id: 1 }), 2);
  service.misbehave("create thread", delayed(1));
  service.misbehave("create thread", (_request, { normal }) => normal());

  const statuses = [];
  for (let i = 0; i < 7; i++) {
    const response = await fetch(`${service.url}/threads`, {
      method: "POST",
      headers: KEY,
      redirect: "manual",
    });
    await response.body?.cancel();
    statuses.push(response.status);
  }

  assertEquals(statuses, [503, 302, 200, 200, 200, 200, 200]);
});

Deno.test("events() writes the given line ends, ids and raw text", async () => {
  await using service = ReferenceService.start();
  const thread = await createThread(service);
  service.misbehave(
    "stream",
    events([progress("a", "b"), ": raw\n", complete("c")], {
      newline: "\r\n",
      firstId: 7,
      chunkSize: 1,
    }),
  );

  const stream = await openStream(service, thread);

  assertEquals(
    await stream.text(),
    'id: 7\r\ndata: {"event":"progress","node":"a","status":"b"}\r\n\r\n' +
      ": raw\n" +
      'id: 8\r\ndata: {"event":"complete","instructorState":{"explanation":"c"}}\r\n\r\n',
  );
});

Deno.test("events() makes no more of an endless stream than is read", async () => {
  await using service = ReferenceService.start();
  const thread = await createThread(service);
  let made = 0;
  service.misbehave(
    "stream",
    events(function* () {
      for (;;) {
        made += 1_000;
        yield progress("endless", "x".repeat(1_000));
      }
    }),
  );

  const stream = await openStream(service, thread);
  const reader = stream.body?.getReader();
  for (let read = 0; read < 2_000_000;) {
    read += (await reader?.read())?.value?.length ?? 0;
  }
  await reader?.cancel();
  assertEquals(await service.requests.at(-1)?.ended, "dropped");

  assert(made < 20_000_000, `${made} bytes were made of an endless stream`);
});

Deno.test("body() can break the connection after its parts", async () => {
  await using service = ReferenceService.start();
  service.misbehave("create thread", body(["ab", "cd"], { end: "break" }));

  const response = await fetch(`${service.url}/threads`, { method: "POST" });

  await assertRejects(() => response.text(), TypeError);
  assertEquals(await service.requests[0]?.ended, "broken");
});

Deno.test("hang() answers nothing, and notices a client that goes away", async () => {
  await using service = ReferenceService.start();
  service.misbehave("create thread", hang());
  const abort = new AbortController();

  const pending = fetch(`${service.url}/threads`, {
    method: "POST",
    signal: abort.signal,
  });
  const request = await service.waitFor("create thread");
  abort.abort();

  await assertRejects(() => pending);
  assertEquals(await request.ended, "dropped");
  assertEquals(request.status, undefined);
});

Deno.test("GatedStream sends each event when the test says so", async () => {
  await using service = ReferenceService.start();
  const thread = await createThread(service);
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);

  const stream = await openStream(service, thread);
  const text = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  gate.progress("plan", "started");
  assertEquals(
    (await text?.read())?.value,
    'data: {"event":"progress","node":"plan","status":"started"}\n\n',
  );
  gate.send(encodeItem(progress("plan", "done"), { id: 2 }));
  assertEquals(
    (await text?.read())?.value,
    'id: 2\ndata: {"event":"progress","node":"plan","status":"done"}\n\n',
  );
  gate.complete("Done.");
  assertEquals(
    (await text?.read())?.value,
    'data: {"event":"complete","instructorState":{"explanation":"Done."}}\n\n',
  );
  assert((await text?.read())?.done);
  assertEquals(await (await gate.opened).ended, "complete");
});

Deno.test("GatedStream tells when the client drops it, or breaks off itself", async () => {
  await using service = ReferenceService.start();
  const thread = await createThread(service);
  const [dropped, broken] = [new GatedStream(), new GatedStream()];
  service.misbehave("stream", dropped.behaviour);
  service.misbehave("stream", broken.behaviour);

  const first = await openStream(service, thread);
  await first.body?.cancel();
  await dropped.dropped;
  assertEquals(await (await dropped.opened).ended, "dropped");

  broken.progress("plan", "started");
  broken.break();
  const second = await openStream(service, thread);
  await assertRejects(() => second.text(), TypeError);
  assertEquals(await (await broken.opened).ended, "broken");
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

Deno.test("a service that stops leaves nothing open, streams and waiters included", async () => {
  const service = ReferenceService.start({ pace: 60_000 });
  const thread = await createThread(service);
  const stream = await openStream(service, thread);
  const text = assertRejects(() => stream.text(), TypeError);
  const waiter = assertRejects(
    () => service.waitFor("create run", 2),
    Error,
    'The service stopped before "create run"',
  );

  await service[Symbol.asyncDispose]();

  await Promise.all([text, waiter]);
  assertEquals(await service.requests.at(-1)?.ended, "dropped");
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

Deno.test("RawServer reads requests of one connection and answers by script", async () => {
  await using server = await RawServer.start(async (connection) => {
    for (;;) {
      const request = await connection.read();
      if (!request) return;
      await connection.write(
        `HTTP/1.1 200 OK\r\ncontent-length: ${request.bytes.length}\r\n\r\n`,
      );
      await connection.write(request.bytes);
    }
  });

  const echo = await fetch(`${server.url}/a`, { method: "POST", body: "one" });
  const text = await echo.text();
  await (await fetch(`${server.url}/b`)).body?.cancel();

  assert(text.startsWith("POST /a HTTP/1.1\r\n"));
  assert(text.endsWith("\r\n\r\none"));
  assertEquals(server.requests.map(({ body }) => body), ["one", ""]);
});

Deno.test("RawServer resets a connection before, in and after the head", async (t) => {
  const head = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n";
  for (const sent of ["", "HTTP/1.1 200", head, `${head}1234`]) {
    await t.step(JSON.stringify(sent), async () => {
      await using server = await RawServer.start(async (connection) => {
        await connection.read();
        if (sent !== "") await connection.write(sent);
        connection.reset();
      });
      const { port } = new URL(server.url);
      using client = await Deno.connect({ port: Number(port) });
      await client.write(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"));
      let received = "";
      const read = async () => {
        const buffer = new Uint8Array(100);
        for (;;) {
          const count = await client.read(buffer);
          if (count === null) return;
          received += new TextDecoder().decode(buffer.subarray(0, count));
        }
      };
      await assertRejects(read, Deno.errors.ConnectionReset);
      // Windows and macOS may discard unread bytes at a reset.
      assert(sent.startsWith(received));
      if (Deno.build.os === "linux") assertEquals(received, sent);
    });
  }
});

Deno.test("RawServer closes a kept connection after a request", async () => {
  await using server = await RawServer.start(async (connection) => {
    await connection.read();
    await connection.write("HTTP/1.1 204 No Content\r\n\r\n");
    await connection.read();
  });
  const { port } = new URL(server.url);
  const client = await Deno.connect({ port: Number(port) });

  await client.write(new TextEncoder().encode(
    "GET /a HTTP/1.1\r\n\r\n" +
      "POST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\ntwo",
  ));

  assertEquals(
    await new Response(client.readable).text(),
    "HTTP/1.1 204 No Content\r\n\r\n",
  );
  assertEquals(server.requests.map(({ body }) => body), ["", "two"]);
  assertEquals(server.connections, 1);
});

Deno.test("RawServer stops at once, whatever is open", async () => {
  const reached = Promise.withResolvers<void>();
  const server = await RawServer.start(async (connection) => {
    await connection.read();
    reached.resolve();
    await connection.gone;
  });
  const pending = assertRejects(() => fetch(server.url), TypeError);
  await reached.promise;

  await server[Symbol.asyncDispose]();

  await pending;
});
