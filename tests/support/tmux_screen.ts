import { assertEquals, assertFalse } from "@std/assert";
import { Buffer } from "node:buffer";
import { commandLine, DENO_VARIABLES } from "./client_process.ts";
import { isInstalled } from "./fronts.ts";
import { TEST_KEY } from "./service/service.ts";

/** How long the screen may stay as it is during a wait for a text, in milliseconds. */
const WAIT_LIMIT = 20_000;

/** The longest wait, if it changes again and again, in milliseconds. */
const LONGEST_WAIT = 60_000;

const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g;
const DURATION = /\b\d+(\.\d)? (s|min)( \d+ s)?(?=$| +Ctrl-C stops$)/gm;
/** A line that comes only where the machine is slow. */
const SILENCE = /\n(The service has not answered for|running,) \d.*/g;

/** A test with a {@linkcode Screen}; skipped where `tmux`, or another tool, is missing. */
export function test(
  name: string,
  fn: () => Promise<void>,
  tool = "tmux",
): void {
  const ignore = ![tool, "tmux"].every(isInstalled);
  Deno.test(ignore ? `${name} (skipped: no ${tool})` : name, { ignore }, fn);
}

export interface ScreenOptions {
  /** The default is 80. */
  readonly columns?: number;
  /** The default is 24. */
  readonly rows?: number;
  /** The program's settings and other environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * A terminal with a shell, as a person sees it. The program under test is started
 * by typing `agent-gateway`; the shell's prompt tells the last exit code: `[0]$`.
 *
 * tmux draws the screen. This process is its control client, so tmux reports when
 * something was drawn, and tmux and the programs in it end when this process
 * ends.
 */
export class Screen implements AsyncDisposable {
  readonly #folder: string;
  readonly #tmux: Deno.ChildProcess;
  readonly #commands: WritableStreamDefaultWriter<Uint8Array>;
  readonly #answers: PromiseWithResolvers<string>[] = [];
  readonly #ended: Promise<void>;
  readonly #attached = Promise.withResolvers<void>();
  #drawn = Promise.withResolvers<void>();
  #bytes = "";

