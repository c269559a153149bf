import { assertEquals } from "@std/assert";
import { EditorRequests } from "../../../lib/bridge/editor_requests.ts";
import type { Outgoing, RpcResponse } from "../../../lib/bridge/json_rpc.ts";

const NEVER = new AbortController().signal;
const FILE = { sessionId: "s", path: "/a" };

function response(id: unknown, result: unknown): RpcResponse {
  return { kind: "response", id, result, error: undefined };
}

/** Requests with the messages that they sent. */
function create() {
  const sent: Outgoing[] = [];
  const peer = {
    send: (message: Outgoing) => void sent.push(message),
    sendInTurn: () => Promise.resolve(true),
  };
  return { requests: new EditorRequests({ peer }), sent };
}

Deno.test("EditorRequests.readFile() resolves with the first response to its own id, in any order", async () => {
  const { requests } = create();
  const first = requests.readFile(FILE, NEVER);
  const second = requests.readFile(FILE, NEVER);

  for (const id of ["1", 0, 3, null, undefined, {}, [1], true]) {
    requests.receive(response(id, "wrong"));
  }
  requests.receive(response(2, "two"));
  requests.receive(response(1, "one"));
  requests.receive(response(1, "again"));

  assertEquals((await first)?.result, "one");
  assertEquals((await second)?.result, "two");
});

Deno.test("EditorRequests.readFile() resolves without a response when it is aborted, which takes the request back, or closed", async () => {
  const controller = new AbortController();
  for (const isClosed of [false, true]) {
    const { requests, sent } = create();
    const signal = isClosed ? NEVER : controller.signal;
    const asked = requests.readFile(FILE, signal);

    if (isClosed) requests.close();
    else controller.abort();
    requests.receive(response(1, "late"));

    assertEquals(await asked, undefined);
    assertEquals(await requests.readFile(FILE, signal), undefined);
    assertEquals(
      sent.slice(1),
      isClosed
        ? []
        : [{ method: "$/cancel_request", params: { requestId: 1 } }],
    );
  }
});
