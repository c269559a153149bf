import { assert, assertEquals } from "@std/assert";
import { PROMISES } from "../../tools/promises.ts";

const ROOT = `${import.meta.dirname}/../..`;

Deno.test("each promise of SECURITY.md has a number of its own", () => {
  const numbers = Object.values(PROMISES).flat().map(({ number }) => number);
  assert(numbers.length > 40);
  assertEquals(numbers.length, new Set(numbers).size);
});

Deno.test("each promise of SECURITY.md has tests, and they are there", async () => {
  for (const { number, tests } of Object.values(PROMISES).flat()) {
    assert(tests.length > 0, `promise ${number} has no test`);
    for (const { file, name } of tests) {
      const source = (await Deno.readTextFile(`${ROOT}/${file}`))
        .replaceAll(/\$\{[^}]*\}/g, "...");
      const isThere = ['"', "`", "'"].some((quote) =>
        source.includes(quote + name + quote)
      );
      assert(isThere, `promise ${number}: ${file} has no test "${name}"`);
    }
  }
});
