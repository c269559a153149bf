import { assertEquals } from "@std/assert";
import { runClient, settings } from "./client.ts";
import { ReferenceService, TEST_KEY } from "./service/service.ts";

Deno.test("a prompt makes exactly three requests, in order, each with the key (interface 1.2, 4.1)", async () => {
  await using service = ReferenceService.start();

  const { code, stdout } = await runClient({
    env: settings(service),
    stdin: "hello\nexit\n",
  });

  assertEquals(code, 0);
  assertEquals(
    stdout,
    "Hello! I am the-brain. Ask me something, or what you said before.\n",
  );
  const seen = service.requests.map(({ method, path, body, headers }) => ({
    method,
    path: path.replaceAll(/[0-9a-f-]{36}/g, "ID"),
    body,
    key: headers.get("x-api-key"),
    type: headers.get("content-type"),
  }));
  assertEquals(seen, [
    {
      method: "POST",
      path: "/threads",
      body: "",
      key: TEST_KEY,
      type: null,
    },
    {
      method: "POST",
      path: "/threads/ID/runs",
      body: '{"agentName":"the-brain","prompt":"hello","wait":false}',
      key: TEST_KEY,
      type: "application/json",
    },
    {
      method: "GET",
      path: "/threads/ID/runs/ID/stream",
      body: "",
      key: TEST_KEY,
      type: null,
    },
  ]);
  assertEquals(service.requests[2]?.headers.get("accept"), "text/event-stream");
});
