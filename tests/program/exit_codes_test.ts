import { assertEquals, assertFalse } from "@std/assert";
import { Client, settings, spawnByShell } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { hang } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService } from "../support/service/service.ts";
import { Folder } from "../support/environment.ts";

const ignore = Deno.build.os === "windows";

const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n';
const NEW_SESSION = '{"jsonrpc":"2.0","id":2,"method":"session/new"}\n';

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  for (
    const [mode, args, input] of [
      ["interactive mode", ["--quiet"], ""],
      ["bridge mode", ["--bridge"], INITIALIZE + NEW_SESSION],
    ] as const
  ) {
    Deno.test({
      name:
        `${signal} while a thread is created: ${mode} exits with ${code}, and does not die of the signal`,
      ignore,
      async fn() {
        await using service = ReferenceService.start();
        service.misbehave("create thread", hang());
        using folder = new Folder();
        const child = spawnByShell({
          args,
          env: settings(service),
          cwd: folder.path,
        });
        const stdin = child.stdin.getWriter();
        await stdin.write(new TextEncoder().encode(input));
        await service.waitFor("create thread");

        child.kill(signal);
        const [status, stderr] = await Promise.all([
          child.status,
          new Response(child.stderr).text(),
        ]);

        assertEquals(status, { success: false, code, signal: null });
        assertEquals(stderr, "");
        await Promise.all([stdin.abort(), child.stdout.cancel()]);
      },
    });
  }

  Deno.test({
    name:
      `${signal} at the prompt: interactive mode exits with ${code}, without a word`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      await using client = new Client({ env: settings(service) });
      const banner = await client.stderr.waitFor(/thread .*\n/);

      client.kill(signal);

      assertEquals(await client.output(), { code, stdout: "", stderr: banner });
    },
  });

  Deno.test({
    name:
      `${signal} during a run with piped input: interactive mode exits with ${code}, the stream is dropped`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      const gate = new GatedStream();
      service.misbehave("stream", gate.behaviour);
      await using client = new Client({
        args: ["--quiet"],
        env: settings(service),
      });
      await client.write("hello\n");
      await gate.opened;

      client.kill(signal);

      assertEquals(await client.output(), { code, stdout: "", stderr: "" });
      await gate.dropped;
    },
  });

  Deno.test({
    name: `${signal} without a run: bridge mode exits with ${code}`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      await using editor = new Editor({ env: settings(service) });
      await editor.newSession();

      editor.client.kill(signal);
      const output = await editor.client.output();

      assertEquals(output.code, code);
      assertEquals(output.stderr, "");
    },
  });

  Deno.test({
    name:
      `${signal} during a run: bridge mode exits with ${code}, everything is dropped`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      const gate = new GatedStream();
      service.misbehave("stream", gate.behaviour);
      await using editor = new Editor({ env: settings(service) });
      const sessionId = await editor.newSession();
      const params = { sessionId, prompt: "hello" };
      const id = await editor.send("session/prompt", params);
      await gate.opened;

      editor.client.kill(signal);
      const output = await editor.client.output();

      assertEquals(output.code, code);
      assertEquals(output.stderr, "");
      await gate.dropped;
      const answered = (message: object) =>
        "id" in message && message.id === id;
      assertFalse(editor.messages.some(answered));
    },
  });
}

for (
  const [what, args, input, code] of [
    ["--help", ["--help"], "", 0],
    ["--version", ["--version"], "", 0],
    ["bridge mode", ["--bridge"], INITIALIZE, 0],
    ["interactive mode", ["--quiet"], "hello\n", 1],
  ] as const
) {
  Deno.test({
    name:
      `a reader of standard output that is gone ends ${what} with ${code}, silently`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      using folder = new Folder();
      const child = spawnByShell({
        // The program starts with the first line of input, after the reader is gone.
        script: 'read -r line && exec "$@"',
        args,
        env: settings(service),
        cwd: folder.path,
      });
      await child.stdout.cancel();
      const stdin = child.stdin.getWriter();
      await stdin.write(new TextEncoder().encode(`start\n${input}`));

      // Standard input stays open, so its end does not end the program.
      const [status, stderr] = await Promise.all([
        child.status,
        new Response(child.stderr).text(),
      ]);

      assertEquals(status, { success: code === 0, code, signal: null });
      assertEquals(stderr, "");
      await stdin.abort();
    },
  });
}
