import { soon } from "./waits.ts";

/** How long a program may run, in milliseconds: a test that hangs has to say at what. */
const LIMIT = 300_000;

/** What a program has printed, and its exit code. */
export interface ProgramOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a program is run. */
export interface ProgramOptions
  extends Pick<Deno.CommandOptions, "cwd" | "env" | "clearEnv" | "signal"> {
  /** Its standard input, as a pipe: by default it has none. */
  readonly input?: string;
}

/** Runs a program to its end, which must come within 5 minutes. */
export async function programOutput(
  [program = "", ...args]: readonly string[],
  { input, ...options }: ProgramOptions = {},
): Promise<ProgramOutput> {
  const child = new Deno.Command(program, {
    ...options,
    args,
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (input !== undefined) {
    ReadableStream.from([input]).pipeThrough(new TextEncoderStream())
      .pipeTo(child.stdin).catch(() => {}); // It ends without reading it all.
  }
  const output = Promise.all([
    child.status,
    child.stdout.text(),
    child.stderr.text(),
  ]);
  const command = [program, ...args].join(" ");
  const [{ code }, stdout, stderr] = await soon(output, () => command, LIMIT);
  return { code, stdout, stderr };
}
