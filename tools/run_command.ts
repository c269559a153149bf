import { ToolError } from "./tool_error.ts";

/** How a command is run. */
export interface RunOptions {
  readonly cwd?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a command without input to its end, and returns what it prints.
 *
 * @throws {ToolError} If it fails: with what it prints on standard error.
 */
export async function runCommand(
  [program = "", ...args]: readonly string[],
  { cwd = ".", env = {} }: RunOptions = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd,
    env: { ...env },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout);
  throw new ToolError(`${program} failed: ${decoder.decode(stderr).trim()}`);
}
