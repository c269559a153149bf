import { assert, assertEquals } from "@std/assert";
import { globSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { PROMISES } from "../../tools/promises.ts";
import { keyRows } from "../support/scripts.ts";
import { MUTANTS } from "../simulation/mutants.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** Which folders of `lib/` each folder may import. */
const MAY_IMPORT = new Map(
  `
main: process command_line settings gateway interactive bridge check io text version exit_codes
process: io text exit_codes
command_line: text version exit_codes
settings: io text
gateway: settings io text version
interactive: gateway editor markdown io text version exit_codes
bridge: gateway io text version
check: settings gateway io text version
editor: io text
markdown: text
io: text
text:
version:
exit_codes:
`.trim().split("\n").map((line) => {
    const [folder = "", imported = ""] = line.split(":");
    return [folder, imported.trim().split(" ")];
  }),
);

const FOLDERS = MAY_IMPORT.keys().toArray().filter((name) => name !== "main");

/** The texts of the program's source files. */
const SOURCES = new Map(
  ["main.ts", ...globSync("lib/**/*.ts", { cwd: ROOT }).sort()].map((file) => [
    file.replaceAll("\\", "/"), // on Windows
    Deno.readTextFileSync(`${ROOT}/${file}`),
  ]),
);

/** Each of them with the files it imports, type imports included. */
const imports = new Map(
  Array.from(SOURCES, ([file, source]) => {
    const found = source.matchAll(
      /(?:\bfrom|\bimport\(|\bimport)\s*"(\.[^"]+)"/g,
    );
    const paths = Array.from(found, ([, to = ""]) => join(dirname(file), to));
    return [file, paths];
  }),
);

/** The folder that a file belongs to: `gateway` for `lib/gateway.ts`, its entry, too. */
function folderOf(file: string): string {
  if (file === "main.ts") return "main";
  return file.split("/")[1]?.replace(/\.ts$/, "") ?? "";
}

/** All pairs of files in different folders where one imports the other. */
const arrows = Array.from(imports).flatMap(([from, files]) =>
  files.filter((to) => folderOf(to) !== folderOf(from))
    .map((to) => ({ from, to }))
).filter(({ to }) => to.startsWith("lib/"));

Deno.test("the top of lib/ holds the entries of the folders alone", () => {
  const top = Array.from(imports.keys()).filter((file) =>
    /^lib\/[^/]+$/.test(file)
  );
  assertEquals(top.sort(), FOLDERS.map((name) => `lib/${name}.ts`).sort());
});

Deno.test("folders import only what the plan allows", () => {
  assert(arrows.length > 20);
  const forbidden = arrows.filter(({ from, to }) =>
    !MAY_IMPORT.get(folderOf(from))?.includes(folderOf(to))
  );
  assertEquals(forbidden, []);
});

Deno.test("a folder is imported through its entry alone", () => {
  assertEquals(arrows.filter(({ to }) => to !== `lib/${folderOf(to)}.ts`), []);
});

/** What the files of some folders alone do: what it is, how it looks, and the files. */
const DONE_ONCE = keyRows(String.raw`
exit         \bDeno\.exit\(                    lib/process.ts
make timers  \bset(Timeout|Interval|Immediate)\(|AbortSignal\.timeout\(|timers"  lib/io/timeout.ts
make texts that may be shown  \bas (unknown as )?(Redacted|Unchanged|ServiceId|Shown)\b  lib/text/
call a function for each match of a text, which has at most 64 KiB  \.replace(All)?\([^;]*?(\) =>|, [A-Z]+\.\w+\))  lib/gateway/stream/not_understood.ts lib/markdown.ts lib/settings/proxy.ts lib/text/json.ts
look for halves of characters, or for NUL, in foreign text  [tT]oWellFormed|isWellFormed|"\\0"|\\x00"|\\u0000"|JSON\.parse\(|0xd[89ab]00  lib/text/foreign_text.ts lib/text/json.ts
`);

for (const [what, pattern = "", places = ""] of DONE_ONCE) {
  Deno.test(`only ${places} ${what}`, () => {
    const found = filesWith(RegExp(pattern));
    const files = places.split(" ");
    const isIn = (file: string) => files.some((one) => file.startsWith(one));
    assertEquals(found.filter((file) => !isIn(file)), []);
    const isUnused = (one: string) => !found.some((it) => it.startsWith(one));
    assertEquals(files.filter(isUnused), []);
  });
}

function filesWith(pattern: RegExp): string[] {
  return Array.from(SOURCES).filter(([, source]) => pattern.test(source))
    .map(([file]) => file);
}

Deno.test("one table of the gateway reads the texts of Deno's errors", () => {
  const readers = filesWith(
    /(?<!this)\.message\b|\berror\.cause\b|String\(error\)/,
  ).filter((file) => file.startsWith("lib/gateway"));
  assertEquals(readers, ["lib/gateway/connection/known_failures.ts"]);
});

/** The folders of `lib/gateway/`, from the top to the bottom. */
const FLOORS = ["stream", "http", "connection", "failure"];

Deno.test("imports within the gateway run one way: stream, http, connection, failure", () => {
  const floorOf = (file: string) =>
    FLOORS.indexOf(/^lib\/gateway\/(\w+)\//.exec(file)?.[1] ?? "");
  const inner = Array.from(imports).flatMap(([from, files]) =>
    files.filter((to) => floorOf(from) >= 0 && floorOf(to) >= 0)
      .map((to) => ({ from, to }))
  );
  assert(inner.length > 20);
  assertEquals(inner.filter(({ from, to }) => floorOf(from) > floorOf(to)), []);
});

Deno.test("no two modules have the same name", () => {
  const names = Array.from(imports.keys(), (file) => file.split("/").at(-1));
  assertEquals(names.toSorted(), Array.from(new Set(names)).toSorted());
});

Deno.test("lib/ has no import cycle", () => {
  // What is left when files that import no other that is left are taken away.
  let left = Array.from(imports.keys());
  for (let before = -1; before !== left.length;) {
    before = left.length;
    left = left.filter((file) =>
      imports.get(file)?.some((to) => left.includes(to))
    );
  }
  assertEquals(left, []);
});

Deno.test("each promise of SECURITY.md has a number of its own, and tests that are there", async () => {
  const promises = Object.values(PROMISES).flat();
  assert(promises.length > 40);
  assertEquals(
    promises.length,
    new Set(promises.map(({ number }) => number)).size,
  );
  for (const { number, tests } of promises) {
    assert(tests.length > 0, `promise ${number} has no test`);
    for (const { file, name } of tests) {
      const source = (await Deno.readTextFile(`${ROOT}/${file}`))
        .replaceAll(/\$\{[^}]*\}|\{[\w ]+\}/g, "...");
      // The name of a scene is a line of a text.
      const isThere = ['"', "`", "'", "\n"].some((quote) =>
        source.includes(quote + name + quote)
      );
      assert(isThere, `promise ${number}: ${file} has no test "${name}"`);
    }
  }
});

Deno.test("each mutant of the simulation changes one place of the program", () => {
  const stale = MUTANTS.filter(({ file, from }) =>
    SOURCES.get(file)?.split(from).length !== 2
  );
  assertEquals(stale.map(({ what }) => what), []);
});
