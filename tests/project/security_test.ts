import { assert, assertEquals } from "@std/assert";

const ROOT = `${import.meta.dirname}/../..`;
const SECURITY = Deno.readTextFileSync(`${ROOT}/SECURITY.md`)
  .replaceAll(/\s+/g, " ");

/** The names of the tests in a file, with `...` for what is filled in. */
function testNames(file: string): readonly string[] {
  const source = Deno.readTextFileSync(`${ROOT}/${file}`);
  const names = source.matchAll(
    /(?:[tT]est\(|\bname:)\s*("(?:[^"\\]|\\.)*"|`[^`]*`)/g,
  );
  return Array.from(
    names,
    ([, name = ""]) => name.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, "..."),
  );
}

Deno.test("SECURITY.md names tests that there are, at each promise", () => {
  const promises = SECURITY.split("## Promises")[1]?.split(/ - /).slice(1) ??
    [];
  assert(promises.length > 15);
  for (const promise of promises) {
    const named = Array.from(
      promise.matchAll(/`(tests\/[\w/]+_test\.ts)`: `([^`]+)`/g),
    );
    const files = promise.matchAll(/`(tests\/[\w/]+\.ts)`/g);
    assert(files.next().value, promise);
    assertEquals(
      named.length,
      promise.match(/`tests\/[\w/]+_test\.ts`/g)?.length ?? 0,
      promise,
    );
    for (const [, file = "", name = ""] of named) {
      assert(testNames(file).includes(name), `${file} has no test "${name}"`);
    }
  }
});
