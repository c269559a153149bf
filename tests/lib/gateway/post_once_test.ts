import { assertEquals, assertRejects } from "@std/assert";
import { RemoteGateway } from "../../../lib/gateway.ts";
import { ConnectionError } from "../../../lib/gateway/service_error.ts";
import { QUICK_TIMEOUTS } from "../../support/quick_gateway.ts";
import {
  type RawConnection,
  RawServer,
} from "../../support/service/raw_server.ts";
import { TEST_KEY } from "../../support/service/service.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

function gatewayTo(server: RawServer): RemoteGateway {
  return new RemoteGateway({
    baseUrl: server.url,
    apiKey: TEST_KEY,
    timeouts: QUICK_TIMEOUTS,
  });
}

/** Creates a thread and runs a turn on it. */
async function converse(gateway: RemoteGateway): Promise<void> {
  const threadId = await gateway.createThread();
  await Array.fromAsync(gateway.runTurn(threadId, "hello"));
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

/**
 * How a connection breaks after the server has read a request: what it sends
 * first, and its end.
 */
const BROKEN_CONNECTIONS:
  readonly (readonly [string, string, "destroy" | "reset"])[] = [
    ["is closed", "", "destroy"],
    ["is reset", "", "reset"],
    ["is closed in the head of the answer", "HTTP/1.1 200 O", "destroy"],
    ["is reset in the head of the answer", `${HEAD}content-le`, "reset"],
    [
      "is closed in the body",
      `${HEAD}content-length: 50\r\n\r\n{"r`,
      "destroy",
    ],
    ["is reset in the body", `${HEAD}content-length: 50\r\n\r\n{"r`, "reset"],
    ["is closed after no HTTP", "What?\r\n\r\n", "destroy"],
  ];

/** Answers a request as the service does, in one chunk, and keeps the connection. */
async function serve(connection: RawConnection, head: string): Promise<void> {
  const content = head.startsWith("GET")
    ? 'data: {"event":"complete","instructorState":{"explanation":"Hi."}}\n\n'
    : '{"thread_id":"t","run_id":"r"}';
  await connection.write(
    `${HEAD}content-length: ${content.length}\r\n\r\n${content}`,
  );
}

for (const [how, sent, end] of BROKEN_CONNECTIONS) {
  Deno.test(`a POST whose connection ${how} is sent once`, async () => {
    let posts = 0;
    let failing = 2; // the number of the POST whose connection breaks: first, a run
    await using server = await RawServer.start(async (connection) => {
      for (;;) {
        const request = await connection.read();
        if (!request) return;
        if (request.head.startsWith("POST") && ++posts === failing) break;
        await serve(connection, request.head);
      }
      await connection.write(sent);
      connection[end]();
    });
    await using gateway = gatewayTo(server);
    const count = (path: string) =>
      server.requests.filter(({ head }) => head.startsWith(`POST ${path} `))
        .length;

    // No connection was used before.
    const run = await assertRejects(() => converse(gateway), ConnectionError);
    assertEquals(run.operation, "create run");
    assertEquals(count("/threads/t/runs"), 1);

    // Now a stream has left a connection open.
    await converse(gateway);
    failing = posts + 2;
    await assertRejects(() => converse(gateway), ConnectionError);
    assertEquals(count("/threads/t/runs"), 3);

    failing = posts + 1;
    const thread = await assertRejects(
      () => gateway.createThread(),
      ConnectionError,
    );
    assertEquals(thread.operation, "create thread");
    assertEquals(count("/threads"), 4);
  });
}

Deno.test("the error for a run whose fate is unknown says so", async () => {
  await using server = await RawServer.start(async (connection) => {
    const request = await connection.read();
    if (request?.head.startsWith("POST /threads ")) {
      await serve(connection, request.head);
    }
  });
  await using gateway = gatewayTo(server);
  const { message } = await assertRejects(
    () => converse(gateway),
    ConnectionError,
  );
  assertEquals(
    message,
    `Cannot start a run: the connection to ${server.url} broke ` +
      "(it was closed without an answer); " +
      "the run may have started, so it is not tried again",
  );
});
