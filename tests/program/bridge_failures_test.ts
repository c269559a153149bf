import { assertEquals, assertFalse, assertMatch } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { Editor, type Response } from "../support/editor.ts";
import {
  answer,
  type Behaviour,
  body,
  events,
  json,
  progress,
  redirect,
} from "../support/service/behaviours.ts";
import type { Operation } from "../support/service/exchange.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { QUIET_HOST } from "../support/faulty_service.ts";

/** A failure of the service, and the editor's error. */
interface Failure {
  readonly behaviour: Behaviour;
  /** The message without the operation. */
  readonly reason: RegExp;
  readonly status?: number;
  /** The number of the client's attempts. The default is 1. */
  readonly times?: number;
}

const STATUSES: readonly Failure[] = [
  {
    behaviour: json({ message: "out of order" }, 500),
    reason: /answered 500.*: out of order$/,
    status: 500,
  },
  {
    behaviour: answer(404, "no such thing"),
    reason: /answered 404 \(.+\): no such thing$/,
    status: 404,
  },
  ...[401, 403].map((status) => ({
    behaviour: json({ error: `wrong: ${TEST_KEY}` }, status),
    reason: /key was rejected.*: left out, because it holds the API key$/,
    status,
  })),
  {
    behaviour: redirect("https://elsewhere.example/threads"),
    reason: /redirect to https:\/\/elsewhere\.example\b/,
    status: 302,
  },
];

/** Refusals of a `POST`, and answers that hold no id. */
function idFailures(field: string): readonly Failure[] {
  return [
    ...STATUSES,
    {
      behaviour: answer(429, "slow down", { "retry-after": "0" }),
      reason: /answered 429.*: slow down$/,
      status: 429,
      times: 4,
    },
    { behaviour: json({}), reason: new RegExp(` no ${field}`) },
    {
      behaviour: json({ [field]: 7 }),
      reason: new RegExp(` malformed ${field}`),
    },
    {
      behaviour: json({ [field]: null }),
      reason: new RegExp(` malformed ${field}`),
    },
    { behaviour: json({ [field]: "" }), reason: new RegExp(` empty ${field}`) },
    {
      behaviour: json({ [field]: ".." }),
      reason: new RegExp(` malformed ${field}`),
    },
    {
      behaviour: answer(200, "<html>"),
      reason: /a web page came/,
      status: 200,
    },
    {
      behaviour: answer(200, "hello"),
      reason: /not a JSON object/,
      status: 200,
    },
    { behaviour: json([]), reason: /not a JSON object/, status: 200 },
    { behaviour: answer(204), reason: /not a JSON object/, status: 204 },
    {
      behaviour: body(['{"thread_id'], { end: "break" }),
      reason: /connection/,
    },
  ];
}

const FAILURES: Readonly<Record<Operation, readonly Failure[]>> = {
  "create thread": idFailures("thread_id"),
  "create run": idFailures("run_id"),
  "stream": [
    ...STATUSES,
    {
      behaviour: events([progress("plan", "started")]),
      reason: /stream ended before the run completed/,
    },
    {
      behaviour: answer(204),
      reason: /answered 204: it has nothing more to send/,
      status: 204,
    },
    {
      behaviour: events([progress("plan", "started")], { end: "break" }),
      reason: /connection/,
    },
  ],
};

/** The operations as errors name them, and how their messages begin. */
const NAMES: Readonly<Record<Operation, readonly [string, string]>> = {
  "create thread": ["create thread", "Cannot start a chat: "],
  "create run": ["create run", "Cannot start a run: "],
  "stream": ["stream run", "Cannot follow the run: "],
};

for (const operation of ["create thread", "create run", "stream"] as const) {
  Deno.test(`a failure at "${operation}" answers an error, and the next request works (interface 7)`, async (t) => {
    await using service = ReferenceService.start();
    await using editor = new Editor({ env: settings(service) });
    const sessionId = await editor.newSession();
    const ask = () =>
      operation === "create thread"
        ? editor.request("session/new")
        : editor.prompt(sessionId, "hello");

    for (const failure of FAILURES[operation]) {
      const { behaviour, reason, status, times } = failure;
      await t.step(`${reason}`, async () => {
        service.misbehave(operation, behaviour, times);

        const { error } = await ask();
        const run = operation === "stream"
          ? { threadId: sessionId, runId: followedRun(service) }
          : {};
        const next = await ask();

        const [name, start] = NAMES[operation];
        assertEquals(error?.message.slice(0, start.length), start);
        assertMatch(error?.message ?? "", reason);
        assertFalse(/thread(?!_id)/.test(error?.message ?? ""));
        const code = operation === "create thread" ? -32010 : -32603;
        assertEquals([error?.code, error?.data], [code, {
          operation: name,
          ...status !== undefined && { status },
          ...run,
        }]);
        assertEquals(next.error, undefined);
      });
    }
    assertEquals((await editor.finish()).stderr, "");
  });
}

