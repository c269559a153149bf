import { assert, assertEquals } from "@std/assert";

const LIB = `${import.meta.dirname}/../lib`;

/** Each file of `lib/` with what it imports from there, type imports included. */
const imports = new Map<string, string[]>();
const lines = new Map<string, number>();
for (const { name } of Deno.readDirSync(LIB)) {
  const source = Deno.readTextFileSync(`${LIB}/${name}`);
  const found = source.matchAll(/\b(?:from|import\()\s*"\.\/([^"]+)"/g);
  imports.set(name, Array.from(found, ([, file = ""]) => file));
  lines.set(name, source.split("\n").length - 1);
}

/** Everything that a file imports, and what that imports in turn. */
function reach(file: string, seen = new Set<string>()): Set<string> {
  for (const next of imports.get(file) ?? []) {
    if (seen.has(next)) continue;
    seen.add(next);
    reach(next, seen);
  }
  return seen;
}

Deno.test("lib/ has no import cycle", () => {
  assert(reach("bridge.ts").has("gateway.ts"));
  for (const file of imports.keys()) {
    assert(!reach(file).has(file), `${file} imports itself in the end`);
  }
});

Deno.test("no file of lib/ is longer than 300 lines", () => {
  assertEquals([...lines].filter(([, count]) => count > 300), []);
});

const NEVER: readonly (readonly [room: string, others: readonly string[]])[] = [
  ["settings.ts", ["gateway.ts", "terminal.ts", "service_client.ts"]],
  ["gateway.ts", ["bridge.ts", "interactive.ts", "json_rpc.ts", "terminal.ts"]],
  ["run_events.ts", ["service_client.ts", "gateway.ts"]],
  ["interactive.ts", ["json_rpc.ts", "acp.ts", "bridge.ts"]],
  ["readline_terminal.ts", ["gateway.ts", "service_client.ts"]],
  ["bridge.ts", ["line_writer.ts", "interactive.ts", "terminal.ts"]],
  ["json_rpc.ts", ["bridge.ts", "acp.ts", "gateway.ts"]],
];

for (const [room, others] of NEVER) {
  Deno.test(`lib/${room} does not know ${others.join(", ")}`, () => {
    assert(imports.has(room));
    const known = reach(room);
    assertEquals(others.filter((other) => known.has(other)), []);
  });
}
