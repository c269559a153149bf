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

export default fc;
