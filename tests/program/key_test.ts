import { assert, assertEquals, assertFalse } from "@std/assert";
import { Client, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import {
  complete,
  events,
  json,
  progress,
  redirect,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService } from "../support/service/service.ts";

// Calls that leave the key out are in calls_test.ts, and how pieces of a key are found in
// a text is tested in tests/lib/text/redactor_test.ts.

Deno.test("a key that a service echoes, whole or cut, is left out in the bridge", async () => {
  const key = "sk-live-5f1c2d3e4b5a69788796a5b4c3d2e1f0";
  const cut = `${key.slice(0, 20)}...${key.slice(-15)}`; // as pydantic does
  await using service = ReferenceService.start({ key });
  service.misbehave("create run", json({ detail: `Bad ${cut}` }, 401));
  const steps = [progress(`plan ${key}`, key.toUpperCase())];
  service.misbehave("stream", events([...steps, complete("Done.")]));
  const env = { APP_API_KEY: key, APP_BASE_URL: service.url };
  await using editor = new Editor({ env });
  const sessionId = await editor.newSession();

  const { error } = await editor.prompt(sessionId, "a");
  await editor.prompt(sessionId, "b");

  const message =
    "The service rejected the API key (401: Bad .........). Check APP_API_KEY.";
  assertEquals([error?.message, error?.data], [message, { details: message }]);
  assertEquals(editor.steps(sessionId), ["plan ...: ..."]);
});

Deno.test("the key reaches no origin but the configured one, and no URL and no body", async () => {
  await using service = ReferenceService.start();
  await using elsewhere = ReferenceService.start();
  const env = settings(service);
  const away = redirect(`${elsewhere.url}/threads`, 307);
  for (const operation of ["create thread", "create run", "stream"] as const) {
    service.misbehave(operation, away);
  }
  // Links in an answer are not followed.
  const links = { thread_id: "t", url: elsewhere.url, location: elsewhere.url };
  service.misbehave("create thread", json(links));

  await using editor = new Editor({ env });
  await editor.request("initialize");
  assert((await editor.request("session/new")).error);
  await editor.request("session/new");
  const sessionId = await editor.newSession();
  for (let refused = 0; refused < 2; refused++) {
    assert((await editor.prompt(sessionId, "hello")).error);
  }
  assertEquals((await editor.prompt(sessionId, "hello")).error, undefined);

  assertEquals(elsewhere.requests, []);
  for (const { method, path, headers, body } of service.requests) {
    const { "x-api-key": sent, ...others } = Object.fromEntries(headers);
    const rest = [method, path, body, ...Object.values(others)].join("\n");
    assertEquals([sent, rest.includes(env.APP_API_KEY)], [
      ...[env.APP_API_KEY, false],
    ]);
  }
});

Deno.test({
  name: "the command line and the title of the process do not hold the key",
  ignore: Deno.build.os !== "linux", // Linux shows them in /proc.
  async fn() {
    await using service = ReferenceService.start();
    const env = settings(service);
    const gate = new GatedStream();
    service.misbehave("stream", gate.behaviour);
    await using client = new Client({ env });
    await client.write("hello\n");
    await gate.opened; // The setup is complete by now.

    // Deno itself reads nothing there without --allow-all.
    const args = ["cmdline", "comm", "status"]
      .map((name) => `/proc/${client.pid}/${name}`);
    const shown = await new Deno.Command("cat", { args }).output();
    gate.complete("Hello!");
    const { code } = await client.finish();

    assertEquals(code, 0);
    assert(shown.success);
    const text = new TextDecoder().decode(shown.stdout);
    assertFalse(text.includes(env.APP_API_KEY), text);
  },
});