  /** Opens a terminal, and waits for the shell's prompt. */
  static async open(options: ScreenOptions = {}): Promise<Screen> {
    const screen = new Screen(options);
    try {
      await screen.#attached.promise;
      await screen.#do("set destroy-unattached on");
      await screen.#do("set window-size manual");
      await screen.shows("[0]$");
      return screen;
    } catch (error) {
      await screen[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(options: ScreenOptions) {
    const { columns = 80, rows = 24, env = {} } = options;
    this.#folder = Deno.makeTempDirSync({ prefix: "screen-" });
    Deno.mkdirSync(`${this.#folder}/empty`);
    Deno.writeTextFileSync(
      `${this.#folder}/agent-gateway`,
      "#!/bin/sh\n" +
        `echo $$ > ${quote(`${this.#folder}/pid`)}\n` +
        `exec ${commandLine().map(quote).join(" ")} "$@"\n`,
      { mode: 0o755 },
    );
    this.#tmux = new Deno.Command("tmux", {
      args: [
        ...["-u", "-C", "-S", `${this.#folder}/socket`, "-f", "/dev/null"],
        ...["new-session", "-x", `${columns}`, "-y", `${rows}`],
        "PS1='[$?]$ ' HISTFILE= exec bash --norc --noprofile --noediting",
      ],
      cwd: `${this.#folder}/empty`,
      clearEnv: true,
      env: {
        ...inherited(...DENO_VARIABLES),
        PATH: `${this.#folder}:${Deno.env.get("PATH")}`,
        LC_ALL: "C.UTF-8",
        ...env,
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#commands = this.#tmux.stdin.getWriter();
    this.#ended = this.#listen();
  }

  /** All output to the terminal so far, including escape codes. */
  get written(): string {
    return Buffer.from(this.#bytes, "latin1").toString();
  }

  /** Types characters. */
  async type(text: string): Promise<void> {
    await this.#do(`send-keys -l ${quote(text)}`);
  }

  /** Presses keys by the names that tmux has for them: `Enter`, `Up`, `C-c`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#do(`send-keys ${keys.join(" ")}`);
  }

  /** Types a line, and Enter. */
  async enter(line: string): Promise<void> {
    await this.type(line);
    await this.press("Enter");
  }

  /** Pastes a text at once, as a bracketed paste if the program has enabled it. */
  async paste(text: string): Promise<void> {
    const file = `${this.#folder}/paste`;
    await Deno.writeTextFile(file, text);
    await this.#do(`load-buffer ${quote(file)}`);
    await this.#do("paste-buffer -p");
  }

  /**
   * Presses a key that arrives alone: waits until the program has drawn.
   *
   * @param text A part of what it has drawn then.
   */
  async pressAlone(key: string, text = ""): Promise<void> {
    await this.#drawnAfter(`send-keys ${key}`, text);
  }

  /** Resizes the terminal, and waits until its program has drawn itself again. */
  async resize(columns: number, rows = 24): Promise<void> {
    await this.#drawnAfter(`resize-window -x ${columns} -y ${rows}`);
  }

  /** Sends a signal to the program that was started last. */
  async kill(signal: Deno.Signal): Promise<void> {
    Deno.kill(await this.pid(), signal);
  }

  /** The id of the program that was started last. */
  async pid(): Promise<number> {
    return Number(await Deno.readTextFile(`${this.#folder}/pid`));
  }

  /** Stops tmux, which takes nothing from the terminal any more, until it is disposed. */
  async stop(): Promise<Disposable> {
    const server = Number(await this.#do("display-message -p '#{pid}'"));
    Deno.kill(server, "SIGSTOP");
    return { [Symbol.dispose]: () => Deno.kill(server, "SIGCONT") };
  }

  /** The terminal's title. */
  async title(): Promise<string> {
    return await this.#do("display-message -p '#{pane_title}'");
  }

  /**
   * The text, with the rows that have scrolled out, and without what depends on the time:
   * durations, the spinner's position and lines about silence; nor on the port.
   */
  async text(): Promise<string> {
    const text = await this.#do("capture-pane -p -S -");
    return text.replace(SPINNER, "⠋").replace(DURATION, "0.0 s")
      .replace(SILENCE, "").replace(/(?<=127\.0\.0\.1:)\d+/, "1");
  }

  /** {@linkcode text} with the escape codes that colour it. */
  async colours(): Promise<string> {
    return await this.#do("capture-pane -p -e -S -");
  }

  /** Waits until the screen holds `part`, and returns all of it. */
  async waitFor(part: string | RegExp): Promise<string> {
    const holds = (text: string) =>
      typeof part === "string" ? text.includes(part) : part.test(text);
    const text = await this.#poll(holds);
    if (!holds(text)) throw new Error(`No ${part} on the screen:\n${text}`);
    return text;
  }

  /** Waits until {@linkcode text} equals this, or after a row `...` ends with it. */
  async shows(...rows: readonly string[]): Promise<void> {
    const isLast = rows[0] === "...";
    const wanted = isLast ? rows.slice(1) : rows;
    const shown = (text: string) =>
      text.split("\n").slice(isLast ? -wanted.length : 0);
    const text = await this.#poll((text) =>
      shown(text).join("\n") === wanted.join("\n")
    );
    assertEquals(shown(text), wanted, text);
  }

  /** Ends the terminal, and asserts that the key was not written to it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#commands.close().catch(() => {}); // tmux has ended.
    await this.#ended;
    await Deno.remove(this.#folder, { recursive: true });
    assertFalse(this.#bytes.includes(TEST_KEY), "the key is on the screen");
  }

  /** Checks the screen whenever it has changed, until it matches. */
  async #poll(isWanted: (text: string) => boolean): Promise<string> {
    const end = performance.now() + LONGEST_WAIT;
    let last: string | undefined;
    for (let due = end;;) {
      const { promise, resolve } = this.#drawn;
      const text = await this.text();
      const now = performance.now();
      if (text !== last) due = Math.min(now + WAIT_LIMIT, end);
      if (isWanted(text) || now >= due) return text;
      last = text;
      const timer = setTimeout(resolve, due - now);
      await promise;
      clearTimeout(timer);
    }
  }

  async #drawnAfter(command: string, text = ""): Promise<void> {
    const { length } = this.#bytes;
    await this.#do(command);
    const isDrawn = () =>
      this.#bytes.length > length && this.#bytes.includes(text, length);
    await this.#poll(isDrawn);
    if (!isDrawn()) throw new Error(`Nothing was drawn after ${command}`);
  }

  async #do(command: string): Promise<string> {
    const answer = Promise.withResolvers<string>();
    this.#answers.push(answer);
    await this.#commands.write(new TextEncoder().encode(`${command}\n`));
    return await answer.promise;
  }

  /** Parses tmux's messages: answers to commands, and output of the pane. */
  async #listen(): Promise<void> {
    let block: string[] | undefined;
    for await (const line of byteLines(this.#tmux.stdout)) {
      const [, word, rest = ""] = /^(%[\w-]+) ?(.*)$/s.exec(line) ?? [];
      if (word === "%begin") {
        block = [];
      } else if (word === "%session-changed") {
        this.#attached.resolve();
      } else if (word === "%end" || word === "%error") {
        const text = Buffer.from(block?.join("\n") ?? "", "latin1").toString();
        // The last number is 1 for a command of this client.
        const answer = rest.endsWith(" 1") ? this.#answers.shift() : undefined;
        if (word === "%end") answer?.resolve(text.replace(/\n+$/, ""));
        else answer?.reject(new Error(`tmux: ${text}`));
        block = undefined;
      } else if (block !== undefined) {
        block.push(line);
      } else {
        if (word === "%output") this.#bytes += unescape(rest);
        this.#drawn.resolve();
        this.#drawn = Promise.withResolvers();
      }
    }
    this.#attached.resolve();
    for (const answer of this.#answers) {
      answer.promise.catch(() => {}); // It may not be awaited.
      answer.reject(new Error("tmux has ended"));
    }
    await this.#tmux.status;
  }
}

/** Lines whose characters are bytes: tmux may cut text anywhere. */
async function* byteLines(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + Buffer.from(chunk).toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** The output of a pane, from a line `%output PANE TEXT`. */
function unescape(output: string): string {
  return output.slice(output.indexOf(" ") + 1).replace(
    /\\([0-7]{3})/g,
    (_, octal) => String.fromCharCode(parseInt(octal, 8)),
  );
}

/** Quotes a text as one word for both a shell and tmux. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function inherited(...names: readonly string[]): Record<string, string> {
  const found = names.map((name) => [name, Deno.env.get(name)]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}
