import { assert, assertEquals } from "@std/assert";
import { dirname, join } from "node:path/posix";

const ROOT = `${import.meta.dirname}/../..`;

/** Which folders of `lib/` each folder may import. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  main: [
    ...["process", "command_line", "settings", "gateway", "interactive"],
    ...["bridge", "check", "io", "text", "version", "exit_codes"],
  ],
  process: ["io", "text", "exit_codes"],
  command_line: ["text", "version", "exit_codes"],
  settings: ["io", "text"],
  gateway: ["settings", "io", "text", "version"],
  interactive: [
    ...["gateway", "editor", "markdown", "io", "text", "version", "exit_codes"],
  ],
  bridge: ["gateway", "io", "text", "version"],
  check: ["settings", "gateway", "io", "text", "version"],
  editor: ["io", "text"],
  markdown: ["text"],
  io: ["text"],
  text: [],
  version: [],
  exit_codes: [],
};

const FOLDERS = Object.keys(MAY_IMPORT).filter((name) => name !== "main");

/** Each source file of the program with the files it imports, type imports included. */
const imports = new Map<string, readonly string[]>();
for (const file of ["main.ts", ...sourcesIn("lib")]) {
  const source = Deno.readTextFileSync(`${ROOT}/${file}`);
  const found = source.matchAll(
    /(?:\bfrom|\bimport\(|\bimport)\s*"(\.[^"]+)"/g,
  );
  imports.set(
    file,
    Array.from(found, ([, path = ""]) => join(dirname(file), path)),
  );
}

function sourcesIn(folder: string): string[] {
  return Array.from(Deno.readDirSync(`${ROOT}/${folder}`)).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) return sourcesIn(path);
    return path.endsWith(".ts") ? [path] : [];
  });
}

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
  assert(top.length <= 13);
});

Deno.test("folders import only what the plan allows", () => {
  assert(arrows.length > 20);
  const forbidden = arrows.filter(({ from, to }) =>
    !MAY_IMPORT[folderOf(from)]?.includes(folderOf(to))
  );
  assertEquals(forbidden, []);
});

Deno.test("a folder is imported through its entry alone", () => {
  assertEquals(arrows.filter(({ to }) => to !== `lib/${folderOf(to)}.ts`), []);
});

Deno.test("only lib/process.ts exits", () => {
  const ending = Array.from(imports.keys()).filter((file) => {
    const source = Deno.readTextFileSync(`${ROOT}/${file}`);
    return /\bDeno\.exit\(/.test(source);
  });
  assertEquals(ending, ["lib/process.ts"]);
});

Deno.test("only lib/io/timeout.ts makes timers", () => {
  const makers = Array.from(imports.keys()).filter((file) => {
    const source = Deno.readTextFileSync(`${ROOT}/${file}`);
    return /\bset(Timeout|Interval|Immediate)\(|AbortSignal\.timeout\(|timers"/
      .test(source);
  });
  assertEquals(makers, ["lib/io/timeout.ts"]);
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

Deno.test("one table of the gateway reads the texts of Deno's errors", () => {
  const readers = Array.from(imports.keys()).filter((file) => {
    const source = Deno.readTextFileSync(`${ROOT}/${file}`);
    return file.startsWith("lib/gateway") &&
      /(?<!this)\.message\b|\berror\.cause\b|String\(error\)/.test(source);
  });
  assertEquals(readers, ["lib/gateway/connection/known_failures.ts"]);
});

Deno.test("only lib/text/ makes texts that may be shown, and no text passes its types by", () => {
  const makers = Array.from(imports.keys()).filter((file) => {
    const source = Deno.readTextFileSync(`${ROOT}/${file}`);
    return /\bas (unknown as )?(Redacted|Unchanged|ServiceId|Shown)\b/
      .test(source);
  });
  assertEquals(makers.filter((file) => !file.startsWith("lib/text/")), []);
});

Deno.test("a function is called for each match of short texts alone: parts of lines, lines of 4 KiB", () => {
  const callers = Array.from(imports.keys()).filter((file) => {
    const source = Deno.readTextFileSync(`${ROOT}/${file}`);
    return /\.replace(All)?\([^;]*?(\) =>|, [A-Z]+\.\w+\))/.test(source);
  });
  assertEquals(callers.sort(), [
    "lib/gateway/stream/not_understood.ts", // at most 64 KiB
    "lib/markdown.ts", // lines of at most 4 KiB
    "lib/settings/proxy.ts",
    "lib/text/json.ts", // parts of 64 KiB
  ]);
});

Deno.test("no two modules have the same name", () => {
  const names = Array.from(imports.keys(), (file) => file.split("/").at(-1));
  assertEquals(names.toSorted(), Array.from(new Set(names)).toSorted());
});

Deno.test("lib/ has no import cycle", () => {
  const reach = (file: string, seen: Set<string>): Set<string> => {
    for (const next of imports.get(file) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      reach(next, seen);
    }
    return seen;
  };
  for (const file of imports.keys()) {
    assert(!reach(file, new Set()).has(file), `${file} imports itself`);
  }
});

Deno.test("foreign text passes one gate: no other module looks for halves of characters, or for NUL", () => {
  const gate = "lib/text/foreign_text.ts";
  const looks =
    /[tT]oWellFormed|isWellFormed|"\\0"|\\x00"|\\u0000"|JSON\.parse\(|0xd[89ab]00/;
  const found = Array.from(imports.keys()).filter((file) =>
    file !== gate && file !== "lib/text/json.ts" &&
    looks.test(Deno.readTextFileSync(`${ROOT}/${file}`))
  );
  assertEquals(found, []);
});
