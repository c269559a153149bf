/**
 * Interactive mode: a prompt loop on one thread.
 *
 * @module
 */

import { MAX_LINE_BYTES } from "./input_lines.ts";
import { AGENT_NAME, type Gateway, ServiceError } from "./gateway.ts";
import type { Shown, Terminal } from "./interactive/terminal.ts";
import { VERSION } from "./version.ts";

export type { Terminal } from "./interactive/terminal.ts";
export { openScript } from "./interactive/open_script.ts";
export { openTerminal } from "./interactive/open_terminal.ts";
export { addInput } from "./interactive/prompt_input.ts";

/** Options of {@linkcode runInteractive} and {@linkcode runPrompts}. */
export interface RunOptions {
  readonly gateway: Gateway;
  readonly terminal: Terminal;
  /** The masked API key. */
  readonly maskedKey: string;
  /** The service's base URL. */
  readonly baseUrl: string;
  /** The thread to continue. By default a new one is created. */
  readonly threadId?: string | undefined;
}

/** Options of {@linkcode runInteractive}. */
export interface RunInteractiveOptions extends RunOptions {
  /** Whether a person types: then failed runs do not affect the exit code. */
  readonly isTyped: boolean;
}

const INTERRUPTED = 130;

/**
 * Runs each prompt on one thread until the input ends (interface 1, "Interactive
 * mode rules").
 *
 * @returns The exit code: 0; 1 if no thread could be created, or if a run did not
 * complete and input that nobody typed has ended; 130 after Ctrl-C without a
 * current run.
 * @throws {InputError} If standard input cannot be read.
 * @throws Whatever standard output rejects with: see `isReaderGone()`.
 */
export async function runInteractive(
  options: RunInteractiveOptions,
): Promise<number> {
  const { terminal, isTyped } = options;
  const thread = await openThread(options);
  if ("code" in thread) return thread.code;
  let hasFailed = false;
  for (;;) {
    const input = await terminal.readPrompt();
    if (input.kind === "interrupt") return INTERRUPTED;
    if (input.kind === "end") return hasFailed && !isTyped ? 1 : 0;
    if (input.kind === "too long") {
      await terminal.error(
        `Cannot take a prompt of more than ${MAX_LINE_BYTES} bytes`,
      );
      hasFailed = true;
      continue;
    }
    const word = input.text.trim().toLowerCase();
    if (word === "") continue;
    if (word === "exit" || word === "quit") return 0;
    if (!await runPrompt(options, thread.id, input.text)) hasFailed = true;
  }
}

/**
 * Runs prompts on one thread, in order, until one fails.
 *
 * @returns The exit code: 0, or 1 if no thread could be created or a run did not
 * complete.
 * @throws Whatever standard output rejects with: see `isReaderGone()`.
 */
export async function runPrompts(
  prompts: readonly string[],
  options: RunOptions,
): Promise<number> {
  const thread = await openThread(options);
  if ("code" in thread) return thread.code;
  for (const prompt of prompts) {
    if (!await runPrompt(options, thread.id, prompt)) return 1;
  }
  return 0;
}

/** Shows the banner, and creates a thread unless there is one to continue. */
async function openThread(
  { gateway, terminal, maskedKey, baseUrl, threadId }: RunOptions,
): Promise<{ readonly id: string } | { readonly code: number }> {
  terminal.banner(
    `agent-gateway ${VERSION}, agent ${AGENT_NAME}, key ${maskedKey}`,
  );
  terminal.banner(`service ${baseUrl}`);
  let id = threadId;
  if (id === undefined) {
    const creation = await droppable(
      terminal,
      (signal) =>
        gateway.createThread({
          signal,
          onWait: (wait) => terminal.wait(wait),
        }),
    );
    if (creation.kind === "dropped") return { code: INTERRUPTED };
    if (creation.kind === "failed") {
      await showError(terminal, creation.error);
      return { code: 1 };
    }
    id = creation.value;
  }
  await terminal.thread(id);
  return { id };
}

/** Runs one prompt and shows its events. Returns whether the run completed. */
async function runPrompt(
  { gateway, terminal }: RunOptions,
  threadId: string,
  prompt: string,
): Promise<boolean> {
  let reply: string | undefined;
  const run = await droppable(terminal, async (signal) => {
    let shown: Shown = undefined;
    const turn = gateway.runTurn(threadId, prompt, {
      signal,
      onWait: (wait) => terminal.wait(wait),
      onRunStarted: (runId) => {
        shown = terminal.run(runId);
        shown?.catch(() => {}); // awaited below, before the next event is shown
      },
    });
    for await (const events of turn) {
      for (const event of events) {
        if (shown !== undefined) await shown;
        if (event.event === "complete") reply = event.reply;
        else shown = terminal.progress(event);
      }
    }
    await shown;
  });
  if (reply !== undefined) {
    await terminal.reply(reply);
    return true;
  }
  if (run.kind === "failed") await showError(terminal, run.error);
  else terminal.note("Run dropped; it may still go on at the service");
  return false;
}

/** The outcome of an operation that the user can drop. */
type Outcome<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "dropped" }
  | { readonly kind: "failed"; readonly error: unknown };

/** Runs an operation that Ctrl-C drops. */
async function droppable<T>(
  terminal: Terminal,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<Outcome<T>> {
  const controller = new AbortController();
  terminal.begin(() => controller.abort());
  try {
    const value = await act(controller.signal);
    terminal.end(true);
    return { kind: "done", value };
  } catch (error) {
    terminal.end(false);
    return controller.signal.aborted
      ? { kind: "dropped" }
      : { kind: "failed", error };
  }
}

async function showError(terminal: Terminal, error: unknown): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  const details = error instanceof ServiceError
    ? { operation: error.operation, status: error.status }
    : {};
  await terminal.error(message, details);
}
