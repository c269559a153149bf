import { assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import standIns from "../../tools/npm/import_map.json" with { type: "json" };
import { parse } from "../../tools/npm/dotenv_parse.ts";

const ROOT = `${import.meta.dirname}/../..`;

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

Deno.test("parse() of the .env stand-in reads what @std/dotenv reads", () => {
  assertEquals(
    parse(
      "# comment\n" +
        "BARE= a b # comment\r\n" +
        "  export EXPORTED=yes\n" +
        "EMPTY=\n" +
        "SINGLE='a#b $HOME \\n'\n" +
        'DOUBLE="a\\tb" # comment\n' +
        'LINES="\none\ntwo\n"\n' +
        "SELF=$SELF:/x\n" +
        "not an assignment\n" +
        "1BAD=x",
    ),
    {
      BARE: "a b",
      EXPORTED: "yes",
      EMPTY: "",
      SINGLE: "a#b $HOME \\n",
      DOUBLE: "a\tb",
      LINES: "one\ntwo",
      SELF: "$SELF:/x",
    },
  );
});
