/**
 * What a program does from its start to its end, in figures that do not depend on the
 * machine's speed or load. Needs valgrind and GNU time.
 *
 * @module
 */
import { ToolError } from "../tool_error.ts";
import type { Command } from "./programs.ts";

/** What a program does. */
export interface Work {
  /** The instructions of the program and its libraries, in millions. */
  readonly instructions: number;
  /** The pages of memory that it touched first. */
  readonly pageFaults: number;
}

export interface WorkOptions {
  /** Its environment, with what Deno needs. Other variables would change its work. */
  readonly env: Readonly<Record<string, string>>;
  /** What is written to its standard input, which is closed when it has answered. */
  readonly input: string;
}

/**
 * Runs a program twice.
 *
 * @throws {ToolError} If it fails, or valgrind or GNU time is missing.
 */
export async function measureWork(
  command: Command,
  options: WorkOptions,
): Promise<Work> {
  const counted = await outputOf([
    // V8 writes code and changes it later, which valgrind looks for with this option.
    ...["valgrind", "--tool=lackey", "--smc-check=all-non-file"],
    ...command,
  ], options);
  const timed = await outputOf(
    ["/usr/bin/time", "-f", "%R", ...command],
    options,
  );
  const [, instructions = ""] = /guest instrs: +([\d,]+)/.exec(counted) ?? [];
  const [, pageFaults = ""] = /(\d+)\n$/.exec(timed) ?? [];
  return {
    instructions: Number(instructions.replaceAll(",", "")) / 1e6,
    pageFaults: Number(pageFaults),
  };
}

/** What a command writes to standard error. */
async function outputOf(
  [program = "", ...args]: Command,
  { env, input }: WorkOptions,
): Promise<string> {
  const inherited = ["PATH", "HOME", "DENO_DIR"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const child = new Deno.Command(program, {
    ...{ args, env: { ...Object.fromEntries(inherited), ...env } },
    clearEnv: true,
    ...{ stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  const writer = child.stdin.getWriter();
  // An empty program does not read it, and may have ended by now.
  await writer.write(new TextEncoder().encode(input)).catch(() => {});
  const reader = child.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  await writer.close().catch(() => {});
  const { success, stderr } = await child.output();
  const text = new TextDecoder().decode(stderr);
  if (!success) throw new ToolError(`${program} failed: ${text.slice(-500)}`);
  return text;
}
