/**
 * Lets Deno rewrite the JSR part of `deno.lock` in a folder with the newest
 * releases that `deno.json` allows. npm packages stay pinned.
 *
 * @param env Added to the environment of this process.
 * @throws {Error} If Deno fails. The message is Deno's.
 */
export async function writeLock(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const path = `${folder}/deno.lock`;
  const { version, specifiers, npm, workspace } = JSON.parse(
    await Deno.readTextFile(path),
  );
  const ofNpm = Object.entries<string>(specifiers)
    .filter(([specifier]) => specifier.startsWith("npm:"));
  const rest = {
    version,
    specifiers: Object.fromEntries(ofNpm),
    npm,
    workspace,
  };
  await Deno.writeTextFile(path, JSON.stringify(rest));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["install", "--quiet", "--frozen=false"],
      ...["--entrypoint", "tools/standard_library.ts"],
    ],
    cwd: folder,
    env: { ...env },
    stdin: "null",
    stdout: "null",
  }).output();
  if (!success) {
    throw new Error(`Cannot lock: ${new TextDecoder().decode(stderr)}`);
  }
}
