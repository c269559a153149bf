import { assert, assertEquals } from "@std/assert";
import { dirname, join } from "node:path/posix";

const ROOT = `${import.meta.dirname}/../..`;

/** The rooms of the program: a door in `lib/` and a folder of the same name. */
const ROOMS = [
  "command_line",
  "settings",
  "gateway",
  "interactive",
  "bridge",
] as const;

/** Which rooms each room may import. What is shared may import no room. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  main: [
    "command_line",
    "settings",
    "gateway",
    "interactive",
    "bridge",
    "shared",
  ],
  command_line: ["settings", "gateway", "shared"],
  interactive: ["gateway", "shared"],
  bridge: ["gateway", "shared"],
  gateway: ["shared"],
  settings: ["shared"],
  shared: [],
};

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

/** The room that a file belongs to. */
function roomOf(file: string): string {
  if (file === "main.ts") return "main";
  return ROOMS.find((room) =>
    file === `lib/${room}.ts` || file.startsWith(`lib/${room}/`)
  ) ?? "shared";
}

/** All pairs of files in different rooms where one imports the other. */
const arrows = Array.from(imports).flatMap(([from, files]) =>
  files.filter((to) => roomOf(to) !== roomOf(from)).map((to) => ({ from, to }))
).filter(({ to }) => to.startsWith("lib/"));

Deno.test("every room has its door", () => {
  for (const room of ROOMS) assert(imports.has(`lib/${room}.ts`), room);
  assert(arrows.length > 20);
});

Deno.test("rooms import only what the plan allows", () => {
  const forbidden = arrows.filter(({ from, to }) => {
    const room = roomOf(from);
    if (room === "shared") return roomOf(to) !== "shared";
    return !MAY_IMPORT[room]?.includes(roomOf(to));
  });
  assertEquals(forbidden, []);
});

Deno.test("a room is imported through its door alone", () => {
  const others = arrows.filter(({ to }) => {
    const room = roomOf(to);
    return room !== "shared" && to !== `lib/${room}.ts`;
  });
  assertEquals(others, []);
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
