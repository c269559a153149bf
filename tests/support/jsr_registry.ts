/**
 * A registry like JSR for tests. As a program, runs a command in a copy of the
 * project, on a network that has this JSR, with an empty cache of Deno.
 *
 *     deno run -P=test tests/support/jsr_registry.ts FOLDER COMMAND [ARGUMENT...]
 *
 * The copy's `deno.lock` is rewritten with the checksums of that registry. The
 * exit code is that of the command.
 *
 * @module
 */
import { sha256 } from "../../tools/checksums.ts";
import standIns from "../../tools/npm/import_map.json" with { type: "json" };
import { writeLock } from "../../tools/pins.ts";

const ROOT = `${import.meta.dirname}/../..`;

/**
 * Starts a JSR on loopback with the standard library that the project uses: the code of
 * the stand-ins in `tools/npm/`, under the names and versions that `deno.lock` pins. It
 * answers what Deno asks for (jsr.io/docs/api): `meta.json`, `VERSION_meta.json` with
 * exports and a manifest of checksums, and the files. `JSR_URL` takes its URL.
 */
export async function startJsrRegistry(): Promise<
  AsyncDisposable & { readonly url: string }
> {
  const files = await readStandIns();
  const manifest: Record<string, { size: number; checksum: string }> = {};
  for (const [path, bytes] of files) {
    const checksum = `sha256-${await sha256(bytes)}`;
    manifest[path] = { size: bytes.length, checksum };
  }
  const exports: Record<string, Record<string, string>> = {};
  for (const [specifier, file] of Object.entries(standIns.imports)) {
    const [, name = "", path = ""] =
      /(@std\/\w+)(?:@[^/]+)?(\/.*)?$/.exec(specifier) ?? [];
    exports[name] = { ...exports[name], [`.${path}`]: file };
  }
  const { jsr } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`));
  const answers = new Map<string, BodyInit>();
  for (const pinned of Object.keys(jsr)) {
    const [, name = "", version = ""] = /^(.+)@(.+)$/.exec(pinned) ?? [];
    const details = { manifest, exports: exports[name] };
    const meta = { versions: { [version]: {} } };
    answers.set(`/${name}/meta.json`, JSON.stringify(meta));
    answers.set(`/${name}/${version}_meta.json`, JSON.stringify(details));
    for (const [path, bytes] of files) {
      answers.set(`/${name}/${version}${path}`, bytes);
    }
  }
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ url }) => {
      const answer = answers.get(new URL(url).pathname);
      return new Response(answer ?? null, { status: answer ? 200 : 404 });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** The modules of `tools/npm/`. A package names npm itself: it has no import map. */
async function readStandIns(): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const packages = Object.entries(standIns.scopes["./"]);
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  for await (const { name } of Deno.readDir(`${ROOT}/tools/npm`)) {
    if (!name.endsWith(".ts")) continue;
    let text = await Deno.readTextFile(`${ROOT}/tools/npm/${name}`);
    for (const [from, to] of packages) {
      text = text.replaceAll(`from "${from}`, `from "${to}`);
    }
    files.set(`/${name}`, new TextEncoder().encode(text));
  }
  return files;
}

if (import.meta.main) {
  const [folder = "", command = "", ...args] = Deno.args;
  const cache = await Deno.makeTempDir();
  try {
    await using registry = await startJsrRegistry();
    const env = {
      DENO_DIR: cache,
      JSR_URL: registry.url,
      STANDARD_LIBRARY: "", // The launcher has to find out.
    };
    await writeLock(folder, { env });
    const child = new Deno.Command(command, { args, cwd: folder, env }).spawn();
    Deno.exitCode = (await child.status).code;
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
}
