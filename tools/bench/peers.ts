import versions from "./peers/versions.json" with { type: "json" };

const SCRIPTS = `${import.meta.dirname}/peers`;

/** The versions of the peers and of their dependencies. */
export const PEER_VERSIONS: Readonly<Record<string, string>> = versions;

/** The version of the Node.js that the peers run on. */
export async function nodeVersion(): Promise<string> {
  const { stdout } = await run("node", ["--version"]);
  return stdout.trim();
}

/**
 * Copies the peers to a folder in which Node.js finds their packages: a folder of
 * the system's cache, one for each list of versions. Needs npm and its registry
 * the first time.
 *
 * @returns The folder with the scripts.
 * @throws If there is no Node.js, no npm, or no registry.
 */
export async function installPeers(): Promise<string> {
  await nodeVersion();
  const list = Object.entries(PEER_VERSIONS).map((pair) => pair.join("@"));
  const folder = `${cacheFolder()}/agent-gateway-bench/${await digest(list)}`;
  const mark = `${folder}/installed`;
  await Deno.mkdir(folder, { recursive: true });
  if (!await exists(mark)) {
    await run("npm", [
      ...["install", "--prefix", folder, "--no-save", "--ignore-scripts"],
      ...["--no-audit", "--no-fund", "--loglevel=error", ...list],
    ]);
    await Deno.writeTextFile(mark, "");
  }
  for await (const { name } of Deno.readDir(SCRIPTS)) {
    if (name.endsWith(".mjs")) {
      await Deno.copyFile(`${SCRIPTS}/${name}`, `${folder}/${name}`);
    }
  }
  return folder;
}

async function run(
  program: string,
  args: readonly string[],
): Promise<{ stdout: string }> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    stdin: "null",
  }).output();
  if (!success) {
    const reason = new TextDecoder().decode(stderr).trim();
    throw new Error(`${program} ${args[0]} failed: ${reason}`);
  }
  return { stdout: new TextDecoder().decode(stdout) };
}

function cacheFolder(): string {
  const home = Deno.env.get("HOME");
  return Deno.env.get("XDG_CACHE_HOME") ?? Deno.env.get("LOCALAPPDATA") ??
    `${home}/${Deno.build.os === "darwin" ? "Library/Caches" : ".cache"}`;
}

async function digest(list: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(list.join(" "));
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(hash).toHex().slice(0, 16);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