Deno.test("a service that is down is an error of each session/new (interface 7)", async () => {
  const listener = Deno.listen({ hostname: QUIET_HOST, port: 0 });
  const env = settings({ url: `http://${QUIET_HOST}:${listener.addr.port}` });
  listener.close();
  await using editor = new Editor({ env });
  await editor.request("initialize");

  assertRefused(await editor.request("session/new"), "create thread");
  assertRefused(await editor.request("session/new"), "create thread");
});

Deno.test("a service that goes down before a run is created is an error of the prompt (interface 7)", async () => {
  const listener = Deno.listen({ hostname: QUIET_HOST, port: 0 });
  const url = `http://${QUIET_HOST}:${listener.addr.port}`;
  const served = serve(listener, ['{"thread_id":"t"}']);
  await using editor = new Editor({ env: settings({ url }) });
  const sessionId = await editor.newSession();

  const response = await editor.prompt(sessionId, "hello");
  const list = await editor.request("agents/list");

  assertRefused(response, "create run");
  assertEquals(list.result.agents.length, 1);
  await served;
});

const GONE = [
  { behaviour: json({ message: "No such thread" }, 404), isKnown: true },
  { behaviour: answer(404, "not here"), isKnown: false },
  { behaviour: json({ message: "No such thread" }, 410), isKnown: false },
];
for (const [i, { behaviour, isKnown }] of GONE.entries()) {
  Deno.test(`a run that is refused as ${i} ${isKnown ? "tells" : "does not tell"} the editor to start a new session`, async () => {
    await using service = ReferenceService.start();
    await using editor = new Editor({ env: settings(service) });
    const sessionId = await editor.newSession();
    service.misbehave("create run", behaviour);

    const { error } = await editor.prompt(sessionId, "hello");

    const { details } = error?.data as { readonly details?: unknown };
    assertEquals(details, isKnown ? "Session not found" : undefined);
  });
}

Deno.test("a session that is resumed on a thread that is gone says so with its first prompt", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  await editor.request("initialize", { protocolVersion: 1 });
  const sessionId = "gone";
  const resume = { sessionId, cwd: "/", mcpServers: [] };

  const resumed = await editor.request("session/resume", resume);
  const { error } = await editor.prompt(sessionId, "hello");

  assertEquals(resumed.result, {});
  assertEquals(error, {
    code: -32603,
    message:
      "Cannot start a run: the service answered 404 (the chat may be gone: start a new one): No such thread",
    data: {
      operation: "create run",
      status: 404,
      details: "Session not found",
    },
  });
});

/** The run of the last request for a stream. */
function followedRun({ requests }: ReferenceService): string | undefined {
  return requests.findLast(({ operation }) => operation === "stream")?.path
    .split("/").at(4);
}

/** Sends these answers, and stops listening before the last one. */
async function serve(
  listener: Deno.TcpListener,
  answers: readonly string[],
): Promise<void> {
  for (const [i, content] of answers.entries()) {
    using connection = await listener.accept();
    const bytes = new Uint8Array(4096);
    let request = "";
    while (!/^content-length: 0\r|\}$/m.test(request)) {
      const length = await connection.read(bytes) ?? 0;
      request += new TextDecoder().decode(bytes.subarray(0, length));
    }
    if (i === answers.length - 1) listener.close();
    await connection.write(new TextEncoder().encode(
      `HTTP/1.1 200 OK\r\ncontent-length: ${content.length}\r\n\r\n${content}`,
    ));
  }
}

function assertRefused(
  { error }: Pick<Response, "error">,
  operation: string,
): void {
  const code = operation === "create thread" ? -32010 : -32603;
  assertEquals([error?.code, error?.data], [code, { operation }]);
  assertMatch(error?.message ?? "", /refused/);
}
