import { Collector } from "./client_process.ts";
import { isInstalled, listening, reservePort } from "./fronts.ts";
import { missingTools } from "./missing_tools.ts";
import { TEST_KEY } from "./service/service.ts";

const PYTHON = "/usr/bin/python3"; // Debian's packages are for its own Python.

const PACKAGES = `${Deno.env.get("REAL_SERVICES")}/node_modules`; // from .ci/run
const NODE = `ln -s ${PACKAGES} .; exec node`;

/** Go's own cache: without it, each build would compile the library of Go again. */
const GO_CACHE = Deno.env.get("GOCACHE") ??
  `${Deno.env.get("HOME")}/.cache/go-build`;

/**
 * Each service of `docs/examples/` and `tests/support/real/`: the command that starts it,
 * what it needs, and a command that fails if that is not installed.
 */
const COMMANDS = {
  fastapi: [
    `exec ${PYTHON} fast_api.py`,
    "FastAPI",
    `${PYTHON} -c 'import fastapi, uvicorn'`,
  ],
  express: [`${NODE} express.mjs`, "express", `ls ${PACKAGES}/express`],
  hono: [`${NODE} hono.mjs`, "hono", `ls ${PACKAGES}/hono`],
  nest: [`${NODE} nest.mjs`, "@nestjs", `ls ${PACKAGES}/@nestjs`],
  langgraph: [
    `sed -i '/^async.* think/,/^}/c import { think } from "./langgraph.mjs";' runs.mjs; ${NODE} service.mjs`,
    "@langchain",
    `ls ${PACKAGES}/@langchain`,
  ],
  php: [
    "exec php -d display_errors=1 -S 127.0.0.1:$PORT service.php",
    "php",
    "php -v",
  ],
  "example in js": ["exec node service.mjs", "node", "node -v"],
  "example in python": [
    `exec ${PYTHON} service.py`,
    PYTHON,
    `${PYTHON} --version`,
  ],
  "example in go": [
    "go build -o service service.go && exec ./service",
    "go",
    "go version",
  ],
} as const;

export type Stack = keyof typeof COMMANDS;

const EXAMPLES = `${import.meta.dirname}/../../docs/examples`;
const PROGRAMS = `${import.meta.dirname}/real`;

/** The tool that this machine lacks to run a stack; `undefined` if none. */
export function missing(stack: Stack): string | undefined {
  if (!isInstalled("sh")) return "sh";
  const [, tool, test] = COMMANDS[stack];
  const { success } = new Deno.Command("sh", { args: ["-c", test] })
    .outputSync();
  if (success) return undefined;
  missingTools.add(tool);
  return tool;
}

/** A small service on a real stack, as a process in a folder of its own. */
export class RealService implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #folder: string;
  readonly #reserved = reservePort();
  readonly #stderr: Collector;

  /**
   * Starts a service that is reachable as soon as this resolves.
   *
   * @param change Changes the code of the service.
   */
  static async start(
    stack: Stack,
    change: (code: string) => string = (code) => code,
  ): Promise<RealService> {
    const folder = await Deno.makeTempDir();
    for (const source of [EXAMPLES, PROGRAMS]) {
      for await (const { name } of Deno.readDir(source)) {
        const code = await Deno.readTextFile(`${source}/${name}`);
        await Deno.writeTextFile(`${folder}/${name}`, change(code));
      }
    }
    const service = new RealService(stack, folder);
    try {
      await listening(service.#child, service.#reserved.port);
      return service;
    } catch (cause) {
      const reason = await service.#stderr.all();
      await service[Symbol.asyncDispose]();
      throw new Error(`The service cannot start: ${reason}`, { cause });
    }
  }

  private constructor(stack: Stack, folder: string) {
    this.#folder = folder;
    this.#child = new Deno.Command("sh", {
      args: ["-c", COMMANDS[stack][0]],
      cwd: folder,
      clearEnv: true,
      env: {
        PATH: Deno.env.get("PATH") ?? "",
        HOME: folder,
        GOCACHE: GO_CACHE,
        SERVICE_KEY: TEST_KEY,
        PORT: `${this.#reserved.port}`,
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#stderr = new Collector(this.#child.stderr);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#reserved.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await Promise.all([this.#child.status, this.#stderr.all()]);
    this.#reserved[Symbol.dispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }
}
