import { assertEquals, assertMatch } from "@std/assert";
import { clientPermissionFlags } from "../../tools/bundle.ts";
import { settings } from "../support/client_process.ts";
import { Folder } from "../support/environment.ts";
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

Deno.test("the sources run from a web server, with JSR and the documented permissions", async () => {
  await using registry = await startJsrRegistry();
  await using sources = serveSources();
  await using service = ReferenceService.start();
  using cwd = new Folder();
  using cache = new Folder();
  const host = `127.0.0.1:${sources.addr.port}`;
  // As in the documents, with this registry in place of jsr.io.
  const hosts = `${host},${new URL(registry.url).host}`;
  const requests = ["initialize", "session/new"]
    .map((method, id) => `{"jsonrpc":"2.0","id":${id},"method":"${method}"}\n`);
  for (
    const [args, input, printed] of [
      [["-q", "-p", "6 * 7"], "", /^6 \* 7 = 42\n$/],
      [["--bridge"], requests.join(""), /"id":0,.*\n.*"id":1,.*"sessionId":/],
    ] as const
  ) {
    const { code, stdout, stderr } = await programOutput([
      ...[Deno.execPath(), "run", "-q", `--allow-import=${hosts}`],
      ...[...clientPermissionFlags, `http://${host}/main.ts`, ...args],
    ], {
      ...{ cwd: cwd.path, input },
      env: {
        DENO_DIR: cache.path,
        JSR_URL: registry.url,
        ...settings(service),
      },
    });
    assertEquals([code, stderr], [0, ""]);
    assertMatch(stdout, printed);
  }
});

Deno.test("a JSR whose packages differ from deno.lock is refused, without the launcher too", async () => {
  await using registry = await startJsrRegistry(); // its bytes are the stand-ins'
  using cache = new Folder();
  const { code, stderr } = await programOutput([
    ...[Deno.execPath(), "run", "-q", "-P=client", "main.ts", "--version"],
  ], {
    cwd: ROOT,
    env: { DENO_DIR: cache.path, JSR_URL: registry.url, NO_COLOR: "1" },
  });
  assertEquals(code, 10);
  assertMatch(stderr, /Integrity check failed for package/);
});
