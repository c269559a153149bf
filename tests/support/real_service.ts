import { Collector } from "./client_process.ts";
import { TEST_KEY } from "./service/service.ts";

/** The folder with the npm packages of the services; `.ci/run` installs them. */
const PACKAGES = Deno.env.get("REAL_SERVICES");

const PYTHON = "/usr/bin/python3";

/** The stacks, with the programs of `tests/support/real/` and what runs them. */
const PROGRAMS = {
  langgraph: ["node", "langgraph.mjs"],
  express: ["node", "express.mjs"],
  fastify: ["node", "fastify.mjs"],
  hono: ["node", "hono.mjs"],
  fastapi: [PYTHON, "fast_api.py"],
} as const;

export type Stack = keyof typeof PROGRAMS;

/** What this machine lacks to run a stack; `undefined` if nothing. */
export function missing(stack: Stack): string | undefined {
  if (stack !== "fastapi") return PACKAGES ? undefined : "REAL_SERVICES";
  try {
    const args = ["-c", "import fastapi, uvicorn"];
    const { success } = new Deno.Command(PYTHON, { args }).outputSync();
    return success ? undefined : "FastAPI or uvicorn";
  } catch {
    return PYTHON;
  }
}

/** How long a service may run, in milliseconds: a test that hangs has to fail. */
const PATIENCE = 180_000;

/**
 * A small service on a real stack, as a process in a folder of its own: when it is
 * started again, it has forgotten everything.
 */
export class RealService implements AsyncDisposable {
  readonly #stack: Stack;
  readonly #child: Deno.ChildProcess;
  readonly #folder: string;
  readonly #stdout: Collector;
  readonly #stderr: Collector;
  readonly #watchdog: ReturnType<typeof setTimeout>;

  /**
   * Starts a service that is reachable as soon as this resolves.
   *
   * @param port By default any free port.
   */
  static async start(stack: Stack, port = 0): Promise<RealService> {
    const folder = await Deno.makeTempDir();
    const programs = `${import.meta.dirname}/real`;
    for await (const { name } of Deno.readDir(programs)) {
      await Deno.copyFile(`${programs}/${name}`, `${folder}/${name}`);
    }
    if (PACKAGES) {
      await Deno.symlink(`${PACKAGES}/node_modules`, `${folder}/node_modules`);
    }
    const service = new RealService(stack, { folder, port });
    try {
      await service.#stdout.waitFor(/^http:.*\n/m);
      return service;
    } catch (cause) {
      const reason = await service.#stderr.all();
      await service[Symbol.asyncDispose]();
      throw new Error(`The service cannot start: ${reason}`, { cause });
    }
  }

  private constructor(
    stack: Stack,
    { folder, port }: { readonly folder: string; readonly port: number },
  ) {
    const [command, program] = PROGRAMS[stack];
    this.#stack = stack;
    this.#folder = folder;
    this.#child = new Deno.Command(command, {
      args: [program],
      cwd: folder,
      clearEnv: true,
      env: {
        PATH: Deno.env.get("PATH") ?? "",
        API_KEY: TEST_KEY,
        PORT: `${port}`,
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#watchdog = setTimeout(() => this.#kill(), PATIENCE);
    this.#stdout = new Collector(this.#child.stdout);
    this.#stderr = new Collector(this.#child.stderr);
  }

  /** The base URL, which the service prints. */
  get url(): string {
    return /^http:.*$/m.exec(this.#stdout.text)?.[0] ?? "";
  }

  /** Lets the runs of prompts with `wait` go on. */
  async release(): Promise<void> {
    await this.#child.stdin.close();
  }

  /** Asks the service to end. Resolves when it says that it has begun to. */
  async shutDown(): Promise<void> {
    this.#child.kill("SIGTERM");
    await Promise.any([
      this.#stdout.waitFor("Closing"),
      this.#stderr.waitFor("Shutting down"), // uvicorn
    ]);
  }

  /** Resolves with the exit code. */
  async ended(): Promise<number> {
    const { code } = await this.#child.status;
    return code;
  }

  /** Kills the service if it has not ended, and starts it again at the same URL. */
  async restart(): Promise<RealService> {
    this.#kill();
    await this.ended();
    return await RealService.start(this.#stack, Number(new URL(this.url).port));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kill();
    await this.#child.stdin.close().catch(() => {}); // It is closed.
    await Promise.all([this.ended(), this.#stdout.all(), this.#stderr.all()]);
    clearTimeout(this.#watchdog);
    await Deno.remove(this.#folder, { recursive: true });
  }

  #kill(): void {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
  }
}
