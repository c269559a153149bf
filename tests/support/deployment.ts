import { assertEquals } from "@std/assert";
import { dirname } from "node:path";
import { bundle, bundleParts } from "../../tools/bundle.ts";
import { compile, CompileError } from "../../tools/compile.ts";
import { type ProgramOutput, programOutput } from "./program_output.ts";

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

/** A form in which users get the program. */
export class Deployment implements AsyncDisposable {
  readonly #command: readonly [string, ...string[]];
  readonly #env: Readonly<Record<string, string>>;
  readonly #resources: AsyncDisposableStack;

  private constructor(
    command: readonly [string, ...string[]],
    env: Readonly<Record<string, string>>,
    resources: AsyncDisposableStack,
  ) {
    this.#command = command;
    this.#env = { ...BARE_ENV, ...env };
    this.#resources = resources.move();
  }

  /** The bundle, run from a URL with the command of its second line. */
  static async run(): Promise<Deployment> {
    await using resources = new AsyncDisposableStack();
    const { options, url } = serveBundle(resources);
    const env = { DENO_DIR: await makeFolder(resources) };
    const command = [Deno.execPath(), "run", ...options, url] as const;
    return new Deployment(command, env, resources);
  }

  /** The bundle, installed from a URL with the options of its second line. */
  static async install(): Promise<Deployment> {
    await using resources = new AsyncDisposableStack();
    const { options, url } = serveBundle(resources);
    const folder = await makeFolder(resources);
    const env = {
      DENO_DIR: `${folder}/cache`,
      DENO_INSTALL_ROOT: folder,
      PATH: dirname(Deno.execPath()), // The command starts Deno by its name.
    };
    const install = [Deno.execPath(), "install", "--global", ...options, url];
    const { code, stderr } = await programOutput(install, {
      ...{ cwd: folder, clearEnv: true, env: { ...BARE_ENV, ...env } },
    });
    assertEquals(code, 0, stderr);
    const extension = Deno.build.os === "windows" ? ".cmd" : "";
    const command = `${folder}/bin/agent-gateway${extension}`;
    return new Deployment([command], env, resources);
  }

  /** The program, or other code, compiled for this system. */
  static async compile(code?: string): Promise<Deployment> {
    await using resources = new AsyncDisposableStack();
    const folder = await makeFolder(resources);
    const program = code === undefined
      ? await bundleParts()
      : { "main.js": code };
    const target = Deno.build.target;
    const binary = await compile({ program, target, folder, args: [] });
    return new Deployment([binary], {}, resources);
  }

  /** Runs it to its end, with an environment of its own. */
  output(cwd: string, input = ""): Promise<ProgramOutput> {
    return programOutput(this.#command, {
      ...{ cwd, input, clearEnv: true },
      env: { ...this.#env, NO_COLOR: "1" },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

/** The reason why nothing can be compiled here, if any. */
export async function findObstacle(): Promise<string | undefined> {
  try {
    await using _ = await Deployment.compile("");
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

async function makeFolder(resources: AsyncDisposableStack): Promise<string> {
  const folder = await Deno.makeTempDir();
  resources.defer(() => remove(folder));
  return folder;
}

/**
 * Removes a folder. On Windows, what holds Deno's cache stays in the temporary
 * folder: Deno keeps a hard link to itself there, and the system does not
 * remove one while the program runs.
 */
async function remove(folder: string): Promise<void> {
  try {
    await Deno.remove(folder, { recursive: true });
  } catch (error) {
    const inUse = Deno.build.os === "windows" &&
      error instanceof Deno.errors.PermissionDenied;
    if (!inUse) throw error;
  }
}
