// @ts-types="./parse_args.d.ts"
export { parseArgs } from "deno-std/cli/parse_args.js";
