import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { sourceAt } from "../../../lib/bridge/json_source.ts";

/** Keys that occur twice, and keys that are escaped, which no generated object has. */
const EXAMPLES: readonly (readonly [
  json: string,
  path: string,
  source: string | undefined,
])[] = [
  [' { "id" : -1.50e+3 } ', "id", "-1.50e+3"],
  ['{"id":1,"id":2}', "id", "2"],
  ['{"id":1,"id":"2"}', "id", undefined],
  ['{"id":1,"id":{}}', "id", undefined],
  ['{"\\u0069d":1}', "id", "1"],
  ['{"params":{"requestId":1},"params":{}}', "params.requestId", undefined],
  [
    '{"params":{},"params":{"a":[],"requestId":1},"requestId":2}',
    "params.requestId",
    "1",
  ],
];
Deno.test("sourceAt() finds a number or literal at a path, the last one of the same key", () => {
  for (const [json, path, source] of EXAMPLES) {
    assertEquals(sourceAt(json, path.split(".")), source, json);
  }
});

Deno.test("sourceAt() finds in any object what JSON.parse() finds", () => {
  const key = fc.constantFrom("id", "a", "", 'i"d', "\\", "params");
  const leaf = fc.oneof(
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.string(),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
    ),
  }));
  const object = fc.dictionary(key, tree, { maxKeys: 5 });
  fc.assert(
    fc.property(
      object,
      fc.array(key, { minLength: 1, maxLength: 3 }),
      fc.nat(2),
      (object, path, indent) => {
        let value: unknown = object;
        for (const key of path) {
          value = typeof value === "object" && value !== null &&
              !Array.isArray(value)
            ? (value as Record<string, unknown>)[key]
            : undefined;
        }
        const isFound = value !== undefined && typeof value !== "string" &&
          (typeof value !== "object" || value === null);

        assertEquals(
          sourceAt(JSON.stringify(object, undefined, indent), path),
          isFound ? JSON.stringify(value) : undefined,
        );
      },
    ),
    { numRuns: 2000 },
  );
});

Deno.test("sourceAt() takes strings of millions of quotes and backslashes", () => {
  for (const hostile of ['"', "\\", '\\"', "{", "\u2028"]) {
    const json = JSON.stringify({ a: hostile.repeat(3_000_000), id: 1 });
    assertEquals(sourceAt(json, ["id"]), "1");
  }
});
