import { assert, assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import standIns from "../../tools/npm/import_map.json" with { type: "json" };
import { parse } from "../../tools/npm/dotenv_parse.ts";
import { unicodeWidth } from "../../tools/npm/unicode_width.ts";

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
