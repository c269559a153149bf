import { type ByteSink, within } from "../io.ts";
import { clientIn, INITIALIZE_RESULT } from "./capabilities.ts";
import { ClientOutput } from "./client_output.ts";
import {
  ErrorCode,
  readMessages,
  RpcError,
  type RpcRequest,
} from "./json_rpc.ts";
import type { Redacted } from "../text.ts";

/** How long to wait for the client's first request, in milliseconds. */
export const FIRST = 1000;

/** How long to wait for the request after `initialize`, in milliseconds. */
export const NEXT = 10_000;

/**
 * How long to wait until an answer is written, and for the end of the input after the
 * last one, in milliseconds: agent-shell drops an answer if the process ends before Emacs
 * has handled it.
 */
const LAST = 1000;

/**
 * Answers one request with the reason as its error, because clients hide standard
 * error: the first request, unless that is `initialize`. `initialize` succeeds as usual
 * (some clients show no window if it fails), and the request after it gets the error.
 * All other lines are ignored. Returns at the end of the input, or after a timeout.
 */
export async function answerFailedStart(
  { stdin, stdout, reason }: {
    readonly stdin: AsyncIterable<Uint8Array>;
    readonly stdout: ByteSink;
    readonly reason: Redacted;
  },
): Promise<void> {
  const requests = requestsIn(stdin);
  const output = new ClientOutput(stdout);
  const next = (limit: number) =>
    within(limit, requests.next().then(({ value }) => value), () => undefined);

  let request = await next(FIRST);
  while (request?.method === "initialize") {
    output.client = clientIn(request.params);
    output.respond(request.id, INITIALIZE_RESULT);
    // In time, because a client that does not read must not keep the process.
    if (!await output.flushWithin(LAST)) return;
    request = await next(NEXT);
  }
  if (request === undefined) return;

  const code = ErrorCode.cannotOpenSession;
  output.fail(request.id, new RpcError(code, reason, { details: reason }));
  if (!await output.flushWithin(LAST)) return;
  await within(LAST, Array.fromAsync(requests), () => []);
}

async function* requestsIn(
  stdin: AsyncIterable<Uint8Array>,
): AsyncGenerator<RpcRequest, undefined> {
  for await (const message of readMessages(stdin)) {
    if (message.kind === "request") yield message;
  }
}
