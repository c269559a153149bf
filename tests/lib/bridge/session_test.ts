import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { type RequestId, RpcError } from "../../../lib/bridge/json_rpc.ts";
import { Session } from "../../../lib/bridge/session.ts";

/** Begins a prompt, which the test answers. */
function begin(session: Session, id: RequestId) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { turn: session.begin(id, promise), answer: resolve };
}

Deno.test("Session.begin() refuses a second prompt until the first one was answered", async () => {
  const session = new Session("s", "t");
  const { answer } = begin(session, 1);

  const error = assertThrows(() => begin(session, 2), RpcError);
  answer();
  await setImmediate();
  const third = begin(session, 3);

  assertEquals(error.code, -32600);
  assertEquals(
    error.message,
    "Invalid request: a prompt is running in this session; wait for its answer or cancel it",
  );
  assertEquals(third.turn.previous, undefined);
});

Deno.test("Session.begin() takes one prompt after a cancelled one, which waits until that was answered", async () => {
  const session = new Session("s", "t");
  const order: string[] = [];
  const first = begin(session, 1);
  session.cancel();

  const { turn } = begin(session, 2);
  const started = turn.previous?.then(() => order.push("second"));
  assertThrows(() => begin(session, 3), RpcError);
  await setImmediate();
  order.push("first answered");
  first.answer();
  await started;

  assertEquals(order, ["first answered", "second"]);
  assertThrows(() => begin(session, 4), RpcError);
  assertFalse(turn.signal.aborted);
});

const IDS = [1, 0, -1, 1.5, "a", "", "1", null, 12345678901234567890n];
Deno.test("Session.cancel() with an id cancels the prompt of that id alone", () => {
  for (const id of IDS) {
    for (const requestId of [...IDS, {}, true]) {
      const session = new Session("s", "t");
      session.cancel(requestId);
      const { turn } = begin(session, id);

      session.cancel(requestId);

      assertEquals(turn.signal.aborted, requestId === id, `${id} ${requestId}`);
    }
  }
});

Deno.test("Session.cancel() cancels the last prompt, which may wait for another one", () => {
  const session = new Session("s", "t");
  begin(session, 1);
  session.cancel();
  const { turn } = begin(session, 2);

  session.cancel();

  assert(turn.signal.aborted);
});

Deno.test("Session.close() cancels the prompt that is running, and waits for its answer", async () => {
  const session = new Session("s", "t");
  const order: string[] = [];
  const { turn, answer } = begin(session, 1);

  const closed = session.close().then(() => order.push("closed"));
  assert(turn.signal.aborted);
  await setImmediate();
  order.push("answered");
  answer();
  await closed;
  await session.close();

  assertEquals(order, ["answered", "closed"]);
});
