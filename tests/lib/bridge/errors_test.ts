import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Bridge } from "../../../lib/bridge/methods.ts";
import { readMessages, type RequestId } from "../../../lib/bridge/json_rpc.ts";
import { ServiceError } from "../../../lib/gateway/service_error.ts";
import {
  createBridge,
  createSessions,
  FakePeer,
  notification,
  prompt,
  request,
} from "../../support/bridge_ends.ts";

for (const method of ["session/prompt", "session/close"]) {
  Deno.test(`${method} of an unknown session answers -32002`, async () => {
    const { bridge, gateway, peer } = await createSessions(1);
    const sessionId = "x".repeat(200);

    bridge.receive(request(1, method, { sessionId, prompt: "hello" }));
    await bridge.idle();

    assertEquals(peer.sent, [{
      id: 1,
      error: {
        code: -32002,
        message: `Session not found: "${"x".repeat(100)}..."`,
      },
    }]);
    assertEquals(gateway.runs, []);
  });
}

for (
  const method of [
    ...["session/prompt", "session/close", "session/cancel", "session/resume"],
  ]
) {
  for (const params of [undefined, null, [], "s", {}, { sessionId: 1 }]) {
    Deno.test(`${method} with params ${JSON.stringify(params)} answers -32602`, async () => {
      const { bridge, peer } = await createSessions(0);

      bridge.receive(request(1, method, params));
      await bridge.idle();

      const message = typeof params === "object" && params !== null &&
          !Array.isArray(params)
        ? "Invalid params: sessionId is not a string"
        : "Invalid params: params is not an object";
      assertEquals(peer.sent, [{ id: 1, error: { code: -32602, message } }]);
    });
  }
}

const UNKNOWN_METHODS = [
  ...["", "nope", "Initialize", "toString", "__proto__", "_ext/method"],
  ...["authenticate", "session/load", "session/set_mode", "session/update"],
  "$/cancel_request",
];
for (const method of UNKNOWN_METHODS) {
  Deno.test(`a request for ${JSON.stringify(method)} answers -32601 (interface 7)`, async () => {
    const { bridge, peer } = createBridge();

    bridge.receive(request(1, method, {}));
    await bridge.idle();

    assertEquals(peer.sent, [{
      id: 1,
      error: { code: -32601, message: `Method not found: "${method}"` },
    }]);
  });
}

Deno.test("an error names no more of an unknown method than 100 characters", async () => {
  const { bridge, peer } = createBridge();

  bridge.receive(request(1, "m".repeat(1_000_000)));
  await bridge.idle();

  const message = `Method not found: "${"m".repeat(100)}..."`;
  assertEquals(peer.sent, [{ id: 1, error: { code: -32601, message } }]);
});

Deno.test("notifications are never answered, whatever is wrong with them", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);

  for (const params of [undefined, null, [], "x", {}, { sessionId: 1 }]) {
    bridge.receive(notification("session/cancel", params));
    bridge.receive(notification("$/cancel_request", params));
  }
  bridge.receive(notification("_ext/event", { any: "thing" }));
  bridge.receive(notification("nope"));
  bridge.receive(notification("session/new"));
  bridge.receive(notification("session/close", { sessionId: first }));
  bridge.receive(
    notification("session/prompt", { sessionId: first, prompt: "hello" }),
  );
  await bridge.idle();

  assertEquals(peer.sent, []);
  assertEquals([gateway.threads, gateway.runs.length], [1, 0]);
});

