import { assert, assertEquals, assertMatch } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { VERSION } from "../../lib/version.ts";
import { parse } from "../../tools/npm/dotenv_parse.ts";
import standIns from "../../tools/npm/import_map.json" with { type: "json" };
import { unicodeWidth } from "../../tools/npm/unicode_width.ts";
import { writeLock } from "../../tools/pins.ts";
import { runCommand } from "../../tools/run_command.ts";
import { JsrRegistry, standInPackages } from "../support/jsr_registry.ts";
import { SourceCopy } from "../support/source_copy.ts";

const ROOT = `${import.meta.dirname}/../..`;
const RECORDS = `${import.meta.dirname}/records`;

Deno.test("the import maps name the same packages", () => {
  const packages = new Set(
    Object.keys(standIns.imports).map((s) => s.split("/", 2).join("/")),
  );
  assertEquals([...packages].sort(), Object.keys(config.imports).sort());
});

Deno.test("the import maps give tests and tools the same npm packages", () => {
  const scopes = (map: { scopes: object }, base: string) =>
    Object.fromEntries(
      Object.entries(map.scopes).map(([scope, imports]) => [
        new URL(scope, base).pathname,
        imports,
      ]),
    );
  assertEquals(
    scopes(standIns, "file:///tools/npm/import_map.json"),
    scopes(config, "file:///deno.json"),
  );
});

Deno.test("tools/standard_library.ts imports every specifier of the maps", async () => {
  const source = await Deno.readTextFile(`${ROOT}/tools/standard_library.ts`);
  assertEquals(
    [...source.matchAll(/^import "(.*)";$/gm)].map((match) => match[1]).sort(),
    Object.keys(standIns.imports).sort(),
  );
});

Deno.test("the lock files hold the same npm packages", async () => {
  const [jsr, npm] = await Promise.all(
    [`${ROOT}/deno.lock`, `${ROOT}/tools/npm/deno.lock`].map(async (path) =>
      JSON.parse(await Deno.readTextFile(path))
    ),
  );
  assertEquals(npm.npm, jsr.npm);
});

Deno.test("the stand-ins name the releases that deno.lock pins", async () => {
  const { jsr } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`));
  for (const [specifier, path] of Object.entries(standIns.imports)) {
    if (specifier === "@std/testing/bdd") continue; // It is node:test.
    const text = await Deno.readTextFile(`${ROOT}/tools/npm/${path}`);
    const [, name, version] = text.match(/(@std\/\w+)`? (\d+\.\d+\.\d+)/) ?? [];
    assertEquals(name, specifier.split("/", 2).join("/"));
    assert(`${name}@${version}` in jsr, `${path} is of ${version}`);
  }
});

// What @std/dotenv 0.225.6 has read: 900 texts, each with the values in order.
// None has a "$", which the program passes to no parser.
Deno.test("parse() of the .env stand-in reads what @std/dotenv has read", async () => {
  const records: [string, [string, string][]][] = JSON.parse(
    await Deno.readTextFile(`${RECORDS}/dotenv_parse.json`),
  );
  assert(records.length >= 500);
  for (const [text, values] of records) {
    assertEquals(Object.entries(parse(text)), values, JSON.stringify(text));
  }
});

// What @std/cli 1.0.32 (Unicode 15) has measured of all characters: the first
// character of each run that takes the same number of columns, with that number.
// "changed" has the characters, from and to, that are new or became wide by
// Unicode 17, which the stand-in knows.
Deno.test("unicodeWidth() of the stand-in measures what @std/cli has measured", async () => {
  const { runs, changed }: Record<"runs" | "changed", [number, number][]> = JSON
    .parse(await Deno.readTextFile(`${RECORDS}/unicode_width.json`));
  const differ: [number, number][] = [];
  for (const [index, [start, width]] of runs.entries()) {
    const end = runs[index + 1]?.[0] ?? 0x110000;
    for (let code = start; code < end; code++) {
      if (unicodeWidth(String.fromCodePoint(code)) === width) continue;
      const last = differ.at(-1);
      if (last?.[1] === code - 1) last[1] = code;
      else differ.push([code, code]);
    }
  }
  assertEquals(differ, changed);
});

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
    const info = [Deno.execPath(), "info", "--json", "--no-config"];
    const { npmCache } = JSON.parse(await runCommand(info));
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
