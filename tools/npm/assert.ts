// The code of @std/assert 1.0.19, which deno.lock pins. npm has no types of it.
// @ts-types="./assert_types.d.ts"
export * from "deno-std/assert/mod.js";
