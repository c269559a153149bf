/**
 * Interactive mode: a prompt loop on one thread.
 *
 * @module
 */

import { AGENT_NAME, type Gateway, ServiceError } from "./gateway.ts";
import type { View, ViewEvent } from "./interactive/view.ts";
import { VERSION } from "./version.ts";

export type { View } from "./interactive/view.ts";
export { openView } from "./interactive/open_view.ts";
export { addInput } from "./interactive/prompt_input.ts";

export interface RunOptions {
  readonly gateway: Gateway;
  readonly view: View;
  /** The masked API key. */
  readonly maskedKey: string;
  /** The service's base URL. */
  readonly baseUrl: string;
  /** The thread to continue. By default a new one is created. */
  readonly threadId?: string | undefined;
  /** How long one prompt may take, in milliseconds. By default there is no limit. */
  readonly timeLimit?: number | undefined;
}

/**
 * How the prompts ended: all runs completed; a run failed; no thread could be
 * created; or Ctrl-C left.
 */
export type Ending = "done" | "failed" | "not started" | "interrupted";

/**
 * Runs each prompt on one thread until the input ends (interface 1, "Interactive
 * mode rules"). `exit` and `quit` end with `done` although a run failed.
 *
 * @throws {InputError} If standard input cannot be read.
 * @throws Whatever standard output rejects with: see `isReaderGone()`.
 */
export async function runInteractive(options: RunOptions): Promise<Ending> {
  const { view } = options;
  const thread = await openThread(options);
  if (typeof thread === "string") return thread;
  let ending: Ending = "done";
  for (;;) {
    const input = await view.readPrompt();
    switch (input.kind) {
      case "interrupt":
        return "interrupted";
      case "end":
        return ending;
      case "refused":
        await view.show({ type: "error", message: input.reason });
        ending = "failed";
        break;
      case "prompt": {
        const word = input.text.trim().toLowerCase();
        if (word === "exit" || word === "quit") return "done";
        if (word === "") continue;
        if (!await runPrompt(options, thread.id, input.text)) ending = "failed";
      }
    }
  }
}

/**
 * Runs prompts on one thread, in order, until one fails.
 *
 * @throws Whatever standard output rejects with: see `isReaderGone()`.
 */
export async function runPrompts(
  prompts: readonly string[],
  options: RunOptions,
): Promise<Ending> {
  const thread = await openThread(options);
  if (typeof thread === "string") return thread;
  for (const prompt of prompts) {
    if (!await runPrompt(options, thread.id, prompt)) return "failed";
  }
  return "done";
}

/** Shows the banner, and creates a thread unless there is one to continue. */
async function openThread(
  { gateway, view, maskedKey, baseUrl, threadId }: RunOptions,
): Promise<{ readonly id: string } | Ending> {
  const banner = [
    `agent-gateway ${VERSION}, agent ${AGENT_NAME}, key ${maskedKey}`,
    `service ${baseUrl}`,
  ];
  for (const text of banner) await view.show({ type: "banner", text });
  if (threadId !== undefined) {
    await view.show({ type: "thread", threadId });
    return { id: threadId };
  }
  const last = await follow(view, (signal) => gateway.createThread({ signal }));
  if (last?.type === "thread") return { id: last.threadId };
  if (last !== undefined) return "not started";
  await view.show({ type: "dropped", what: "thread" });
  return "interrupted";
}

/** Runs one prompt and shows what happens. Returns whether its reply was shown. */
async function runPrompt(
  { gateway, view, timeLimit }: RunOptions,
  threadId: string,
  prompt: string,
): Promise<boolean> {
  const last = await follow(
    view,
    (signal) =>
      gateway.runTurn(threadId, prompt, {
        signal,
        timeLimit: timeLimit === undefined
          ? undefined
          : { milliseconds: timeLimit, since: performance.now() },
      }),
  );
  if (last !== undefined) return last.type === "reply";
  await view.show({ type: "dropped", what: "run" });
  return false;
}

/**
 * Shows the events of an operation that the user can drop, or its error.
 *
 * @returns The last event that was shown; `undefined` if the operation was dropped.
 */
async function follow(
  view: View,
  act: (signal: AbortSignal) => AsyncGenerator<readonly ViewEvent[]>,
): Promise<ViewEvent | undefined> {
  const operation = new AbortController();
  const { signal } = operation;
  view.begin?.(operation);
  let last: ViewEvent | undefined;
  try {
    for await (const events of act(signal)) {
      for (last of events) {
        const shown = view.show(last);
        if (shown !== undefined) await shown;
      }
    }
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    if (!(error instanceof ServiceError)) throw error;
    const { message, failure: { operation, status } } = error;
    last = { type: "error", message, operation, status };
    await view.show(last);
  }
  if (signal.aborted && last?.type === "reply") {
    await view.show({ type: "dropped", what: "reply" });
  }
  return last;
}
