/**
 * Bridge mode on a pair of byte streams.
 *
 * @module
 */

import { type Answered, Bridge } from "./bridge/methods.ts";
import type { Gateway } from "./gateway.ts";
import { formatMessage, readMessages } from "./bridge/json_rpc.ts";
import { LineWriter } from "./line_writer.ts";
import type { ByteSink } from "./standard_streams.ts";

export { VerboseLog } from "./bridge/verbose_log.ts";

/** How many UTF-16 code units of answers may wait before reading requests pauses. */
const BACKLOG = 1024 * 1024;

/** Options of {@linkcode runBridge}. */
export interface RunBridgeOptions {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: ByteSink;
  readonly gateway: Gateway;
  /** Called for each request, after it was answered. */
  readonly onAnswered?: ((answered: Answered) => void) | undefined;
}

/**
 * Serves one editor: reads requests until the input ends, finishes what runs,
 * and returns when the last answer is written.
 *
 * @throws {InputError} If standard input cannot be read.
 * @throws Whatever `stdout` rejects with: see `isReaderGone()`.
 */
export async function runBridge(options: RunBridgeOptions): Promise<void> {
  const output = new LineWriter(options.stdout);
  const bridge = new Bridge({
    gateway: options.gateway,
    peer: {
      send: (message) => output.write(formatMessage(message)),
      sendInTurn: (lines, signal) => output.writeInTurn(lines, signal),
    },
    onAnswered: options.onAnswered,
  });
  const serve = async () => {
    for await (const message of readMessages(options.stdin)) {
      bridge.receive(message);
      await output.room(BACKLOG);
    }
    await bridge.idle();
    await output.flush();
  };
  await Promise.race([serve(), output.failed]);
}
