/**
 * The prompt loop: a chat in a terminal, lines in a pipe, and `-p`.
 *
 * `conversation.ts` comes first: it runs prompts on one thread, and decides what Ctrl-C
 * does. An `operation.ts` is what a user can drop; `ctrl_c.ts` and `exit_code.ts` are
 * rules of their own. What happens is a stream of the events in `view.ts`, which a view
 * shows: `json_view.ts`, or `chat_view.ts` in the words of `event_lines.ts`, with an
 * editor and a `status_line.ts`, or with `plain_lines.ts` and `plain_progress.ts`.
 * `terminal.ts` says which one fits, and `open_view.ts` opens it. `stdin_prompts.ts`
 * reads prompts, and `write_reply.ts` writes replies.
 *
 * @module
 */

import { type Gateway, traceHeaders } from "./gateway.ts";
import { Conversation } from "./interactive/conversation.ts";
import { openView } from "./interactive/open_view.ts";
import { addInput } from "./interactive/stdin_prompts.ts";
import { describeTerminal, type Wishes } from "./interactive/terminal.ts";
import {
  environmentVariable,
  type ErrorOutput,
  kindOf,
  outputSink,
  readStandardInput,
} from "./io.ts";
import type { ServiceId } from "./text.ts";

interface InteractiveOptions {
  readonly gateway: Gateway;
  readonly maskedKey: string;
  readonly baseUrl: string;
  readonly asked: Asked;
  readonly process: Host;
}

/** What the user asked for on the command line. */
interface Asked extends Wishes {
  /** Prompts to run instead of those of standard input. */
  readonly prompts: readonly string[];
  /** Whether all of standard input is a prompt, or belongs to the last one. */
  readonly readsInput: boolean;
  readonly threadId: ServiceId | undefined;
  /** How long one prompt may take, in milliseconds. */
  readonly timeLimit: number | undefined;
  readonly json: boolean;
}

/** The process that the conversation takes place in. */
interface Host {
  readonly standardError: ErrorOutput;
  /** Whether prompts are read from a terminal. */
  readsTerminal: boolean;
  /** Interrupted by Ctrl-C, and left before the process ends. */
  frontEnd: Pick<Conversation, "interrupt" | "leave"> | undefined;
  /** Handles a Ctrl-C that is typed as a key. */
  interrupt(): void;
  leave(signal: "SIGQUIT"): Promise<void>;
}

/**
 * Runs the prompts of the command line, or those of standard input, on one thread.
 *
 * @returns The exit code.
 * @throws {StreamError} If standard input cannot be read.
 * @throws Whatever standard output rejects with: see `isReaderGone()`.
 */
export async function runConversation(
  { gateway, maskedKey, baseUrl, asked, process }: InteractiveOptions,
): Promise<number> {
  const { prompts, readsInput, threadId, timeLimit } = asked;
  const isScript = prompts.length > 0 || readsInput;
  const streams = {
    stdin: isScript ? "data" as const : await kindOf("stdin"),
    stdout: await kindOf("stdout"),
    stderr: await kindOf("stderr"),
  };
  process.readsTerminal = streams.stdin !== "data";
  const script = readsInput
    ? await addInput(prompts, readStandardInput())
    : prompts;
  const { standardError } = process;
  const isOneTerminal = streams.stdout !== "data" && streams.stderr !== "data";
  const view = await openView(describeTerminal(streams, !isScript, asked), {
    stdout: standardError.inOrder(outputSink(), isOneTerminal),
    stderr: standardError,
    json: asked.json,
    keys: {
      onInterrupt: () => process.interrupt(),
      onQuit: () => process.leave("SIGQUIT"), // Ctrl-\
      onTyping: () => gateway.prepare(),
      onQueued: (next) => conversation.noteQueued(next),
    },
  });
  const conversation: Conversation = new Conversation({
    gateway,
    view,
    maskedKey,
    baseUrl,
    threadId,
    timeLimit,
    headers: isScript ? traceHeadersFromEnvironment() : {},
  });
  process.frontEnd = conversation;
  try {
    const running = isScript
      ? conversation.runPrompts(script)
      : conversation.runInteractive();
    return await Promise.race([running, view.failed ?? running]);
  } finally {
    await conversation.leave();
  }
}

/** https://opentelemetry.io/docs/specs/otel/context/env-carriers/ */
function traceHeadersFromEnvironment(): Readonly<Record<string, string>> {
  return traceHeaders({
    traceparent: environmentVariable("TRACEPARENT"),
    tracestate: environmentVariable("TRACESTATE"),
  });
}
