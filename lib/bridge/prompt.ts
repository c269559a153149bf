/**
 * Runs one prompt of a session: from its content blocks to its updates.
 *
 * @module
 */

import type { TurnEvent } from "../gateway.ts";
import { readAttachedFiles } from "./attached_files.ts";
import type { EditorRequests } from "./editor_requests.ts";
import type { BridgeOptions } from "./peer.ts";
import { linksIn, type PromptContent, promptText } from "./prompt_blocks.ts";
import type { Session, Turn } from "./session.ts";
import { textsAbout, updatesOf } from "./session_updates.ts";
import type { Said } from "./transcripts.ts";

/** Why a prompt's turn ended. */
export type StopReason = "end_turn" | "cancelled";

/** A prompt that was accepted. */
export interface Prompt {
  readonly session: Session;
  readonly turn: Turn;
  readonly content: PromptContent;
  /** Additional headers for the run's two requests. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the linked files; `undefined` if the editor has not offered to. */
  readonly editor: EditorRequests | undefined;
  /** Called when the reply was sent. */
  readonly keep: (reply: Said) => void;
}

/**
 * Runs a prompt and sends its updates: one for each progress event, and one for
 * the reply (interface 6).
 *
 * @throws {ServiceError} If the run fails.
 */
export async function runPrompt(
  { peer, gateway, log }: BridgeOptions,
  { session, turn, content, headers, editor, keep }: Prompt,
): Promise<StopReason> {
  const sessionId = session.id;
  const { signal, previous } = turn;
  let reply: Said | undefined;
  const update = updatesOf(sessionId, (said, note) => {
    reply = said;
    if (note !== undefined) log?.noted(sessionId, note);
  });
  const texts = function* (batch: readonly TurnEvent[]) {
    yield* textsAbout(batch, update);
    // This runs after the last text was sent, before a cancellation can take effect.
    if (reply !== undefined) keep(reply);
  };
  try {
    await previous;
    const files = editor === undefined
      ? new Map<string, string>()
      : await readAttachedFiles(linksIn(content), {
        signal,
        ask: (path, either) => editor.readFile({ sessionId, path }, either),
      });
    signal.throwIfAborted();
    const events = gateway.runTurn(
      session.threadId,
      promptText(content, files),
      { signal, sessionId, headers },
    );
    for await (const batch of events) {
      await peer.sendInTurn(texts(batch), signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return signal.aborted ? "cancelled" : "end_turn";
}
