import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import { KEY, LoadService } from "./load_service.ts";
import { type Command, Unavailable } from "./subjects.ts";
import { quote, TerminalProcess } from "./terminal_process.ts";
import { TextReader } from "./text_reader.ts";

const MB = 1_000_000;
const PROMPT_SIGN = "> ";
const MARK = "MARK";

/** A prompt with GNU Readline. */
const READLINE: Command = {
  program: "bash",
  args: ["--norc", `${import.meta.dirname}/peers/readline.sh`],
};

/** What a program is started with. */
interface Start {
  readonly command: Command;
  readonly env: Readonly<Record<string, string>>;
}

/** Something that is typed or pasted at the prompt. */
interface Entry {
  /** What the terminal sends. It ends with {@linkcode MARK}, which fits in a row. */
  readonly keys: string;
  /** How our editor shows the prompt after Enter was pressed. */
  readonly sent: string;
  /** Its size in {@linkcode unit}. */
  readonly size: number;
  readonly unit: string;
}

/** Where programs are measured. */
interface Place {
  readonly quick: boolean;
  readonly pipes: Pipes;
  /**
   * The environment of runs of one kind. Each kind has Deno's caches for itself:
   * they hold the code that the first run has used.
   */
  readonly environment: (
    kind: "terminal" | "pipe",
  ) => Readonly<Record<string, string>>;
}

/** The prompt loop on a pseudo-terminal: its start, typing, and pasting. */
export async function terminal(
  { quick, folder, buildPrograms }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  const programs = await buildPrograms();
  const missing = await missingTool();
  const bundle = missing ?? programs.bundle();
  const binary = missing ?? programs.binary();
  await using service = await LoadService.start();
  const place: Place = {
    quick,
    pipes: await makePipes(folder),
    environment: (kind) => ({
      APP_API_KEY: KEY,
      APP_BASE_URL: service.url,
      DENO_DIR: `${folder}/${kind}`,
    }),
  };
  const typing = typedKeys(quick ? 10 : 1000);
  const pasting = pastedLines(quick ? 10_000 : 1024 * 1024);
  return [
    ...await measureStart("bundle", bundle, place),
    ...await measureStart("binary", binary, place),
    ...await measureEntry("typing", typing, bundle, place),
    ...await measureEntry("pasting 1 MiB", pasting, bundle, place),
  ];
}

/** The start on a terminal and on pipes, and how much longer the first one takes. */
async function measureStart(
  name: string,
  ours: Command | Unavailable,
  { quick, pipes, environment }: Place,
): Promise<readonly Measurement[]> {
  const sample = async (command: Command) => {
    const start = { command, env: environment("pipe") };
    const piped = await timeToThread(start, pipes);
    const prompted = await timeToPrompt({
      command,
      env: environment("terminal"),
    });
    return {
      [`${name}, to the prompt`]: prompted,
      [`${name}, to the thread in a pipe`]: piped,
      [`${name}, more on a terminal`]: prompted - piped,
    };
  };
  // Deno writes its caches at the end of the first run, which is not measured.
  if (!quick && !(ours instanceof Unavailable)) await sample(ours);
  return await measure({
    subjects: new Map([["ours", ours]]),
    rounds: quick ? 1 : 20,
    quantities: {
      [`${name}, to the prompt`]: { unit: "ms" },
      [`${name}, to the thread in a pipe`]: { unit: "ms" },
      [`${name}, more on a terminal`]: {
        unit: "ms",
        targets: [{ atMost: 6 }],
      },
    },
    sample,
  });
}

async function measureEntry(
  name: string,
  entry: Entry,
  ours: Command | Unavailable,
  { quick, environment }: Place,
): Promise<readonly Measurement[]> {
  return await measure({
    subjects: new Map([
      ["ours", ours],
      ["floor", floor(entry)],
      ["readline", READLINE],
    ]),
    rounds: quick ? 1 : 5,
    quantities: { [name]: { unit: entry.unit } },
    sample: async (command, subject) => {
      const start = { command, env: environment("terminal") };
      const milliseconds = await timeEntry(start, entry, subject === "ours");
      return { [name]: entry.size / milliseconds * 1000 };
    },
  });
}