const FAILURES = [
  {
    error: new ServiceError("the service answered 500", {
      operation: "create run",
      status: 500,
    }),
    expected: {
      code: -32603,
      message: "Cannot start a run: the service answered 500",
      data: { operation: "create run", status: 500 },
    },
  },
  {
    error: new ServiceError("nothing came", { operation: "stream run" }),
    expected: {
      code: -32603,
      message: "Cannot follow the run: nothing came",
      data: { operation: "stream run" },
    },
  },
  ...[401, 403].map((status) => ({
    error: new ServiceError(`the service answered ${status}`, {
      operation: "create thread",
      status,
    }),
    expected: {
      code: -32603,
      message: `Cannot start a chat: the service answered ${status}`,
      data: { operation: "create thread", status },
    },
  })),
  {
    error: new ServiceError("it fell silent", {
      operation: "stream run",
      threadId: "thread-1",
      runId: "run-1",
    }),
    expected: {
      code: -32603,
      message: "Cannot follow the run: it fell silent",
      data: { operation: "stream run", threadId: "thread-1", runId: "run-1" },
    },
  },
  {
    error: new ServiceError(
      "the service answered 404 (the thread may be gone: start a new one)",
      { operation: "create run", status: 404, isJson: true },
    ),
    expected: {
      code: -32603,
      message:
        "Cannot start a run: the service answered 404 (the chat may be gone: start a new one)",
      data: {
        operation: "create run",
        status: 404,
        details: "Session not found",
      },
    },
  },
  ...([
    ["create run", 404, false],
    ["create run", 410, true],
    ["stream run", 404, true],
  ] as const).map(([operation, status, isJson]) => ({
    error: new ServiceError(`answered ${status}`, {
      operation,
      status,
      isJson,
    }),
    expected: {
      code: -32603,
      message: operation === "create run"
        ? `Cannot start a run: answered ${status}`
        : `Cannot follow the run: answered ${status}`,
      data: { operation, status },
    },
  })),
  {
    error: new TypeError("a defect"),
    expected: { code: -32603, message: "Internal error: a defect" },
  },
];
for (const { error, expected } of FAILURES) {
  Deno.test(
    `a failure "${expected.message}" with ${
      JSON.stringify(error)
    } answers ${expected.code}, and the next request works (interface 7)`,
    async () => {
      const { bridge, gateway, peer, first } = await createSessions(1);

      gateway.creating = () => Promise.reject(error);
      bridge.receive(request(1, "session/new"));
      await peer.count(1);
      bridge.receive(prompt(2, first, "hello"));
      gateway.run.progress("plan", "started");
      await peer.count(2);
      gateway.run.fail(error);
      await bridge.idle();
      gateway.creating = undefined;
      bridge.receive(request(3, "session/new"));
      bridge.receive(prompt(4, first, "again"));
      gateway.run.complete("Done.");
      await bridge.idle();

      const answers = peer.sent.filter((message) => "id" in message);
      assertEquals(answers.slice(0, 2), [
        { id: 1, error: expected },
        { id: 2, error: expected },
      ]);
      assertEquals(
        answers.slice(2).map((answer) => ["result" in answer, answer.id]),
        [[true, 3], [true, 4]],
      );
    },
  );
}

const METHODS = [
  ...["initialize", "agents/list", "session/new", "session/prompt", "nope"],
  ...["session/cancel", "session/close", "session/resume"],
  ...["$/cancel_request", 7, null],
];
const anything = fc.jsonValue({ maxDepth: 2 });
const params = fc.oneof(
  anything,
  fc.record({
    sessionId: fc.constantFrom("SESSION", "x", 1),
    requestId: fc.integer({ min: 0, max: 9 }),
    prompt: fc.oneof(
      anything,
      fc.constant("hello"),
      fc.array(fc.record({
        type: fc.constantFrom("text", "resource", "resource_link", "image", 1),
        text: anything,
        uri: fc.string(),
        name: fc.string(),
        resource: anything,
      }, { requiredKeys: ["type"] })),
    ),
    _meta: anything,
  }, { requiredKeys: ["sessionId"] }),
);
const message = fc.record({
  id: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.string(), fc.boolean()),
  method: fc.constantFrom(...METHODS),
  params,
  result: anything,
}, { requiredKeys: [] });
const line = fc.oneof(
  { weight: 8, arbitrary: message.map((message) => JSON.stringify(message)) },
  fc.json({ maxDepth: 1 }),
  fc.string().map((text) => text.replaceAll(/[\r\n]/g, "")),
);

/** The id that the answer to a line has to carry; `undefined` if it gets none. */
function answerId(line: string): RequestId | undefined {
  if (line.trim() === "") return undefined;
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== "object" || Array.isArray(value)) return null;
  const { id, method, result } = value ?? {};
  if (typeof method === "string" && id === undefined) return undefined;
  if (method === undefined && result !== undefined) return undefined;
  return typeof id === "number" || typeof id === "string" ? id : null;
}

Deno.test("whatever lines arrive, each that wants an answer gets exactly one", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (lines) => {
      const peer = new FakePeer();
      const bridge = new Bridge({
        peer,
        gateway: {
          createThread: () => Promise.resolve("thread"),
          async *runTurn() {
            await undefined;
            yield [{ event: "complete", reply: "Done." }];
          },
        },
      });
      bridge.receive(request("first", "initialize"));
      bridge.receive(request("second", "session/new"));
      await bridge.idle();
      const created = peer.sent.splice(0).at(-1);
      assert(created !== undefined && "result" in created);
      const { sessionId } = created.result as { readonly sessionId: string };

      const text = lines.join("\n").replaceAll("SESSION", sessionId);
      const bytes = ReadableStream.from([new TextEncoder().encode(text)]);
      for await (const message of readMessages(bytes)) bridge.receive(message);
      await bridge.idle();

      const ids = (list: readonly unknown[]) =>
        list.map((id) => JSON.stringify(id)).sort();
      assertEquals(
        ids(peer.sent.filter((sent) => "id" in sent).map(({ id }) => id)),
        ids(lines.map(answerId).filter((id) => id !== undefined)),
      );
    }),
    { numRuns: 300 },
  );
});
