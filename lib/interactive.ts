/**
 * Interactive mode: a prompt loop on one thread.
 *
 * @module
 */

import { MAX_LINE_BYTES } from "./input_lines.ts";
import { AGENT_NAME, type Gateway } from "./gateway.ts";
import type { Terminal } from "./interactive/terminal.ts";
import { VERSION } from "./version.ts";

export { openTerminal } from "./interactive/open_terminal.ts";

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
 * did not complete before the input ended; 130 after Ctrl-C with no run going on.
 * @throws {InputError} If standard input cannot be read.
 * @throws Whatever standard output rejects with: see `isReaderGone()`.
 */
export async function runInteractive(
  options: RunInteractiveOptions,
): Promise<number> {
  const { gateway, terminal, maskedKey, baseUrl } = options;
  terminal.banner(
    `agent-gateway ${VERSION}, agent ${AGENT_NAME}, key ${maskedKey}`,
  );
  terminal.banner(`service ${baseUrl}`);
  const creation = await droppable(
    terminal,
    (signal) => gateway.createThread({ signal }),
  );
  if (creation.kind === "dropped") return 130;
  if (creation.kind === "failed") {
    terminal.error(messageOf(creation.error));
    return 1;
  }
  const threadId = creation.value;
  terminal.banner(`thread ${threadId}`);

  let completed = true;
  for (;;) {
    const input = await terminal.readLine();
    if (input.kind === "interrupt") return 130;
    if (input.kind === "end") return completed ? 0 : 1;
    if (input.kind === "too long") {
      terminal.error(
        `Cannot take a prompt of more than ${MAX_LINE_BYTES} bytes`,
      );
      completed = false;
      continue;
    }
    const word = input.text.trim().toLowerCase();
    if (word === "") continue;
    if (word === "exit" || word === "quit") return 0;
    completed = await runPrompt(options, threadId, input.text);
  }
}

/** Runs one prompt and shows what comes of it. Returns whether the run completed. */
async function runPrompt(
  { gateway, terminal }: RunInteractiveOptions,
  threadId: string,
  prompt: string,
): Promise<boolean> {
  let reply: string | undefined;
  const run = await droppable(terminal, async (signal) => {
    for await (const events of gateway.runTurn(threadId, prompt, { signal })) {
      for (const event of events) {
        if (event.event === "progress") terminal.progress(event);
        else reply = event.reply;
      }
    }
  });
  if (reply !== undefined) {
    await terminal.reply(reply);
    return true;
  }
  if (run.kind === "failed") terminal.error(messageOf(run.error));
  else terminal.note("Run dropped; it may still go on at the service");
  return false;
}

/** What became of something that the user can drop. */
type Outcome<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "dropped" }
  | { readonly kind: "failed"; readonly error: unknown };

/** Does something that Ctrl-C drops. */
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
