import type { ReplyEvent, TurnEvent } from "../gateway.ts";
import { readAttachedFiles } from "./attached_files.ts";
import type { BridgeContext } from "./bridge_context.ts";
import { ProgressLines } from "./client_output.ts";
import type { ClientRequests } from "./client_requests.ts";
import type { RequestId } from "./json_rpc.ts";
import { linksIn, type PromptContent, promptText } from "./prompt_blocks.ts";
import { isGone } from "./service_failure.ts";
import type { AcceptedPrompt, Session } from "./session.ts";
import {
  notice,
  type Said,
  type SessionUpdate,
  waitNotice,
} from "./session_updates.ts";

export interface PromptRequest {
  readonly id: RequestId;
  readonly content: PromptContent;
  /** Additional headers for the requests of the run. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the linked files; `undefined` if the client has not offered to. */
  readonly files: ClientRequests | undefined;
  /** Resolves when the request has been answered. */
  readonly answered: Promise<void>;
}

/** A prompt of a session, from its request to its answer. */
export class ActivePrompt implements AcceptedPrompt {
  readonly #context: BridgeContext;
  readonly #session: Session;
  readonly #request: PromptRequest;
  readonly #controller = new AbortController();
  readonly #progress: ProgressLines;
  readonly #replyId = crypto.randomUUID();
  #hasUpdates = false;
  #hasReplied = false;

  constructor(
    context: BridgeContext,
    session: Session,
    request: PromptRequest,
  ) {
    this.#context = context;
    this.#session = session;
    this.#request = request;
    this.#progress = new ProgressLines(session.id, crypto.randomUUID());
  }

  get requestId(): RequestId {
    return this.#request.id;
  }

  /** Resolves when the request has been answered. */
  get answered(): Promise<void> {
    return this.#request.answered;
  }

  get isCancelled(): boolean {
    return this.#controller.signal.aborted;
  }

  cancel(): void {
    this.#controller.abort();
  }

  /**
   * Runs it and sends its updates: one for each progress event, and one for the reply
   * (interface 6). The prompt and its reply are kept in the session. Resolves when the
   * response may follow: a cancellation after the reply changes nothing.
   *
   * @throws {RpcError} If another prompt runs in the session.
   * @throws {ServiceError} If the run fails.
   */
  async run(): Promise<"end_turn" | "cancelled"> {
    const session = this.#session;
    const previous = session.begin(this);
    session.transcript.add({
      by: "user",
      messageId: crypto.randomUUID(),
      text: this.#request.content.text,
    });
    try {
      await previous?.answered;
      await this.#follow();
      session.isGone = false;
    } catch (error) {
      if (!this.isCancelled) {
        session.isGone = isGone(error);
        throw error;
      }
    } finally {
      if (this.#hasUpdates) await this.#context.output.keepDistance();
    }
    return this.#hasReplied ? "end_turn" : "cancelled";
  }

  async #follow(): Promise<void> {
    const { id: sessionId, threadId } = this.#session;
    const { content, headers } = this.#request;
    const { signal } = this.#controller;
    const text = promptText(content, await this.#readFiles());
    signal.throwIfAborted();
    const options = { signal, sessionId, headers };
    const { gateway } = this.#context;
    for await (const event of gateway.runTurn(threadId, text, options)) {
      const shown = this.#show(event);
      if (shown instanceof Promise) await shown;
    }
  }

  /** The texts of the linked files by their URIs. */
  async #readFiles(): Promise<ReadonlyMap<string, string>> {
    const { content, files } = this.#request;
    if (files === undefined) return new Map();
    const sessionId = this.#session.id;
    return await readAttachedFiles(linksIn(content), {
      signal: this.#controller.signal,
      ask: (path, signal) => files.readFile({ sessionId, path }, signal),
    });
  }

  /**
   * Shows an event. Returns a promise only if it must be awaited, because awaiting one
   * costs as much as an event.
   */
  #show(event: TurnEvent): boolean | Promise<unknown> {
    const { output } = this.#context;
    switch (event.type) {
      case "run":
        return true;
      case "wait":
        return this.#notice(waitNotice(event));
      case "progress":
        return output.progress(this.#progress, event, this.#beginUpdate());
      case "reply":
        return this.#reply(event);
      default:
        return event satisfies never;
    }
  }

  async #reply({ text, note }: ReplyEvent): Promise<void> {
    const { output } = this.#context;
    const session = this.#session;
    if (note !== undefined) await this.#notice(notice("warning", note));
    const said: Said = { by: "agent", messageId: this.#replyId, text };
    if (!await output.say(session.id, said, this.#beginUpdate())) return;
    session.transcript.add(said);
    this.#hasReplied = true;
  }

  async #notice(update: SessionUpdate): Promise<void> {
    const { output } = this.#context;
    if (!output.client.showsNotices) return;
    await output.update(this.#session.id, update, this.#beginUpdate());
  }

  /** Called before each update. Returns the signal that keeps it from being sent. */
  #beginUpdate(): AbortSignal {
    const { signal } = this.#controller;
    if (!signal.aborted) this.#hasUpdates = true;
    return signal;
  }
}