/** Checks that there is the `script` of util-linux. */
async function missingTool(): Promise<Unavailable | undefined> {
  const script = new Deno.Command("script", { args: ["--version"] });
  const version = await script.output()
    .then(({ stdout }) => new TextDecoder().decode(stdout), () => "");
  if (version.includes("util-linux")) return undefined;
  return new Unavailable("there is no script of util-linux");
}

/** The least that takes an entry from a terminal: it is read and not looked at. */
function floor({ keys }: Entry): Command {
  const script = [
    ...["stty raw -echo", `printf '${PROMPT_SIGN}'`],
    ...[
      `head -c ${keys.length} >/dev/null`,
      `printf ${MARK}`,
      "cat >/dev/null",
    ],
  ];
  return { program: "sh", args: ["-c", script.join("; ")] };
}

/** A number of groups of 20 keys. Each group adds one letter to the prompt. */
function typedKeys(groups: number): Entry {
  const [left, right, remove] = ["\x1b[D", "\x1b[C", "\x1b[3~"];
  const [home, end, backspace] = ["\x01", "\x05", "\x7f"];
  let keys = "";
  let sent = "";
  for (let group = 0; group < groups; group++) {
    const letter = String.fromCharCode(0x61 + group % 26);
    keys += [
      ...[`${letter}etter`, left.repeat(3), "s", remove.repeat(3)],
      ...[home, end, left, right, backspace.repeat(3)],
    ].join("");
    sent += letter;
  }
  return {
    keys: keys + MARK,
    sent: sent + MARK,
    size: groups * 20,
    unit: "keys/s",
  };
}

/** A bracketed paste of lines. */
function pastedLines(bytes: number): Entry {
  const lines: string[] = [];
  for (let length = 0; length < bytes;) {
    const line = `${lines.length}: one line of a text that somebody has pasted`;
    lines.push(line);
    length += line.length + 1;
  }
  lines.push(MARK);
  const keys = `\x1b[200~${lines.join("\r")}\x1b[201~`;
  const indented = lines.join("\r\n  ");
  return { keys, sent: indented, size: keys.length / MB, unit: "MB/s" };
}

/** Named pipes for the standard streams of a program. */
interface Pipes {
  readonly input: string;
  readonly output: string;
}

async function makePipes(folder: string): Promise<Pipes> {
  const [input, output] = [`${folder}/input`, `${folder}/output`];
  const { success } = await new Deno.Command("mkfifo", {
    args: [input, output],
  }).output();
  if (!success) throw new Error("Cannot make named pipes");
  return { input, output };
}

/** From the start of the program to the prompt sign on a terminal. */
async function timeToPrompt({ command, env }: Start): Promise<number> {
  const started = performance.now();
  await using terminal = new TerminalProcess(command, { env });
  await terminal.drawn(PROMPT_SIGN);
  const milliseconds = performance.now() - started;
  await terminal.end();
  return milliseconds;
}

/**
 * From the start of the program, on pipes, to the last line before it waits for
 * input: the one with the thread's id. It runs inside of `script` too, so that
 * the cost of that is in both times.
 */
async function timeToThread(
  { command, env }: Start,
  { input, output }: Pipes,
): Promise<number> {
  const opening = Promise.all([
    Deno.open(input, { write: true }),
    Deno.open(output),
  ]);
  const script = `exec "$@" <${quote(input)} >${quote(output)} 2>&1`;
  const started = performance.now();
  await using terminal = new TerminalProcess(command, { env, script });
  const [stdin, stdout] = await opening;
  const lines = new TextReader(stdout.readable);
  await lines.find("\nthread ");
  const milliseconds = performance.now() - started;
  stdin.close();
  await lines.readToEnd();
  await terminal.end();
  return milliseconds;
}

/**
 * From the first key to {@linkcode MARK} on the screen.
 *
 * @param sends Whether the prompt is then sent, to see that all of it has arrived.
 */
async function timeEntry(
  { command, env }: Start,
  { keys, sent }: Entry,
  sends: boolean,
): Promise<number> {
  const script = 'stty cols 80 rows 24; exec "$@"';
  await using terminal = new TerminalProcess(command, { env, script });
  await terminal.drawn(PROMPT_SIGN);
  const started = performance.now();
  const typed = terminal.type(keys);
  await terminal.drawn(MARK);
  const milliseconds = performance.now() - started;
  await typed;
  if (sends) {
    await terminal.type("\r");
    await terminal.drawn(sent);
  }
  return milliseconds;
}
