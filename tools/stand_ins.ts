const tools = import.meta.dirname;
const config = `--config=${tools}/../deno.json`;

/** The sources of the standard library: JSR, or its stand-ins on npm. */
export type Library = "jsr" | "npm";

/**
 * The environment variable in which `tools/deno.ts` passes the source of the
 * standard library to the processes that it starts.
 */
export const LIBRARY_VARIABLE = "STANDARD_LIBRARY";

/**
 * The flags with which Deno loads the standard library from a source. `deno.json`
 * names the lock file for JSR; the stand-ins in `tools/npm/` have their own.
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
 * The launcher's choice for this process; `undefined` if the launcher did not start it.
 */
export function chosenLibrary(): Library | undefined {
  const value = Deno.env.get(LIBRARY_VARIABLE);
  return value === "jsr" || value === "npm" ? value : undefined;
}

/**
 * The flags with which another Deno resolves imports like this one. Without the
 * launcher, Deno's default applies: JSR.
 */
export const sameFlags: readonly string[] =
  libraryFlags[chosenLibrary() ?? "jsr"];
