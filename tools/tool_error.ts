/** A tool cannot do its work. The message says why, and what to do. */
export class ToolError extends Error {
  override readonly name: string = "ToolError";

  /** @param exitCode The tool's: 2 if it cannot use its arguments. */
  constructor(message: string, readonly exitCode: 1 | 2 = 1) {
    super(message);
  }
}

/** Runs a tool. A {@linkcode ToolError} ends it with its message and exit code. */
export async function runTool(tool: () => void | Promise<void>): Promise<void> {
  try {
    await tool();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    console.error(error.message);
    Deno.exit(error.exitCode);
  }
}
