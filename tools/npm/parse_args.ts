// The code of @std/cli 1.0.32, which deno.lock pins.
// @ts-types="./parse_args.d.ts"
export { parseArgs } from "deno-std/cli/parse_args.js";
