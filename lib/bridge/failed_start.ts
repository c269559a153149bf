import { type ByteSink, startTimer } from "../io.ts";
import { ErrorCode, formatMessage, readMessages } from "./json_rpc.ts";

/** The longest wait for the editor's first request, in milliseconds. */
const PATIENCE = 1000;

export interface FailedStartOptions {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: ByteSink;
  /** Why the program does not start. */
  readonly reason: string;
}

/**
 * Answers the first request with the reason why the program does not start:
 * editors hide standard error, and show an endless spinner. All other lines are
 * skipped. It returns at the end of the input, or after a second: agent-shell
 * drops an answer if the process ends before Emacs has handled it.
 */
export async function answerFailedStart(
  { stdin, stdout, reason }: FailedStartOptions,
): Promise<void> {
  const late = Promise.withResolvers<void>();
  const stop = startTimer(PATIENCE, late.resolve);
  const answer = async () => {
    let isAnswered = false;
    for await (const message of readMessages(stdin)) {
      if (message.kind !== "request" || isAnswered) continue;
      const error = { code: ErrorCode.cannotOpenSession, message: reason };
      const line = formatMessage({ id: message.id, error });
      await stdout.write(new TextEncoder().encode(line));
      isAnswered = true;
    }
  };
  await Promise.race([answer(), late.promise]);
  stop();
}
