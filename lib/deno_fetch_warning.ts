/**
 * Warns of the versions of Deno whose `fetch` can send a `POST` twice even on a
 * connection of its own (denoland/deno#35610, #36415): 2.7.6 to 2.9.5.
 *
 * @returns No line, or one.
 */
export function fetchWarning(denoVersion: string): readonly string[] {
  const [major = 0, minor = 0, patch = 0] = denoVersion.split(".", 3)
    .map((part) => Number.parseInt(part));
  const ordinal = (major * 1000 + minor) * 1000 + patch;
  if (ordinal < 2_007_006 || ordinal > 2_009_005) return [];
  return [
    `Deno ${denoVersion} can send a prompt twice when a connection breaks; use 2.9.6 or later`,
  ];
}
