const tools = import.meta.dirname;
const config = [`--config=${tools}/../deno.json`, "--frozen"];

/** The flags with which Deno takes the standard library from JSR. */
export const jsrFlags: readonly string[] = [
  ...config,
  `--lock=${tools}/../deno.lock`,
];

/** The flags with which Deno takes the stand-ins of `tools/npm/`. */
export const standInFlags: readonly string[] = [
  ...config,
  `--lock=${tools}/npm/deno.lock`,
  `--import-map=${tools}/npm/import_map.json`,
];

/** The flags with which another Deno resolves imports as this one does. */
export const sameFlags: readonly string[] =
  import.meta.resolve("@std/assert").startsWith("jsr:")
    ? jsrFlags
    : standInFlags;
