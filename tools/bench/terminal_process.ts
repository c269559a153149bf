import type { Command } from "./programs.ts";
import { type Endpoint, settings } from "./service.ts";

/** A program in a terminal, which `script` of util-linux opens. */
export class TerminalProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #end: Promise<void>;
  /** What was written since the last keys. */
  #output = "";
  #onOutput = () => {};
  #hasEnded = false;

  constructor(command: Command, service: Endpoint) {
    const words = command.map((word) => `'${word}'`).join(" ");
    const shell = `stty rows 24 columns 80; exec ${words}`;
    this.#child = new Deno.Command("script", {
      args: ["-qfec", shell, "/dev/null"],
      env: { ...settings(service), TERM: "xterm-256color", CI: "" },
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#end = this.#read();
  }

  /**
   * Types keys, and waits for what the program writes after that.
   *
   * @returns The time that it took, in milliseconds.
   */
  async type(keys: string, expected: RegExp): Promise<number> {
    this.#output = "";
    const started = performance.now();
    await this.#input.write(new TextEncoder().encode(keys));
    await this.shows(expected);
    return performance.now() - started;
  }

  /** @throws If the program ends before it writes a text. */
  async shows(expected: RegExp): Promise<void> {
    while (!expected.test(this.#output)) {
      if (this.#hasEnded) {
        throw new Error(`It ended after ${JSON.stringify(this.#output)}`);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onOutput = resolve;
      await promise;
    }
  }

  /** Closes the terminal, which ends the program. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#input.close().catch(() => {});
    await this.#end;
    await this.#child.status;
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#child.stdout) {
      this.#output += decoder.decode(chunk, { stream: true });
      this.#onOutput();
    }
    this.#hasEnded = true;
    this.#onOutput();
  }
}
