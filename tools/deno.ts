/**
 * Runs Deno with the standard library from JSR or, where JSR cannot be reached,
 * with the npm packages that stand in for it. The environment variable
 * `STANDARD_LIBRARY` (`jsr` or `npm`) passes the choice on to the processes that
 * it starts.
 *
 *     deno run -P=launcher tools/deno.ts SUBCOMMAND [ARGUMENT...]
 *
 * The exit code is that of Deno; 1 if the standard library cannot be loaded, 2
 * without a subcommand.
 *
 * @module
 */
import { findLibrary, LibraryError } from "./library.ts";
import { runDeno } from "./run_deno.ts";
import { LIBRARY_VARIABLE, libraryFlags } from "./stand_ins.ts";

const [subcommand, ...args] = Deno.args;
if (subcommand === undefined) {
  console.error("No Deno subcommand given: tools/deno.ts SUBCOMMAND [ARG...]");
  Deno.exit(2);
}
try {
  const library = await findLibrary();
  const flags = libraryFlags[library];
  Deno.exit(
    await runDeno([subcommand, ...flags, ...args], {
      [LIBRARY_VARIABLE]: library,
    }),
  );
} catch (error) {
  if (!(error instanceof LibraryError)) throw error;
  console.error(error.message);
  Deno.exit(1);
}
