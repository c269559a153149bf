/**
 * The bridge: JSON-RPC and ACP on standard input and output. In this folder, the client
 * is the program at the other end, such as an editor.
 *
 * To read it, follow a prompt: `json_rpc.ts` reads the message, `dispatcher.ts` calls the
 * method, and `prompt_blocks.ts` checks the content. `session.ts` lets the prompt wait
 * for those before it. `session_prompt.ts` runs and answers it, with the updates of
 * `session_updates.ts`, the files of `attached_files.ts`, and errors as in
 * `service_failure.ts`. `client_output.ts` writes all of it. `transcripts.ts` keeps what
 * was said for `session/load`, and `failed_start.ts` is the bridge of a program that does
 * not start.
 *
 * @module
 */

import { Dispatcher } from "./bridge/dispatcher.ts";
import { ClientOutput } from "./bridge/client_output.ts";
import { ClientRequests } from "./bridge/client_requests.ts";
import { readMessages } from "./bridge/json_rpc.ts";
import type { Gateway } from "./gateway.ts";
import type { ByteSink, Log } from "./io.ts";

export { answerFailedStart } from "./bridge/failed_start.ts";

interface RunBridgeOptions {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: ByteSink;
  readonly gateway: Gateway;
  readonly log?: Log | undefined;
  /**
   * Called when the input has ended, if requests are open or answers are not written yet.
   * They are finished.
   */
  readonly onInputEnd?: (() => void) | undefined;
}

/**
 * Serves one client: reads requests until the input ends, finishes open requests,
 * and returns when the last answer is written.
 *
 * @throws {StreamError} If standard input cannot be read.
 * @throws Whatever `stdout` rejects with: see `isReaderGone()`.
 */
export async function runBridge(
  { stdin, stdout, gateway, log, onInputEnd }: RunBridgeOptions,
): Promise<void> {
  const output = new ClientOutput(stdout);
  const requests = new ClientRequests(output);
  const dispatcher = new Dispatcher({ output, requests, gateway, log });
  const serve = async () => {
    for await (const message of readMessages(stdin)) {
      dispatcher.receive(message);
      while (output.isFull) await output.progress;
    }
    if (!dispatcher.isIdle || !output.isIdle) onInputEnd?.();
    await dispatcher.end();
    await output.flush();
  };
  await Promise.race([serve(), output.failed]);
}
