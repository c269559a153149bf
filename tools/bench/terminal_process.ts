import type { Command } from "./subjects.ts";
import { TextReader } from "./text_reader.ts";

/** Options of a {@linkcode TerminalProcess}. */
export interface TerminalProcessOptions {
  /** Variables, in addition to this process's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** A shell script. `"$@"` is the program with its arguments. */
  readonly script?: string;
}

/** A program on a pseudo-terminal, which is a `script` of util-linux. */
export class TerminalProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #screen: TextReader;

  constructor(
    { program, args }: Command,
    { env, script = 'exec "$@"' }: TerminalProcessOptions,
  ) {
    const words = [program, ...args].map(quote).join(" ");
    this.#child = new Deno.Command("script", {
      args: ["-qec", `set -- ${words}; ${script}`, "/dev/null"],
      env: { ...env, SHELL: "/bin/sh", TERM: "xterm-256color", CI: "" },
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#screen = new TextReader(this.#child.stdout);
  }

  /** Types keys. Resolves when the terminal has taken them. */
  async type(keys: string): Promise<void> {
    await this.#input.write(new TextEncoder().encode(keys));
  }

  /**
   * Waits until the program has drawn a text, in one piece and after all texts that
   * were waited for before.
   *
   * @throws If the program ends without it.
   */
  async drawn(text: string): Promise<void> {
    await this.#screen.find(text);
  }

  /** Ends the input: Ctrl-D on the terminal. Waits for the end of the program. */
  async end(): Promise<void> {
    await this.#input.close();
    await this.#screen.readToEnd();
    await this.#child.status;
  }

  /** Ends the program: the terminal hangs up. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    this.#input.abort().catch(() => {});
    await this.#screen.readToEnd();
    await this.#child.status;
  }
}

/** A word of a shell script. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
