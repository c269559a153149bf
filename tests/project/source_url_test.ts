import { assert, assertEquals, assertMatch } from "@std/assert";
import { clientPermissionFlags } from "../../tools/bundle.ts";
import { settings } from "../support/client_process.ts";
import { startJsrRegistry } from "../support/jsr_registry.ts";
import { programOutput } from "../support/program_output.ts";
import { ReferenceService } from "../support/service/service.ts";

const ROOT = `${import.meta.dirname}/../..`;

// Not in the pass of .ci/run with a JSR of its own: there, the lock fits that registry.

/** The files of the program's sources on a web server, and nothing else. */
function serveSources(): Deno.HttpServer<Deno.NetAddr> {
  const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
  return Deno.serve(address, async ({ url }) => {
    const { pathname } = new URL(url);
    if (!/^\/(?:main\.ts|deno\.json|lib\/[\w/]+\.ts)$/.test(pathname)) {
      return new Response(null, { status: 404 });
    }
    const bytes = await Deno.readFile(ROOT + pathname);
    const type = pathname.endsWith(".json")
      ? "application/json"
      : "application/typescript";
    return new Response(bytes, { headers: { "content-type": type } });
  });
}

Deno.test("the sources run from a web server, with JSR and the documented permissions", async (t) => {
  await using registry = await startJsrRegistry();
  await using sources = serveSources();
  await using service = ReferenceService.start();
  const host = `127.0.0.1:${sources.addr.port}`;
  // As in the documents, with this registry in place of jsr.io.
  const hosts = `${host},${new URL(registry.url).host}`;
  const cwd = await Deno.makeTempDir();
  const DENO_DIR = await Deno.makeTempDir();
  const run = (args: readonly string[], input = "") =>
    programOutput([
      ...[Deno.execPath(), "run", "-q", `--allow-import=${hosts}`],
      ...[...clientPermissionFlags, `http://${host}/main.ts`, ...args],
    ], {
      cwd,
      input,
      env: { DENO_DIR, JSR_URL: registry.url, ...settings(service) },
    });

  await t.step("a prompt", async () => {
    const { code, stdout, stderr } = await run(["-q", "-p", "6 * 7"]);
    assertEquals([code, stdout, stderr], [0, "6 * 7 = 42\n", ""]);
  });
  await t.step("the bridge", async () => {
    const request = (id: number, method: string) =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method })}\n`;
    const input = request(1, "initialize") + request(2, "session/new");
    const { code, stdout, stderr } = await run(["--bridge"], input);
    assertEquals([code, stderr], [0, ""]);
    assert(stdout.includes('"id":1') && stdout.includes('"sessionId":'));
  });
  for (const folder of [cwd, DENO_DIR]) {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a JSR whose packages differ from deno.lock is refused, without the launcher too", async () => {
  await using registry = await startJsrRegistry(); // its bytes are the stand-ins'
  const DENO_DIR = await Deno.makeTempDir();
  const { code, stderr } = await programOutput([
    ...[Deno.execPath(), "run", "-q", "-P=client", "main.ts", "--version"],
  ], { cwd: ROOT, env: { DENO_DIR, JSR_URL: registry.url, NO_COLOR: "1" } });
  await Deno.remove(DENO_DIR, { recursive: true });

  assertEquals(code, 10);
  assertMatch(stderr, /Integrity check failed for package/);
});
