import { assert, assertEquals, assertFalse } from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { answer, json, redirect } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService } from "../support/service/service.ts";

// tests/lib/text/redactor_test.ts tests how a key is found in a text.

Deno.test("a key that an error echoes is left out for the editor and on standard error", async () => {
  const key = `sk+live/4f=8&a<b>"c'd%e$f~0123-Abcd`;
  await using service = ReferenceService.start({ key });
  const env = { APP_API_KEY: key, APP_BASE_URL: service.url };
  const message = "The service rejected the API key (401: left out, because " +
    "it may contain the API key). Check APP_API_KEY.";
  const echo = `<pre>X-API-Key: ${encodeURIComponent(key)}; Accept: */*</pre>`;
  service.misbehave("create run", answer(401, echo), 2);

  const { stderr } = await runClient({ args: ["-q"], env, stdin: "a\n" });
  await using editor = new Editor({ env });
  const { error } = await editor.prompt(await editor.newSession(), "a");

  assertEquals(stderr, `agent-gateway: error: ${message}\n`);
  assertEquals(error?.message, message);
  assertEquals(error?.data, { details: message });
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
