/**
 * The library of the property tests. Its report of a failure names the seed:
 * `GENERATED_SEED=N deno task test FILE` repeats it.
 *
 * @module
 */
import fc from "fast-check";

const seed = Deno.env.get("GENERATED_SEED");
if (seed !== undefined) {
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
}

/** Any code point, as a string. (`unit: "binary"` takes a second for a table of all.) */
export const anyCodePoint: fc.Arbitrary<string> = fc.nat(0x10f7ff)
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

export default fc;
