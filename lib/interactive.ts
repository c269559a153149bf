/**
 * Interactive mode: a prompt loop on one thread.
 *
 * @module
 */

import type { Gateway } from "./gateway.ts";
import type { Terminal } from "./terminal.ts";
import { VERSION } from "./version.ts";

/** Options of {@linkcode runInteractive}. */
export interface RunInteractiveOptions {
  readonly gateway: Gateway;
  readonly terminal: Terminal;
  /** The API key as it may be shown. */
  readonly maskedKey: string;
  /** Where the service is. */
  readonly baseUrl: string;
}

/**
 * Creates a thread and runs each prompt on it until the input ends (interface 1,
 * "Interactive mode rules").
 *
 * @returns The exit code: 0; 1 if no thread could be created or the last run
 * failed before the input ended; 130 after Ctrl-C at the prompt.
 * @throws {Deno.errors.BrokenPipe} If nobody reads standard output any more.
 */
export async function runInteractive(
  options: RunInteractiveOptions,
): Promise<number> {
  const { gateway, terminal, maskedKey, baseUrl } = options;
  terminal.note(
    `agent-gateway ${VERSION}, service ${baseUrl}, key ${maskedKey}`,
  );
  let threadId;
  try {
    threadId = await gateway.createThread();
  } catch (error) {
    terminal.error(messageOf(error));
    return 1;
  }
  terminal.note(`thread ${threadId}`);

  let failed = false;
  for (;;) {
    const input = await terminal.readLine();
    if (input.kind === "interrupt") return 130;
    if (input.kind === "end") return failed ? 1 : 0;
    const word = input.text.trim().toLowerCase();
    if (word === "") continue;
    if (word === "exit" || word === "quit") return 0;
    failed = !await runPrompt(options, threadId, input.text);
  }
}

/** Runs one prompt and shows what comes of it. Returns whether the run completed. */
async function runPrompt(
  { gateway, terminal }: RunInteractiveOptions,
  threadId: string,
  prompt: string,
): Promise<boolean> {
  const controller = new AbortController();
  const { signal } = controller;
  let reply: string | undefined;
  let failure: unknown;
  terminal.beginRun(() => controller.abort());
  try {
    for await (const event of gateway.runTurn(threadId, prompt, { signal })) {
      if (event.event === "progress") terminal.progress(event);
      else reply = event.reply;
    }
  } catch (error) {
    failure = error;
  } finally {
    terminal.endRun();
  }
  if (reply !== undefined) {
    await terminal.reply(reply);
    return true;
  }
  if (signal.aborted) {
    terminal.note("Run dropped; it may go on at the service");
  } else {
    terminal.error(messageOf(failure));
  }
  return false;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
