import { chosenLibrary, type Library, libraryFlags } from "./stand_ins.ts";

/** How long JSR may take to answer, in milliseconds. */
const JSR_TIMEOUT = 3_000;

/** How long the standard library may take to arrive, in milliseconds. */
const LOAD_TIMEOUT = 60_000;

/** The standard library cannot be loaded. The message says what to do. */
export class LibraryError extends Error {
  override readonly name = "LibraryError";
}

/**
 * Chooses the source of the standard library: the choice of the launcher that
 * started this process, else JSR if Deno's cache has it or JSR answers, else npm.
 * The first process to choose npm reports it in one line on standard error.
 *
 * @throws {LibraryError} If neither can be reached, and Deno's cache has neither.
 */
export async function findLibrary(): Promise<Library> {
  const chosen = chosenLibrary();
  if (chosen !== undefined) return chosen;
  if (await loads("jsr", "--cached-only")) return "jsr";
  const [jsrAnswers, standInsAreCached] = await Promise.all([
    askJsr(),
    loads("npm", "--cached-only"),
  ]);
  if (jsrAnswers) {
    // All of it, so that the next run needs no network. If that fails, Deno
    // says why when it runs.
    await loads("jsr");
    return "jsr";
  }
  if (!standInsAreCached && !await loads("npm")) {
    throw new LibraryError(
      "Cannot get the standard library: neither JSR nor npm can be reached; " +
        "connect to either of them once, after that no network is needed",
    );
  }
  console.error(
    "Cannot reach jsr.io: using the same standard library from npm instead",
  );
  return "npm";
}

/** Whether Deno can load the whole standard library from there. */
async function loads(
  library: Library,
  ...flags: readonly string[]
): Promise<boolean> {
  const entrypoint = `${import.meta.dirname}/standard_library.ts`;
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["install", "--quiet", ...libraryFlags[library], ...flags],
      ...["--entrypoint", entrypoint],
    ],
    signal: AbortSignal.timeout(LOAD_TIMEOUT),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return success;
}

async function askJsr(): Promise<boolean> {
  const base = Deno.env.get("JSR_URL") ?? "https://jsr.io/";
  try {
    const response = await fetch(new URL("/@std/assert/meta.json", base), {
      signal: AbortSignal.timeout(JSR_TIMEOUT),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
