import { assert } from "@std/assert";
import { clientPermissionFlags } from "../../tools/bundle.ts";
import { sameFlags } from "../../tools/deno.ts";
import { longestPiece } from "./key_pieces.ts";
import { TEST_KEY } from "./service/service.ts";
import { soon } from "./waits.ts";

const MAIN = `${import.meta.dirname}/../../main.ts`;

/**
 * The program under test: `main.ts`, or what `AGENT_GATEWAY` names, which is a
 * bundle (`.js`, a path or a URL) or a binary.
 */
export const PROGRAM: string = Deno.env.get("AGENT_GATEWAY") ?? "main.ts";

/** Whether the program under test is run by Deno, and not a binary. */
export const RUN_BY_DENO: boolean = /\.[jt]s$/.test(PROGRAM);

/** The Deno that runs the program under test: this one, or what `CLIENT_DENO` names. */
const CLIENT_DENO = Deno.env.get("CLIENT_DENO") ?? Deno.execPath();

/** The environment variables that Deno itself needs: for its cache and JSR. */
export const DENO_VARIABLES: readonly string[] = [
  ...["HOME", "DENO_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA", "JSR_URL"],
];

/** The default of {@linkcode ClientOptions.limit}. */
const LIMIT = 300_000;

/** The end of a text, for a message. */
function endOf(text: string): string {
  return text === "" ? "nothing" : text.slice(-2_000);
}

/** How a {@linkcode Client} is started. */
export interface ClientOptions {
  readonly args?: readonly string[];
  /**
   * The whole environment, except for the variables that Deno needs. The default
   * is {@linkcode TEST_KEY} as the key.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** The default is an empty folder. */
  readonly cwd?: string;
  /** A command that starts the program. The program is appended to its arguments. */
  readonly startedBy?: readonly string[];
  /** The program in place of the one under test. */
  readonly program?: readonly string[];
  /** How long it may run, in milliseconds: a test that hangs has to fail. */
  readonly limit?: number;
  /** Called with standard output as it arrives. */
  readonly onStdout?: (text: string) => void;
  /** Whether standard output is kept after {@linkcode onStdout}. The default is true. */
  readonly keepsStdout?: boolean;
}

/** The ends by a signal that are expected: of a shell's loop, and of a test's own. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"];

/** The output and exit code of a client, which is 128 and more after a signal. */
export interface ClientOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program as a child process, with its standard streams as pipes. */
export class Client implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  /** Standard output and standard error, as far as they have arrived. */
  readonly stdout: Collector;
  readonly stderr: Collector;
  readonly #key: string | undefined;
  readonly #writesJson: boolean;
  readonly #limit: number;
  #output: Promise<ClientOutput> | undefined;

  constructor(options: ClientOptions = {}) {
    const { args = [], env = { APP_API_KEY: TEST_KEY } } = options;
    const { startedBy = [], program = commandLine() } = options;
    const [command = "", ...commandArgs] = [...startedBy, ...program];
    this.#key = env.APP_API_KEY?.trim();
    this.#writesJson = args.includes("--json") && !args.includes("--check");
    this.#child = new Deno.Command(command, {
      args: [...commandArgs, ...args],
      cwd: options.cwd ?? emptyFolder(),
      clearEnv: true,
      env: { ...denoEnvironment(), ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#limit = options.limit ?? LIMIT;
    this.#input = this.#child.stdin.getWriter();
    const { onStdout, keepsStdout } = options;
    this.stdout = new Collector(this.#child.stdout, onStdout, keepsStdout);
    this.stderr = new Collector(this.#child.stderr);
  }

  /** The id of the process. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Settles at the end, whether or not the output was read. */
  get status(): Promise<Deno.CommandStatus> {
    return this.#soon(this.#child.status);
  }

  #soon<T>(end: Promise<T>): Promise<T> {
    return soon(
      end,
      () =>
        `the program's end. Its output: ${endOf(this.stdout.text)}\n` +
        `Its errors: ${endOf(this.stderr.text)}`,
      this.#limit,
    );
  }

  /** Writes to standard input; resolves when the system has accepted the text. */
  async write(text: string | Uint8Array): Promise<void> {
    const bytes = typeof text === "string"
      ? new TextEncoder().encode(text)
      : text;
    await this.#input.write(bytes);
  }

  /** Ends standard input. */
  async closeInput(): Promise<void> {
    await this.#input.close().catch(() => {}); // The client has ended.
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Writes `text`, if any, ends standard input, and waits for the end. */
  async finish(text = ""): Promise<ClientOutput> {
    await this.write(text).catch(() => {}); // The client has ended.
    await this.closeInput();
    return await this.output();
  }

  /**
   * Waits for the end. Asserts that the key was not printed, that all output of
   * `--json` is valid, and that the program has not crashed.
   */
  output(): Promise<ClientOutput> {
    this.#output ??= this.#end();
    return this.#output;
  }

  async #end(): Promise<ClientOutput> {
    const [{ code, signal }, stdout, stderr] = await this.#soon(
      Promise.all([
        this.#child.status,
        this.stdout.all(),
        this.stderr.all(),
      ]),
    );
    assert(signal === null || SIGNALS.includes(signal), `Died of ${signal}`);
    const key = this.#key;
    if (key !== undefined && key.length > 8) {
      const piece = longestPiece(`${stdout} ${stderr}`, key);
      assert(piece < 12, "the output has a piece of the key");
    }
    if (this.#writesJson) {
      const { parseJsonLines } = await import("./json_lines.ts");
      parseJsonLines(stdout, code <= 2 && !this.stdout.isClosed);
    }
    return { code, stdout, stderr };
  }

  /** Kills the process if it has not ended yet. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    this.#input.abort().catch(() => {});
    // A test that asked was told: the same failure again would hide the first.
    if (this.#output === undefined) await this.output();
    else await this.status;
  }
}

/** Collects the text of a stream to its end; what has come so far can be read. */
export class Collector {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #onText: (text: string) => void;
  readonly #keepsText: boolean;
  readonly #end: Promise<void>;
  /** Whether {@linkcode close} was called. */
  isClosed = false;
  #text = "";
  #ended = false;
  #arrival = Promise.withResolvers<void>();
  #paused = Promise.withResolvers<void>();

  constructor(
    stream: ReadableStream<Uint8Array>,
    onText: (text: string) => void = () => {},
    keepsText = true,
  ) {
    this.#onText = onText;
    this.#keepsText = keepsText;
    this.#reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    this.#paused.resolve();
    this.#end = this.#collect();
  }

  /** The text so far. */
  get text(): string {
    return this.#text;
  }

  /** Resolves with all text so far, as soon as it holds `part`. */
  waitFor(part: string | RegExp): Promise<string> {
    return soon(
      this.#waitFor(part),
      () => `${part}, but ${endOf(this.#text)}`,
      60_000,
    );
  }

  async #waitFor(part: string | RegExp): Promise<string> {
    const isThere = () =>
      typeof part === "string"
        ? this.#text.includes(part)
        : part.test(this.#text);
    while (!isThere()) {
      if (this.#ended) {
        throw new Error(`No ${part} to the end of: ${endOf(this.#text)}`);
      }
      await this.#arrival.promise;
    }
    return this.#text;
  }

  /** Stops reading, so that the pipe fills up. */
  pause(): void {
    this.#paused = Promise.withResolvers();
  }

  /** Reads on after {@linkcode pause}. */
  resume(): void {
    this.#paused.resolve();
  }

  /** Closes the reading end of the pipe. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.#reader.cancel();
  }

  /** Resolves with all text when the stream has ended. */
  async all(): Promise<string> {
    await this.#end;
    return this.#text;
  }

  async #collect(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      if (this.#keepsText) this.#text += value;
      this.#onText(value);
      this.#arrive();
      await this.#paused.promise;
    }
    this.#ended = true;
    this.#arrive();
  }

  #arrive(): void {
    const { resolve } = this.#arrival;
    this.#arrival = Promise.withResolvers();
    resolve();
  }
}

