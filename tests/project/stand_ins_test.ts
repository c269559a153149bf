import { assert, assertEquals, assertMatch } from "@std/assert";
import { parse } from "../../tools/npm/dotenv_parse.ts";
import standIns from "../../tools/npm/import_map.json" with { type: "json" };
import { unicodeWidth } from "../../tools/npm/unicode_width.ts";
import { startJsrRegistry } from "../support/jsr_registry.ts";
import { programOutput } from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** What @std/dotenv 0.225.6 reads from an assignment to A. */
const DOTENV = {
  "A=": "",
  "A=\tb c ": "b c",
  "A=b\\nc": "b\\nc",
  "A=' b\"\\nc '": ' b"\\nc ',
  'A="b\\nc\\\\d\\x"': "b\nc\\\\d\\x",
};

/** The columns that a character takes for @std/cli 1.0.32. */
const WIDTHS = {
  "\x7f": 0,
  "\u00ad": 1, // soft hyphen
  "\u0300": 0, // a mark
  "\u0903": 1, // a mark with a place of its own
  "\u1100": 2, // Hangul, and what joins it
  "\u1160": 0,
  "あ": 2,
  "｡": 1,
  "😀": 2,
  "\u{1f1e6}": 1, // half of a flag
  "\u{e0100}": 0,
};

Deno.test("the stand-ins from npm answer what the packages of JSR have answered", () => {
  for (const [text, value] of Object.entries(DOTENV)) {
    assertEquals(Object.entries(parse(text)), [["A", value]]);
  }
  for (const [character, width] of Object.entries(WIDTHS)) {
    assertEquals(unicodeWidth(character), width, JSON.stringify(character));
  }
});

Deno.test("JSR and npm give the project the same packages", async () => {
  const read = (path: string) => Deno.readTextFile(`${ROOT}/${path}`);
  const [jsr, npm] = await Promise.all(
    ["deno.lock", "tools/npm/deno.lock"].map(read),
  );
  const lock = JSON.parse(jsr ?? "");
  assertEquals(JSON.parse(npm ?? "").npm, lock.npm);

  const loaded = await read("tools/standard_library.ts");
  for (const [specifier, path] of Object.entries(standIns.imports)) {
    assert(loaded.includes(`import "${specifier}";`), specifier);
    if (specifier === "@std/testing/bdd") continue; // It is node:test.
    const text = await read(`tools/npm/${path}`);
    const [, name, version] = text.match(/(@std\/\w+)`? (\d+\.\d+\.\d+)/) ?? [];
    assert(specifier.replace(/^jsr:/, "").startsWith(name ?? "-"), path);
    assert(`${name}@${version}` in lock.jsr, `${path} is of ${version}`);
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
