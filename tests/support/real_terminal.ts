import { commandLine, DENO_VARIABLES } from "./client_process.ts";
import { isInstalled } from "./fronts.ts";

/** The longest wait for a text, in milliseconds, and the pause between two looks. */
const WAIT_LIMIT = 20_000;
const PAUSE = 100;

/** Terminal emulators for X, with the arguments that run a script in 40 rows. */
const TERMINALS: Readonly<Record<string, (script: string) => string[]>> = {
  // The setting by which Alt keys work in shells, too.
  xterm: (script) => [
    ...["-xrm", "*metaSendsEscape: true", "-geometry", "80x40", "-e", script],
  ],
  // Made of VTE, as the terminals of GNOME and Xfce are.
  sakura: (script) => ["-c", "80", "-r", "40", "-x", script],
};

const TOOLS = ["Xvfb", "xdotool", "xclip"];

/** A test of each terminal; skipped where one, or a tool, is not installed. */
export function terminalTest(
  name: string,
  fn: (terminal: string) => Promise<void>,
): void {
  for (const terminal of Object.keys(TERMINALS)) {
    const ignore = ![...TOOLS, terminal].every(isInstalled);
    Deno.test({ name: `${terminal}: ${name}`, ignore, fn: () => fn(terminal) });
  }
}

/**
 * A terminal emulator on an X display of its own that runs the program under test.
 * What it shows is read as a person copies it: by dragging the mouse over it.
 */
export class RealTerminal implements AsyncDisposable {
  readonly #folder = Deno.makeTempDirSync({ prefix: "terminal-" });
  readonly #env: Record<string, string>;
  readonly #processes: Deno.ChildProcess[] = [];
  #window = "";
  #width = 0;

  private constructor(env: Readonly<Record<string, string>>) {
    this.#env = {
      PATH: Deno.env.get("PATH") ?? "",
      LC_ALL: "C.UTF-8",
      XDG_CONFIG_HOME: this.#folder,
      LIBGL_ALWAYS_SOFTWARE: "1",
      ...env,
    };
    for (const name of DENO_VARIABLES) {
      const value = Deno.env.get(name);
      if (value !== undefined) this.#env[name] = value;
    }
  }

  /** Opens a terminal; the program has these settings and arguments. */
  static async open(
    name: string,
    env: Readonly<Record<string, string>>,
    args: readonly string[],
  ): Promise<RealTerminal> {
    const terminal = new RealTerminal(env);
    try {
      const script = `${terminal.#folder}/run`;
      const words = [...commandLine(), ...args].map((word) => `'${word}'`);
      const source = `#!/bin/sh\ncd /\nexec ${words.join(" ")}\n`;
      await Deno.writeTextFile(script, source, { mode: 0o755 });
      await terminal.#startDisplay();
      terminal.#start(name, TERMINALS[name]?.(script) ?? []);
      await terminal.#findWindow();
      return terminal;
    } catch (error) {
      await terminal[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Types text on the keyboard. */
  async type(text: string): Promise<void> {
    await this.#x("type", "--delay", "20", "--", text);
  }

  /** Presses a key by its X name: `End`, `ctrl+j`. */
  async press(key: string): Promise<void> {
    await this.#x("key", key);
  }

  /** Makes the window as wide as a share of its first width. */
  async resize(share: number): Promise<void> {
    const [, height] = await this.#size();
    const width = Math.round(this.#width * share);
    await this.#x("windowsize", this.#window, `${width}`, `${height}`);
  }

  /** Waits until the terminal shows a text, line ends aside. */
  async shows(text: string): Promise<void> {
    const wanted = text.replaceAll(/\s/g, "");
    await this.#poll(async () => {
      const shown = (await this.#copy()).replaceAll(/\s/g, "");
      return shown.includes(wanted) ? true : undefined;
    });
  }

  /** Waits until each text is visible, or is on the page that scrolled out last. */
  async keeps(texts: readonly string[]): Promise<void> {
    await this.#poll(async () => {
      const visible = await this.#copy();
      await this.#x("key", "shift+Prior", "shift+Prior");
      const before = await this.#copy();
      await this.#x("key", "shift+Next", "shift+Next");
      const all = `${before}\n${visible}`;
      return texts.every((text) => all.includes(text)) ? true : undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes.reverse()) {
      process.kill("SIGKILL");
      await process.status;
    }
    await Deno.remove(this.#folder, { recursive: true });
  }

  #start(program: string, args: readonly string[]): Deno.ChildProcess {
    const process = new Deno.Command(program, {
      args: [...args],
      clearEnv: true,
      env: this.#env,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#processes.push(process);
    return process;
  }

  /** Starts an X server, which chooses a display that is free. */
  async #startDisplay(): Promise<void> {
    const options = ["-displayfd", "1", "-screen", "0", "1400x1000x24"];
    // -r: a key that a busy machine releases late is not repeated.
    const server = this.#start("Xvfb", [...options, "-noreset", "-r"]);
    const reader = server.stdout.getReader();
    const { value } = await reader.read();
    this.#env.DISPLAY = `:${new TextDecoder().decode(value).trim()}`;
  }

  async #findWindow(): Promise<void> {
    const search = [
      ...["search", "--maxdepth", "1", "--onlyvisible", "--name", "."],
    ];
    this.#window = await this.#poll(async () => {
      for (const window of (await this.#x(...search)).split("\n")) {
        this.#window = window;
        [this.#width] = window === "" ? [0] : await this.#size();
        if (this.#width > 200) return window;
      }
      return undefined;
    });
    await this.#x("windowmove", this.#window, "0", "0");
    await this.#x("windowfocus", "--sync", this.#window);
  }

  /** The size of the window, in pixels. */
  async #size(): Promise<readonly [width: number, height: number]> {
    const told = await this.#x("getwindowgeometry", "--shell", this.#window);
    const [, width, height] = /WIDTH=(\d+)\nHEIGHT=(\d+)/.exec(told) ?? [];
    return [Number(width), Number(height)];
  }

  async #copy(): Promise<string> {
    const [width, height] = await this.#size();
    const to = (x: number, y: number) => ["mousemove", `${x | 0}`, `${y | 0}`];
    const pause = ["sleep", "0.05"];
    await this.#x(
      ...[...to(3, 3), "mousedown", "1", ...pause],
      ...[...to(width / 2, height / 2), ...pause],
      ...[...to(width - 4, height - 4), ...pause, "mouseup", "1", ...pause],
    );
    return await this.#run("xclip", ["-o", "-selection", "primary"]);
  }

  async #poll<T>(look: () => Promise<T | undefined>): Promise<T> {
    const end = performance.now() + WAIT_LIMIT;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > end) {
        throw new Error(`The terminal shows:\n${await this.#copy()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  #x(...args: readonly string[]): Promise<string> {
    return this.#run("xdotool", args);
  }

  async #run(program: string, args: readonly string[]): Promise<string> {
    const { stdout } = await new Deno.Command(program, {
      args: [...args],
      clearEnv: true,
      env: this.#env,
      stderr: "null",
    }).output();
    return new TextDecoder().decode(stdout).trimEnd();
  }
}
