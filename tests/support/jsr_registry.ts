/**
 * A registry like JSR for tests. As a program, runs a command in a copy of the
 * project, on a network that has this JSR, with an empty cache of Deno.
 *
 *     deno run -P=test tests/support/jsr_registry.ts FOLDER COMMAND [ARGUMENT...]
 *
 * The copy's `deno.lock` is rewritten with the checksums of that registry. The
 * exit code is that of the command.
 *
 * @module
 */
import config from "../../deno.json" with { type: "json" };
import { libraryFlags } from "../../tools/deno.ts";
import standIns from "../../tools/npm/import_map.json" with { type: "json" };
import { writeLock } from "../../tools/pins.ts";

const NPM = `${import.meta.dirname}/../../tools/npm`;

const lock = JSON.parse(
  Deno.readTextFileSync(`${import.meta.dirname}/../../deno.lock`),
);

/** A release of a package as JSR serves it. */
export interface JsrPackage {
  /** For example `@std/assert`. */
  readonly name: string;
  readonly version: string;
  /** From subpaths such as `.` or `./parse-args` to files such as `./mod.ts`. */
  readonly exports: Readonly<Record<string, string>>;
  /** The text of each file, by its path, which begins with `/`. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * A JSR on loopback that has one release of each package. It speaks as much of
 * the protocol as Deno asks for (jsr.io/docs/api): `meta.json`,
 * `VERSION_meta.json` with exports and a manifest of checksums, and the files.
 */
export class JsrRegistry implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  /** The requested paths, in order. */
  readonly requests: readonly string[];

  private constructor(
    server: Deno.HttpServer<Deno.NetAddr>,
    requests: readonly string[],
  ) {
    this.#server = server;
    this.requests = requests;
  }

  static async start(packages: readonly JsrPackage[]): Promise<JsrRegistry> {
    const answers = new Map<string, string>();
    for (const { name, version, exports, files } of packages) {
      const [scope = "", short = ""] = name.slice(1).split("/");
      const meta = { scope, name: short, versions: { [version]: {} } };
      answers.set(`/${name}/meta.json`, JSON.stringify(meta));
      const manifest: Record<string, { size: number; checksum: string }> = {};
      for (const [path, text] of Object.entries(files)) {
        answers.set(`/${name}/${version}${path}`, text);
        const bytes = new TextEncoder().encode(text);
        const checksum = `sha256-${await sha256(bytes)}`;
        manifest[path] = { size: bytes.length, checksum };
      }
      answers.set(
        `/${name}/${version}_meta.json`,
        JSON.stringify({ manifest, exports }),
      );
    }
    const requests: string[] = [];
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      ({ url }) => {
        const { pathname } = new URL(url);
        requests.push(pathname);
        const text = answers.get(pathname);
        return new Response(text ?? null, {
          status: text === undefined ? 404 : 200,
        });
      },
    );
    return new JsrRegistry(server, requests);
  }

  /** The value of `JSR_URL` with which Deno uses this registry. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/**
 * The parts of the standard library that the project uses, with the code of the
 * stand-ins in `tools/npm/`, under the names and versions that `deno.lock` pins.
 * They import nothing from npm.
 */
export async function standInPackages(): Promise<JsrPackage[]> {
  const files = await standInFiles();
  const specifiers: Readonly<Record<string, string>> = lock.specifiers;
  return Object.entries(config.imports).map(([name, specifier]) => {
    // Deno shortens "^0." to "~0." in the lock.
    const version = specifiers[specifier.replace("@^0.", "@~0.")];
    if (version === undefined) throw new Error(`No ${specifier} in deno.lock`);
    const exports = Object.entries(standIns.imports)
      .filter(([path]) => path === name || path.startsWith(`${name}/`))
      .map(([path, file]) => [`.${path.slice(name.length)}`, file]);
    return { name, version, exports: Object.fromEntries(exports), files };
  });
}

/** The files of `tools/npm/`, with each import from npm replaced by a file. */
async function standInFiles(): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { name } of Deno.readDir(NPM)) {
    if (!name.endsWith(".ts")) continue;
    let text = await Deno.readTextFile(`${NPM}/${name}`);
    for (
      const [statement, specifier = ""] of text.matchAll(
        / from "([^."][^"]*)"/g,
      )
    ) {
      if (specifier.startsWith("node:")) continue;
      const file = `/${specifier.replaceAll(/\W+/g, "_")}_bundle.js`;
      files[file] ??= await bundle(specifier);
      text = text.replace(statement, ` from ".${file}"`);
    }
    files[`/${name}`] = text;
  }
  return files;
}

/** Everything that a module of an npm package exports, in one file. */
async function bundle(specifier: string): Promise<string> {
  const module = await Deno.makeTempFile({
    dir: NPM,
    prefix: ".bundle-",
    suffix: ".ts",
  });
  try {
    await Deno.writeTextFile(module, `export * from "${specifier}";\n`);
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["bundle", "--quiet", ...libraryFlags.npm, module],
      stderr: "inherit",
    }).output();
    if (!success) throw new Error(`Cannot bundle ${specifier}`);
    return new TextDecoder().decode(stdout);
  } finally {
    await Deno.remove(module);
  }
}

if (import.meta.main) {
  const [folder, command, ...args] = Deno.args;
  if (folder === undefined || command === undefined) {
    console.error("Usage: jsr_registry.ts FOLDER COMMAND [ARGUMENT...]");
    Deno.exit(2);
  }

  const cache = await Deno.makeTempDir();
  try {
    await using registry = await JsrRegistry.start(await standInPackages());
    const env = {
      DENO_DIR: cache,
      JSR_URL: registry.url,
      STANDARD_LIBRARY: "", // The launcher has to find out.
    };
    await writeLock(folder, env);
    const child = new Deno.Command(command, { args, cwd: folder, env }).spawn();
    Deno.exitCode = (await child.status).code;
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
}
