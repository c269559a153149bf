const tools = import.meta.dirname;
const config = `--config=${tools}/../deno.json`;

/** Where the standard library can come from: JSR, or its stand-ins on npm. */
export type Library = "jsr" | "npm";

/**
 * The environment variable with which `tools/deno.ts` tells every process that
 * it starts where the standard library comes from.
 */
export const LIBRARY_VARIABLE = "STANDARD_LIBRARY";

/**
 * The flags with which Deno takes the standard library from there. `deno.json`
 * names the lock of what comes from JSR; the stand-ins in `tools/npm/` have
 * their own.
 */
export const libraryFlags: Readonly<Record<Library, readonly string[]>> = {
  jsr: [config],
  npm: [
    config,
    "--frozen",
    `--lock=${tools}/npm/deno.lock`,
    `--import-map=${tools}/npm/import_map.json`,
  ],
};

/**
 * What the launcher has chosen for this process; `undefined` if it was started
 * without the launcher.
 */
export function chosenLibrary(): Library | undefined {
  const value = Deno.env.get(LIBRARY_VARIABLE);
  return value === "jsr" || value === "npm" ? value : undefined;
}

/**
 * The flags with which another Deno resolves imports as this one does. Without
 * the launcher, that is Deno's own default: JSR.
 */
export const sameFlags: readonly string[] =
  libraryFlags[chosenLibrary() ?? "jsr"];
