import { traceHeaders } from "../gateway.ts";
import { isJsonObject } from "../text.ts";
import { readAttachedFiles } from "./attached_files.ts";
import type { BridgeOptions } from "./bridge_options.ts";
import type { EditorRequests } from "./editor_requests.ts";
import type { RequestId } from "./json_rpc.ts";
import { linksIn, parsePrompt, promptText } from "./prompt_blocks.ts";
import type { Sessions } from "./sessions.ts";
import { isGone } from "./service_failure.ts";
import { type Said, updatesOf } from "./session_updates.ts";

/** A request of `session/prompt`; its params are not checked yet. */
export interface PromptRequest {
  readonly id: RequestId;
  readonly prompt: unknown;
  readonly _meta: unknown;
  readonly answered: Promise<void>;
  readonly sessionId: string;
  readonly sessions: Sessions;
  /** Reads the linked files; `undefined` if the editor has not offered to. */
  readonly editor: EditorRequests | undefined;
  readonly showsNotices: boolean;
}

/**
 * Runs a prompt and sends its updates: one for each progress event, and one for
 * the reply (interface 6). The prompt and its reply are kept in the session.
 *
 * @throws {RpcError} If a param is bad, the session is unknown, or a prompt runs in it.
 * @throws {ServiceError} If the run fails.
 */
export async function runPrompt(
  { peer, gateway, log }: BridgeOptions,
  request: PromptRequest,
): Promise<{ stopReason: "end_turn" | "cancelled" }> {
  const { id, prompt, _meta, answered, sessionId, sessions, editor } = request;
  const content = parsePrompt(prompt);
  const session = sessions.find(sessionId);
  const { threadId, transcript } = session;
  const { signal, previous } = session.begin(id, answered);
  const messageId = crypto.randomUUID();
  transcript.add({ by: "user", messageId, text: content.text });
  let reply: Said | undefined;
  const update = updatesOf(sessionId, (said, note) => {
    reply = said;
    if (note !== undefined) {
      log?.(`session/prompt session=${sessionId}: ${note}`);
    }
  }, request);
  try {
    await previous;
    const files = editor === undefined
      ? new Map<string, string>()
      : await readAttachedFiles(linksIn(content), {
        signal,
        ask: (path, signal) => editor.readFile({ sessionId, path }, signal),
      });
    signal.throwIfAborted();
    const text = promptText(content, files);
    const headers = isJsonObject(_meta) ? traceHeaders(_meta) : {};
    const options = { signal, sessionId, headers };
    for await (const event of gateway.runTurn(threadId, text, options)) {
      const isSent = await peer.sendInTurn(update(event), signal);
      if (isSent && reply !== undefined) transcript.add(reply);
    }
    session.isGone = false;
  } catch (error) {
    if (!signal.aborted) {
      session.isGone = isGone(error);
      throw error;
    }
  }
  return { stopReason: signal.aborted ? "cancelled" : "end_turn" };
}
