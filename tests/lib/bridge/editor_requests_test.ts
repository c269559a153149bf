import { assertEquals } from "@std/assert";
import { EditorRequests } from "../../../lib/bridge/editor_requests.ts";
import type { Outgoing, RpcResponse } from "../../../lib/bridge/json_rpc.ts";

const NEVER = new AbortController().signal;

function response(id: unknown, result: unknown): RpcResponse {
  return { kind: "response", id, result, error: undefined };
}

/** Requests with the messages that they sent. */
function create() {
  const sent: Outgoing[] = [];
  return { requests: new EditorRequests((it) => sent.push(it)), sent };
}

Deno.test("EditorRequests.ask() resolves with the response to its own id, in any order", async () => {
  const { requests, sent } = create();
  const first = requests.ask("m", { a: 1 }, NEVER);
  const second = requests.ask("m", { a: 2 }, NEVER);

  requests.receive(response(2, "two"));
  requests.receive(response(1, "one"));

  assertEquals(sent, [
    { id: 1, method: "m", params: { a: 1 } },
    { id: 2, method: "m", params: { a: 2 } },
  ]);
  assertEquals((await first)?.result, "one");
  assertEquals((await second)?.result, "two");
});

Deno.test("EditorRequests ignores responses to nothing, to another type of id, and second ones", async () => {
  const { requests } = create();
  const asked = requests.ask("m", {}, NEVER);

  for (const id of ["1", 1n, 0, 2, null, undefined, {}, [1], true]) {
    requests.receive(response(id, "wrong"));
  }
  requests.receive(response(1, "right"));
  requests.receive(response(1, "again"));

  assertEquals((await asked)?.result, "right");
});

Deno.test("EditorRequests.ask() resolves without a response when it is aborted, and ignores a late one", async () => {
  const { requests, sent } = create();
  const controller = new AbortController();
  const asked = requests.ask("m", {}, controller.signal);

  controller.abort();
  requests.receive(response(1, "late"));

  assertEquals(await asked, undefined);
  assertEquals(await requests.ask("m", {}, controller.signal), undefined);
  assertEquals(sent.length, 1);
});

Deno.test("EditorRequests.close() ends open requests, and sends no more", async () => {
  const { requests, sent } = create();
  const asked = [1, 2].map(() => requests.ask("m", {}, NEVER));

  requests.close();

  assertEquals(await Promise.all(asked), [undefined, undefined]);
  assertEquals(await requests.ask("m", {}, NEVER), undefined);
  assertEquals(sent.length, 2);
});
