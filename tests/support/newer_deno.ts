/**
 * Runs before the program under test, on versions of Deno that it warns of: lets it
 * take the version for one without the defect.
 *
 * @module
 */
Object.defineProperty(Deno, "version", {
  value: { ...Deno.version, deno: "2.9.6" },
});
