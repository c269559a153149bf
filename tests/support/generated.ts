/**
 * The library of the property tests. Its values are the same in each run, so that a test
 * that fails after a change fails because of it. `GENERATED_SEED=N deno task test FILE`
 * tries other values, and a workflow does so each night.
 *
 * @module
 */
import fc from "fast-check";

const seed = Number(Deno.env.get("GENERATED_SEED") ?? 1);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

/** Any code point, as a string. (`unit: "binary"` takes a second for a table of all.) */
export const anyCodePoint: fc.Arbitrary<string> = fc.nat(0x10f7ff)
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

export default fc;
