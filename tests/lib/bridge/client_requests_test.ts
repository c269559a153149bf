import { assertEquals } from "@std/assert";
import { ClientOutput } from "../../../lib/bridge/client_output.ts";
import { ClientRequests } from "../../../lib/bridge/client_requests.ts";
import type { RpcResponse } from "../../../lib/bridge/json_rpc.ts";
import { serviceId } from "../../support/texts.ts";

const NEVER = new AbortController().signal;
const FILE = { sessionId: serviceId("s"), path: "/a" };

function response(id: unknown, result: unknown): RpcResponse {
  return { kind: "response", id, result, error: undefined };
}

/** Requests with the methods and params of the messages that they sent. */
function create() {
  let written = "";
  const output = new ClientOutput({
    write: (bytes) =>
      Promise.resolve(void (written += new TextDecoder().decode(bytes))),
  });
  const sent = async () => {
    await output.flush();
    const lines = written.split("\n").slice(0, -1);
    return lines.map((line) => {
      const { method, params } = JSON.parse(line);
      return { method, params };
    });
  };
  return {
    requests: new ClientRequests(output),
    sent,
  };
}

Deno.test("ClientRequests.readFile() resolves with the first response to its own id, in any order", async () => {
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

Deno.test("ClientRequests.readFile() resolves without a response when it is aborted, which takes the request back, or closed", async () => {
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
      (await sent()).slice(1),
      isClosed
        ? []
        : [{ method: "$/cancel_request", params: { requestId: 1 } }],
    );
  }
});
