import { assertEquals, assertFalse, assertMatch } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { QUIET_HOST } from "../support/faulty_service.ts";
import {
  answer,
  type Behaviour,
  body,
  json,
} from "../support/service/behaviours.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";

/** Failures of any operation, and how their messages end. */
const FAILURES: readonly (readonly [Behaviour, RegExp])[] = [
  [json({ message: "out of order" }, 500), /answered 500.*: out of order$/],
  [answer(404, "no such thing"), /answered 404 \(.+\): no such thing$/],
  [
    json({ error: `wrong: ${TEST_KEY}` }, 401),
    /key was rejected.*: left out, because it holds the API key$/,
  ],
  [body(['{"thread_id'], { end: "break" }), /connection|stream ended/],
];

/** The operations, and the codes and beginnings of their errors. */
const OPERATIONS = [
  ["create thread", -32010, "Cannot start a chat: "],
  ["create run", -32603, "Cannot start a run: "],
  ["stream", -32603, "Cannot follow the run: "],
] as const;

for (const [operation, code, start] of OPERATIONS) {
  Deno.test(`a failure at "${operation}" answers an error, and the next request works (interface 7)`, async () => {
    await using service = ReferenceService.start();
    await using editor = new Editor({ env: settings(service) });
    const sessionId = await editor.newSession();
    const ask = () =>
      operation === "create thread"
        ? editor.request("session/new")
        : editor.prompt(sessionId, "hello");

    for (const [behaviour, reason] of FAILURES) {
      service.misbehave(operation, behaviour);

      const { error } = await ask();
      const next = await ask();

      assertEquals(error?.code, code);
      assertEquals(error?.message.slice(0, start.length), start);
      assertMatch(error?.message ?? "", reason);
      assertFalse(error?.message.includes("thread"));
      assertEquals(error?.data, { details: error?.message });
      assertEquals(next.error, undefined);
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

  for (let i = 0; i < 2; i++) {
    const { error } = await editor.request("session/new");
    assertEquals(error?.code, -32010);
    assertMatch(error?.message ?? "", /refused/);
  }
});

const GONE = [
  ["404 with JSON", json({ message: "No such thread" }, 404), true],
  ["404 with plain words", answer(404, "not here"), false],
  ["410 with JSON", json({ message: "No such thread" }, 410), false],
] as const;
for (const [name, behaviour, isKnown] of GONE) {
  Deno.test(`a run that is refused by ${name} ${isKnown ? "tells" : "does not tell"} the editor to start a new session`, async () => {
    await using service = ReferenceService.start();
    await using editor = new Editor({ env: settings(service) });
    const sessionId = await editor.newSession();
    service.misbehave("create run", behaviour);

    const { error } = await editor.prompt(sessionId, "hello");

    const gone = isKnown ? "Session not found: " : "";
    assertEquals(error?.data, { details: `${gone}${error?.message}` });
  });
}

Deno.test("a session that is resumed on a thread that is gone says so with its first prompt", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  await editor.request("initialize", { protocolVersion: 1 });
  const resume = { sessionId: "gone", cwd: "/", mcpServers: [] };

  const resumed = await editor.request("session/resume", resume);
  const { error } = await editor.prompt("gone", "hello");

  assertEquals(resumed.result, {});
  assertEquals(
    error?.message,
    "Cannot start a run: the service answered 404 (the chat may be gone: start a new one): No such thread",
  );
});
