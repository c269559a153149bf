import { assert, assertEquals, assertMatch } from "@std/assert";
import { VERSION } from "../../lib/version.ts";
import { writeLock } from "../../tools/lock.ts";
import { JsrRegistry, standInPackages } from "../support/jsr_registry.ts";
import { SourceCopy } from "../support/source_copy.ts";

const packages = await standInPackages();

/** A test with an {@linkcode NpmCache}; skipped on Wine, which cannot make one. */
function test(name: string, fn: () => Promise<void>): void {
  const ignore = Deno.env.has("ON_WINE");
  Deno.test(
    ignore ? `${name} (skipped: Wine makes no junctions)` : name,
    { ignore },
    fn,
  );
}

/** A Deno cache with only the npm packages. */
class NpmCache implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async make(): Promise<NpmCache> {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--no-config"],
    }).output();
    const { npmCache } = JSON.parse(new TextDecoder().decode(stdout));
    const folder = await Deno.makeTempDir();
    await Deno.symlink(npmCache, `${folder}/npm`, { type: "junction" });
    return new NpmCache(folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(`${this.folder}/npm`);
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** The environment without the launcher's choice of the standard library. */
function environment(registry: JsrRegistry, cache: NpmCache) {
  return {
    JSR_URL: registry.url,
    DENO_DIR: cache.folder,
    STANDARD_LIBRARY: "",
  };
}

test("where JSR answers, the program and the bundle have its standard library, and nothing is said", async () => {
  await using registry = await JsrRegistry.start(packages);
  await using cache = await NpmCache.make();
  await using sources = await SourceCopy.make();
  const env = environment(registry, cache);
  await writeLock(sources.folder, env);

  const start = await sources.deno(["task", "-q", "start", "--version"], env);
  const made = await sources.deno(["task", "-q", "bundle"], env);

  assertEquals([start.code, start.stderr], [0, ""]);
  assert(start.stdout.startsWith(`agent-gateway ${VERSION} `));
  assertEquals([made.code, made.stderr], [0, ""]);
  for (const { name, version, exports } of packages) {
    for (const file of Object.values(exports)) {
      const path = `/${name}/${version}/${file.slice("./".length)}`;
      assert(registry.requests.includes(path), path);
    }
  }
});

test("a JSR whose packages differ from deno.lock is refused, without the launcher too", async () => {
  await using registry = await JsrRegistry.start(packages);
  await using cache = await NpmCache.make();
  await using sources = await SourceCopy.make();
  await writeLock(sources.folder, environment(registry, cache));
  await using forged = await JsrRegistry.start(
    packages.map((one) => ({
      ...one,
      files: { ...one.files, "/more.ts": "" },
    })),
  );
  await using emptyCache = await NpmCache.make();

  const { code, stderr } = await sources.deno(
    ["run", "-q", "-P=client", "main.ts", "--version"],
    environment(forged, emptyCache),
  );

  assertEquals(code, 10);
  assertMatch(stderr, /Integrity check failed for package/);
});
