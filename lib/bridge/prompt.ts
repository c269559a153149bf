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
import { messageLine, progressLines } from "./session_updates.ts";
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
  const thought = progressLines(sessionId, crypto.randomUUID());
  const replyId = crypto.randomUUID();
  let reply: Said | undefined;
  /** Formats the update about an event; empty if there is none. */
  const update = (event: TurnEvent): string => {
    switch (event.type) {
      case "progress":
        return thought(event);
      case "reply":
        if (event.note !== undefined) log?.noted(sessionId, event.note);
        reply = { by: "agent", messageId: replyId, text: event.text };
        return messageLine(sessionId, reply);
      case "wait":
      case "run":
        return "";
      default:
        return event satisfies never;
    }
  };
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

/** The size of the texts that short lines are joined to, in UTF-16 code units. */
const JOINED_LENGTH = 16 * 1024;

/**
 * Formats the updates about events as texts of whole lines, each when there is
 * room for it. Writing a line costs more than formatting it, so short ones are
 * joined.
 */
function* textsAbout(
  events: readonly TurnEvent[],
  update: (event: TurnEvent) => string,
): Generator<string> {
  let text = "";
  for (const event of events) {
    const line = update(event);
    if (text !== "" && text.length + line.length > JOINED_LENGTH) {
      yield text;
      text = "";
    }
    text += line;
  }
  if (text !== "") yield text;
}
