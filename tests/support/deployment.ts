import { assertEquals } from "@std/assert";
import { dirname } from "node:path";
import { bundle, bundleParts } from "../../tools/bundle.ts";
import { compile, CompileError } from "../../tools/compile.ts";
import { programOutput } from "./program_output.ts";

/** The bundle that `deno task bundle` writes. */
export const BUNDLE: string = await bundle();

/** The environment variables that name another compiler than this Deno, if any. */
export const TOOLCHAIN: Readonly<Record<string, string>> = Object.fromEntries(
  ["COMPILE_DENO", "DENORT_BIN"].map((name) => [name, Deno.env.get(name)])
    .filter(([, value]) => value !== undefined),
);

/** Windows has no network without this variable. */
const SYSTEM_ROOT = Deno.env.get("SYSTEMROOT");
const BARE_ENV: Readonly<Record<string, string>> = SYSTEM_ROOT === undefined
  ? {}
  : { SYSTEMROOT: SYSTEM_ROOT };

/** A form in which users get the program. Its resources are those of a test. */
export interface Deployment {
  readonly command: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** The bundle, run from a URL with the command of its second line. */
export async function runFromUrl(
  resources: AsyncDisposableStack,
): Promise<Deployment> {
  const { options, url } = serveBundle(resources);
  const env = { ...BARE_ENV, DENO_DIR: await makeFolder(resources) };
  return { command: [Deno.execPath(), "run", ...options, url], env };
}

/** The bundle, installed from a URL with the options of its second line. */
export async function installFromUrl(
  resources: AsyncDisposableStack,
): Promise<Deployment> {
  const { options, url } = serveBundle(resources);
  const folder = await makeFolder(resources);
  const env = {
    ...BARE_ENV,
    DENO_DIR: `${folder}/cache`,
    DENO_INSTALL_ROOT: folder,
    PATH: dirname(Deno.execPath()), // The command starts Deno by its name.
  };
  const install = [Deno.execPath(), "install", "--global", ...options, url];
  const { code, stderr } = await programOutput(install, {
    ...{ cwd: folder, clearEnv: true, env },
  });
  assertEquals(code, 0, stderr);
  const extension = Deno.build.os === "windows" ? ".cmd" : "";
  return { command: [`${folder}/bin/agent-gateway${extension}`], env };
}

/** The program, or other code, compiled for this system. */
export async function compileHere(
  resources: AsyncDisposableStack,
  code?: string,
): Promise<Deployment> {
  const folder = await makeFolder(resources);
  const program = code === undefined
    ? await bundleParts()
    : { "main.js": code };
  const { target } = Deno.build;
  const binary = await compile({ program, target, folder, args: [] });
  return { command: [binary], env: BARE_ENV };
}

/** The reason why nothing can be compiled here, if any. */
export async function findObstacle(): Promise<string | undefined> {
  await using resources = new AsyncDisposableStack();
  try {
    await compileHere(resources, "");
    return undefined;
  } catch (error) {
    const [url] = error instanceof CompileError
      ? error.message.match(/https:\S+denort[\w.-]+/) ?? []
      : [];
    if (url === undefined) throw error;
    return `${url} cannot be downloaded`;
  }
}

/** Serves the bundle; returns its URL, and the options of its second line. */
function serveBundle(
  resources: AsyncDisposableStack,
): { url: string; options: string[] } {
  const { addr } = resources.use(Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(BUNDLE),
  ));
  const [, options = ""] =
    BUNDLE.match(/^\/\/ Usage: deno run (.*) agent-gateway\.js$/m) ?? [];
  return {
    url: `http://127.0.0.1:${addr.port}/agent-gateway.js`,
    options: options.split(" "),
  };
}

/**
 * A folder that is removed at the end. On Windows, what holds Deno's cache stays in
 * the temporary folder: Deno keeps a hard link to itself there, and the system does
 * not remove one while the program runs.
 */
async function makeFolder(resources: AsyncDisposableStack): Promise<string> {
  const folder = await Deno.makeTempDir();
  resources.defer(async () => {
    try {
      await Deno.remove(folder, { recursive: true });
    } catch (error) {
      const inUse = Deno.build.os === "windows" &&
        error instanceof Deno.errors.PermissionDenied;
      if (!inUse) throw error;
    }
  });
  return folder;
}
