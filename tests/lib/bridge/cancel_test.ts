import { assert, assertEquals } from "@std/assert";
import type { RequestId } from "../../../lib/bridge/json_rpc.ts";
import {
  createSessions,
  notification,
  prompt,
  request,
} from "../../support/bridge_ends.ts";

const CANCELLED = { stopReason: "cancelled" };

Deno.test("session/cancel drops the run, and nothing of it follows", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  bridge.receive(prompt(1, first, "hello"));
  const { run } = gateway;
  run.progress("plan", "started");
  await peer.count(1);

  bridge.receive(notification("session/cancel", { sessionId: first }));
  run.complete("Too late.");
  await bridge.idle();

  assert(run.options.signal?.aborted);
  assertEquals(peer.sent.slice(1), [{ id: 1, result: CANCELLED }]);
});

Deno.test("a cancelled session takes the next prompt", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  bridge.receive(prompt(1, first, "one"));
  bridge.receive(notification("session/cancel", { sessionId: first }));
  await bridge.idle();

  bridge.receive(prompt(2, first, "two"));
  gateway.run.complete("Two.");
  await bridge.idle();

  assertEquals(peer.sent.at(0), { id: 1, result: CANCELLED });
  assertEquals(peer.sent.at(-1), { id: 2, result: { stopReason: "end_turn" } });
});

Deno.test("a prompt right after a cancellation waits until the cancelled one has answered", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  bridge.receive(prompt(1, first, "one"));
  bridge.receive(notification("session/cancel", { sessionId: first }));
  bridge.receive(prompt(2, first, "two"));
  bridge.receive(prompt(3, first, "refused"));
  assertEquals(gateway.runs.length, 1);
  while (gateway.runs.length < 2) await undefined;
  assertEquals(peer.sent.at(-1), { id: 1, result: CANCELLED });
  gateway.run.complete("Two.");
  await bridge.idle();

  assertEquals(
    peer.sent.map((message) => "id" in message ? message.id : "update"),
    [3, 1, "update", 2],
  );
  const [refused] = peer.sent;
  assert(refused !== undefined && "error" in refused);
  assertEquals(refused.error.code, -32600);
  assertEquals(gateway.runs.map(({ prompt }) => prompt), ["one", "two"]);
});

Deno.test("a prompt that waits for a cancelled one can be cancelled, and starts no run", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  bridge.receive(prompt(1, first, "one"));
  bridge.receive(notification("session/cancel", { sessionId: first }));
  bridge.receive(prompt(2, first, "two"));
  bridge.receive(notification("$/cancel_request", { requestId: 2 }));
  bridge.receive(prompt(3, first, "three"));
  bridge.receive(request(4, "session/close", { sessionId: first }));
  await bridge.idle();

  assertEquals(peer.sent, [
    { id: 1, result: CANCELLED },
    { id: 2, result: CANCELLED },
    { id: 3, result: CANCELLED },
    { id: 4, result: {} },
  ]);
  assertEquals(gateway.runs.map(({ prompt }) => prompt), ["one"]);
});

Deno.test("session/cancel as a request answers {}, whether or not something runs", async () => {
  const { bridge, peer, first } = await createSessions(1);

  bridge.receive(request(1, "session/cancel", { sessionId: first }));
  bridge.receive(request(2, "session/cancel", { sessionId: "unknown" }));
  bridge.receive(prompt(3, first, "hello"));
  bridge.receive(request(4, "session/cancel", { sessionId: first }));
  await bridge.idle();

  assertEquals(
    peer.sent.toSorted((a, b) =>
      Number("id" in a && a.id) - Number("id" in b && b.id)
    ),
    [
      { id: 1, result: {} },
      { id: 2, result: {} },
      { id: 3, result: CANCELLED },
      { id: 4, result: {} },
    ],
  );
});

const IDS: readonly RequestId[] = [
  ...[1, 0, -1, 1.5, "a", "", "1", null],
  12345678901234567890n,
];
for (const id of IDS) {
  Deno.test(`$/cancel_request cancels the prompt with the id ${typeof id} ${id}`, async () => {
    const { bridge, peer, first, second } = await createSessions(2);
    bridge.receive(prompt(id, first, "hello"));
    bridge.receive(prompt("other", second, "hello"));

    bridge.receive(notification("$/cancel_request", { requestId: id }));
    await peer.count(1);
    bridge.receive(notification("session/cancel", { sessionId: second }));
    await bridge.idle();

    assertEquals(peer.sent, [
      { id, result: CANCELLED },
      { id: "other", result: CANCELLED },
    ]);
  });
}

Deno.test("cancelling an unknown, finished or non-prompt request changes nothing", async () => {
  const { bridge, gateway, peer, first, second } = await createSessions(2);
  const thread = Promise.withResolvers<string>();
  gateway.creating = () => thread.promise;
  bridge.receive(prompt("over", second, "hello"));
  gateway.run.complete("Done.");
  await bridge.idle();
  peer.sent.length = 0;

  bridge.receive(prompt("running", first, "hello"));
  bridge.receive(request("new", "session/new"));
  for (const requestId of ["unknown", "over", "new", undefined, {}]) {
    bridge.receive(notification("$/cancel_request", { requestId }));
  }
  for (const sessionId of ["unknown", second]) {
    bridge.receive(notification("session/cancel", { sessionId }));
  }
  gateway.run.complete("Hello!");
  await peer.count(2);
  thread.resolve("thread-9");
  await bridge.idle();

  assertEquals(peer.sent.at(1), {
    id: "running",
    result: { stopReason: "end_turn" },
  });
  const last = peer.sent.at(-1);
  assert(last !== undefined && "result" in last && last.id === "new");
});

Deno.test("session/close cancels what runs, and answers after its prompt", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  bridge.receive(prompt(1, first, "hello"));

  bridge.receive(request(2, "session/close", { sessionId: first }));
  await bridge.idle();

  assert(gateway.run.options.signal?.aborted);
  assertEquals(peer.sent, [
    { id: 1, result: CANCELLED },
    { id: 2, result: {} },
  ]);
});

Deno.test("session/close forgets the session at once, and no other", async () => {
  const { bridge, gateway, peer, first, second } = await createSessions(2);

  bridge.receive(request(1, "session/close", { sessionId: first }));
  bridge.receive(request(2, "session/close", { sessionId: first }));
  bridge.receive(prompt(3, first, "hello"));
  bridge.receive(notification("session/cancel", { sessionId: first }));
  bridge.receive(prompt(4, second, "hello"));
  gateway.run.complete("Hello!");
  await bridge.idle();

  const answers = peer.sent.filter((message) => "id" in message);
  assertEquals(
    answers
      .map((
        answer,
      ) => [answer.id, "error" in answer ? answer.error.code : "ok"])
      .sort(),
    [[1, "ok"], [2, -32002], [3, -32002], [4, "ok"]],
  );
});
