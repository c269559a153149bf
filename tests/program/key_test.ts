import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { Client, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import {
  answer,
  type Behaviour,
  json,
  redirect,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import type { RecordedRequest } from "../support/service/exchange.ts";
import { ReferenceService } from "../support/service/service.ts";

/** A key with characters that encodings escape. */
const KEY = `sk+live/4f=8&a<b>"c'd%e$f~0123-Abcd`;

/** Some spellings of the key. */
const SPELLINGS: Readonly<Record<string, (key: string) => string>> = {
  "as it is": (key) => key,
  "escaped for JSON": (key) => JSON.stringify(key).slice(1, -1),
  "encoded for a URL": encodeURIComponent,
  "with control characters within": (key) =>
    Array.from(key).join("\x1b[0m").replace("l", "\x1b]0;l\x07l\x00"),
};

/** Rejects the key, with an echo of the request's headers. */
function echo(spell: (key: string) => string): Behaviour {
  return (request) => {
    const key = request.headers.get("x-api-key") ?? "";
    const headers = `X-API-Key: ${spell(key)}; Accept: */*`;
    return answer(401, `<pre>${headers}</pre>`)();
  };
}

for (const [how, spell] of Object.entries(SPELLINGS)) {
  Deno.test(`a key that an error echoes ${how} is left out for the editor and on standard error`, async () => {
    await using service = ReferenceService.start({ key: KEY });
    const env = { APP_API_KEY: KEY, APP_BASE_URL: service.url };
    const message =
      "Cannot start a run: the service answered 401, the API key " +
      "was rejected (check APP_API_KEY): left out, because it may contain the API key";

    service.misbehave("create run", echo(spell), 2);
    await using client = new Client({ args: ["--quiet"], env });
    const { stderr } = await client.finish("a\n");
    await using editor = new Editor({ env });
    const { error } = await editor.prompt(await editor.newSession(), "a");

    assertEquals(stderr, `Error: ${message}\n`);
    assertEquals(error?.message, message);
    assertEquals(error?.data, { details: message });
  });
}

Deno.test("the key reaches no origin but the configured one, and no URL and no body", async () => {
  await using service = ReferenceService.start();
  await using elsewhere = ReferenceService.start();
  const env = settings(service);
  for (const operation of ["create thread", "create run", "stream"] as const) {
    for (const status of [301, 302, 303, 307, 308]) {
      service.misbehave(
        operation,
        redirect(`${elsewhere.url}/threads?from=${operation}`, status),
      );
    }
  }
  // Links in an answer are not followed.
  const links = { thread_id: "t", url: elsewhere.url, location: elsewhere.url };
  service.misbehave("create thread", json(links));

  await using editor = new Editor({ env });
  await editor.request("initialize");
  for (let refused = 0; refused < 5; refused++) {
    const { error } = await editor.request("session/new");
    const status = [301, 302, 303, 307, 308][refused];
    assertMatch(error?.message ?? "", RegExp(`answered ${status}`));
  }
  await editor.request("session/new");
  const sessionId = await editor.newSession();
  for (let refused = 0; refused < 10; refused++) {
    assert((await editor.prompt(sessionId, "hello")).error);
  }
  assertEquals((await editor.prompt(sessionId, "hello")).error, undefined);

  assertEquals(elsewhere.requests, []);
  for (const request of service.requests) assertInHeaderAlone(request, env);
});

function assertInHeaderAlone(
  { method, path, headers, body }: RecordedRequest,
  { APP_API_KEY }: ReturnType<typeof settings>,
): void {
  assertEquals(headers.get("x-api-key"), APP_API_KEY);
  for (const [name, value] of headers) {
    if (name !== "x-api-key") assertFalse(value.includes(APP_API_KEY), name);
  }
  assertFalse(`${method} ${path} ${body}`.includes(APP_API_KEY));
}

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
