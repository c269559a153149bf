import { assert, assertEquals, assertMatch } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { VERSION } from "../../lib/version.ts";
import { parse } from "../../tools/npm/dotenv_parse.ts";
import standIns from "../../tools/npm/import_map.json" with { type: "json" };
import { unicodeWidth } from "../../tools/npm/unicode_width.ts";
import { writeLock } from "../../tools/pins.ts";
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

/**
 * Where `@std/cli` 1.0.32 (Unicode 15) and the stand-in (Unicode 17) disagree:
 * characters that are new or became wide since then, from and to.
 */
const WIDTHS_CHANGED = [
  [0x897, 0x897],
  [0x2630, 0x2637],
  [0x268a, 0x268f],
  [0x2ffc, 0x2fff],
  [0x31e4, 0x31e5],
  [0x31ef, 0x31ef],
  [0x4dc0, 0x4dff],
  [0x10d69, 0x10d6d],
  [0x10efc, 0x10efc],
  [0x113bb, 0x113c0],
  [0x113ce, 0x113ce],
  [0x113d0, 0x113d0],
  [0x113d2, 0x113d2],
  [0x113e1, 0x113e2],
  [0x1171e, 0x1171e],
  [0x11f5a, 0x11f5a],
  [0x1611e, 0x16129],
  [0x1612d, 0x1612f],
  [0x16ff2, 0x16ff6],
  [0x187f8, 0x187ff],
  [0x18cff, 0x18cff],
  [0x18d09, 0x18d1e],
  [0x18d80, 0x18df2],
  [0x1d300, 0x1d356],
  [0x1d360, 0x1d376],
  [0x1e5ee, 0x1e5ef],
  [0x1f6d8, 0x1f6d8],
  [0x1fa89, 0x1fa8a],
  [0x1fa8e, 0x1fa8f],
  [0x1fabe, 0x1fabe],
  [0x1fac6, 0x1fac6],
  [0x1fac8, 0x1fac8],
  [0x1facd, 0x1facd],
  [0x1fadc, 0x1fadc],
  [0x1fadf, 0x1fadf],
  [0x1fae9, 0x1faea],
  [0x1faef, 0x1faef],
] as const;

// What @std/cli 1.0.32 has measured of all characters: the first character of
// each run that takes the same number of columns, with that number.
Deno.test("unicodeWidth() of the stand-in measures what @std/cli has measured", async () => {
  const runs: [number, number][] = JSON.parse(
    await Deno.readTextFile(`${RECORDS}/unicode_width.json`),
  );
  const changed: [number, number][] = [];
  for (const [index, [start, width]] of runs.entries()) {
    const end = runs[index + 1]?.[0] ?? 0x110000;
    for (let code = start; code < end; code++) {
      if (unicodeWidth(String.fromCodePoint(code)) === width) continue;
      const last = changed.at(-1);
      if (last?.[1] === code - 1) last[1] = code;
      else changed.push([code, code]);
    }
  }
  assertEquals(changed, WIDTHS_CHANGED.map(([from, to]) => [from, to]));
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
