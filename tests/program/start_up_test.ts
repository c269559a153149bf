import { assertEquals, assertFalse, assertMatch } from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import { FaultyService } from "../support/faulty_service/service.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { Folder } from "../support/environment.ts";

const NOT_SET = /^agent-gateway: error: APP_API_KEY is not set: [^\n]+\n$/;
const MALFORMED = /^agent-gateway: error: APP_API_KEY is malformed: [^\n]+\n$/;

/** Requests up to the first connection to the service. */
const NEW_SESSION = [
  { jsonrpc: "2.0", id: 1, method: "initialize" },
  { jsonrpc: "2.0", id: 2, method: "session/new" },
].map((request) => JSON.stringify(request) + "\n").join("");

/** The answer to `session/new` with what standard error says. */
function refusalOf(stderr: string): string {
  const message = stderr.trimEnd().replace("agent-gateway: error: ", "");
  const error = { code: -32010, message, data: { details: message } };
  return `${JSON.stringify({ jsonrpc: "2.0", id: 2, error })}\n`;
}

/** Ends every connection without an answer. */
function startMuteServer(): Promise<FaultyService> {
  return FaultyService.start((connection) => connection.close());
}

/** The number of connections to a mute server. */
async function countConnections(server: FaultyService): Promise<number> {
  // Connections are accepted in order: when this one has ended, none is left.
  const { hostname, port } = new URL(server.url);
  using last = await Deno.connect({ hostname, port: Number(port) });
  assertEquals(await last.read(new Uint8Array(1)), null);
  return server.connections - 1;
}

for (
  const [mode, args, stdin] of [
    ["interactive mode", ["--quiet"], "6 * 7\n"],
    ["bridge mode", ["--bridge"], NEW_SESSION],
  ] as const
) {
  for (
    const [what, key, message] of [
      ["no key", {}, NOT_SET],
      ["a key with a space", { APP_API_KEY: "secret secret" }, MALFORMED],
    ] as const
  ) {
    Deno.test(`${mode} with ${what} exits 1, names APP_API_KEY in one line, and connects to nothing (interface 5.3, 7)`, async () => {
      await using service = await startMuteServer();
      const env = { APP_BASE_URL: service.url, ...key };

      const { code, stdout, stderr } = await runClient({ args, env, stdin });

      assertEquals(code, 1);
      const [, refusal] = stdout.split(/(?<=\n)/);
      if (mode === "bridge mode") assertEquals(refusal, refusalOf(stderr));
      else assertEquals(stdout, "");
      assertMatch(stderr, message);
      assertFalse(stderr.includes("secret"), stderr);
      assertEquals(await countConnections(service), 0);
    });
  }

  Deno.test(`${mode} takes key and base URL from .env, whatever else it contains (interface 5.2)`, async () => {
    await using service = ReferenceService.start();
    using folder = new Folder(
      "PATH=$PATH:/x\n" +
        `APP_API_KEY=${TEST_KEY}\nAPP_BASE_URL=${service.url}\n`,
    );

    const { code, stdout, stderr } = await runClient({
      args,
      env: { APP_API_KEY: "" },
      cwd: folder.path,
      stdin,
    });

    assertEquals(code, 0);
    assertEquals(stderr, "");
    assertFalse(stdout.includes(TEST_KEY), stdout);
    assertEquals(service.requests[0]?.headers.get("x-api-key"), TEST_KEY);
  });

  Deno.test({
    name: `${mode} warns of a .env that is a pipe, and does not wait for it`,
    ignore: Deno.build.os === "windows",
    async fn() {
      await using service = ReferenceService.start();
      using folder = new Folder((path) => {
        new Deno.Command("mkfifo", { args: [path] }).outputSync();
      });

      const { code, stderr } = await runClient({
        args,
        env: settings(service),
        cwd: folder.path,
        limit: 20_000,
        stdin,
      });

      assertEquals(code, 0);
      assertEquals(
        stderr,
        "agent-gateway: warning: Cannot read .env, so it is ignored: not a regular file; set its variables in the environment instead\n",
      );
      assertEquals(service.requests[0]?.operation, "create thread");
    },
  });
}

Deno.test("--bridge with wrong usage refuses the session with the message: exit 2", async () => {
  await using client = new Client({ args: ["--bridge", "--nonsense"] });
  // Sent before the start, because the program waits for a request for 1 s only.
  await client.write('no JSON\n\n{"method":"note"}\n{"id":7,"result":{}}\n');
  await client.write(NEW_SESSION);
  const { code, stdout, stderr } = await client.output();

  assertEquals(code, 2);
  const [, refusal] = stdout.split(/(?<=\n)/);
  assertEquals(refusal, refusalOf(stderr));
});

Deno.test("--bridge without a key ends by itself when no request comes: exit 1", async () => {
  await using client = new Client({ args: ["--bridge"], env: {} });
  const { code, stdout, stderr } = await client.output();

  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, NOT_SET);
});

Deno.test("--bridge without a key ends, although nobody reads its answers: exit 1", async () => {
  await using client = new Client({
    args: ["--bridge"],
    env: {},
    limit: 60_000,
  });
  client.stdout.pause();
  // Their answers are more than a pipe and a reader that has paused take.
  const requests = '{"id":1,"method":"initialize"}\n'.repeat(3000);
  client.write(requests).catch(() => {}); // It ends before it has read them all.

  const { code, signal } = await client.status;
  client.stdout.resume();
  assertEquals([code, signal], [1, null]);
});
