// The code of @std/assert 1.0.19, which deno.lock pins.
// @ts-types="./assert.d.ts"
export * from "deno-std/assert/mod.js";