/** Runs the program to its end. By default there is no input. */
export async function runClient(
  options: ClientOptions & { readonly stdin?: string } = {},
): Promise<ClientOutput> {
  await using client = new Client(options);
  return await client.finish(options.stdin);
}

/** Whether the program under test is run by Deno 2.9 or later: a binary may not be. */
export async function isNewDeno(): Promise<boolean> {
  const { stdout } = await runClient({ args: ["--version"], env: {} });
  return !/ \(deno 2\.[0-8]\./.test(stdout);
}

/** The environment that points the client to a service, with {@linkcode TEST_KEY}. */
export function settings(
  service: { readonly url: string },
): { APP_API_KEY: string; APP_BASE_URL: string } {
  return { APP_API_KEY: TEST_KEY, APP_BASE_URL: service.url };
}

/**
 * Starts the program when its input has a line, which the program does not get: what is
 * written together with it is there from the start. (Windows has no shell for it.)
 */
export const AFTER_A_LINE: readonly string[] = Deno.build.os === "windows"
  ? []
  : shell('read -r line && exec "$@"');

/** The command that runs a shell script, in which `"$@"` is the program. */
export function shell(script: string): readonly string[] {
  return ["sh", "-c", script, "sh"];
}

/** The program under test and its arguments, before those of the user. */
export function commandLine(): [string, ...string[]] {
  if (!RUN_BY_DENO) return [PROGRAM];
  const program = PROGRAM === "main.ts" ? MAIN : PROGRAM;
  const library = PROGRAM === "main.ts" ? sameFlags : ["--no-config"];
  return [
    CLIENT_DENO,
    ...["run", "-q", ...library],
    ...[...clientPermissionFlags, program],
  ];
}

/** Puts the program under test into a folder of `PATH`, whatever is set there. */
export async function putProgram(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const variables = Object.entries(denoEnvironment())
    .map(([name, value]) => `${name}='${value}'`).join(" ");
  const words = commandLine().map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(
    `${folder}/agent-gateway`,
    `#!/bin/sh\n${variables} exec ${words} "$@"\n`,
    { mode: 0o755 },
  );
}

function denoEnvironment(): Record<string, string> {
  if (!RUN_BY_DENO) return {};
  const found = DENO_VARIABLES.map((name) => [name, Deno.env.get(name)]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

let empty: string | undefined;

/** An empty folder. All clients share it, because none can write. */
function emptyFolder(): string {
  if (empty === undefined) {
    const folder = empty = Deno.makeTempDirSync();
    addEventListener("unload", () => Deno.removeSync(folder));
  }
  return empty;
}
