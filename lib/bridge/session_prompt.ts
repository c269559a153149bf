import type { CallEvents, CallIds, ReplyEvent, TurnEvent } from "../gateway.ts";
import { byteLength } from "../text.ts";
import { readAttachedFiles } from "./attached_files.ts";
import type { BridgeContext } from "./bridge_context.ts";
import type { RequestId } from "./json_rpc.ts";
import type { OpenRequest } from "./open_request.ts";
import { linksIn, type PromptContent, promptText } from "./prompt_blocks.ts";
import { isGone } from "./service_failure.ts";
import type { AcceptedPrompt, Session } from "./session.ts";
import { type Said, updatesFor } from "./session_updates.ts";

export interface SessionPromptOptions {
  readonly request: OpenRequest;
  readonly content: PromptContent;
  /** Additional headers for the requests of the run. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How a prompt ends. */
interface PromptEnd {
  readonly stopReason: "end_turn" | "cancelled" | "error";
  readonly error?: unknown;
}

/**
 * A prompt of a session, from its request to its response. It sends nothing before
 * {@linkcode run}: it may have to wait for other prompts.
 */
export class SessionPrompt implements AcceptedPrompt {
  /** The prompt as a message of the conversation. */
  readonly said: Said;
  readonly #context: BridgeContext;
  readonly #session: Session;
  readonly #options: SessionPromptOptions;
  readonly #controller = new AbortController();
  readonly #answered = Promise.withResolvers<void>();
  readonly #messageIds = {
    thoughts: crypto.randomUUID(),
    reply: crypto.randomUUID(),
  };
  #hasBegun = false;
  #hasReplied = false;
  /** How many updates were sent. */
  #updates = 0;
  /** The ids of the run and of the request that started it. */
  #ids: CallIds | undefined;

  constructor(
    context: BridgeContext,
    session: Session,
    options: SessionPromptOptions,
  ) {
    this.#context = context;
    this.#session = session;
    this.#options = options;
    const { content } = options;
    const messageId = crypto.randomUUID();
    this.said = { by: "user", messageId, text: content.text };
  }

  get requestId(): RequestId {
    return this.#options.request.id;
  }

  /** The size of its text, in bytes of UTF-8. */
  get bytes(): number {
    return byteLength(promptText(this.#options.content, new Map()));
  }

  /** Resolves when its request has been answered. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  /** Cancels it. One that has not begun is answered at once, and never runs. */
  cancel(): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort();
    if (!this.#hasBegun) this.#answer({ stopReason: "cancelled" });
  }

  /**
   * Runs it, sends its updates (one for each progress event, and one for the reply:
   * interface 6), and answers it. It never rejects.
   */
  async run(): Promise<void> {
    if (this.#controller.signal.aborted) return; // It was answered then.
    this.#hasBegun = true;
    const end = await this.#follow();
    await this.#context.output.keepDistance(this.#updates);
    this.#answer(end);
  }

  async #follow(): Promise<PromptEnd> {
    const session = this.#session;
    const { content, headers } = this.#options;
    const { signal } = this.#controller;
    try {
      const text = promptText(content, await this.#readFiles());
      signal.throwIfAborted();
      const options = { signal, sessionId: session.id, headers };
      const { gateway } = this.#context;
      await this.#show(gateway.runTurn(session.threadId, text, options));
      session.isGone = false;
      return { stopReason: "end_turn" };
    } catch (error) {
      if (this.#hasReplied) return { stopReason: "end_turn" };
      if (signal.aborted) return { stopReason: "cancelled" };
      if (isGone(error)) session.isGone = true;
      return { stopReason: "error", error };
    }
  }

  /** The texts of the linked files by their URIs. */
  async #readFiles(): Promise<ReadonlyMap<string, string>> {
    const { requests, output } = this.#context;
    const links = linksIn(this.#options.content);
    if (!output.client.readsFiles || links.length === 0) return new Map();
    const sessionId = this.#session.id;
    return await readAttachedFiles(links, {
      signal: this.#controller.signal,
      ask: (path, signal) => requests.readFile({ sessionId, path }, signal),
    });
  }

  /** Sends the updates of a turn, until it ends or the prompt is cancelled. */
  async #show(turn: CallEvents<TurnEvent>): Promise<void> {
    const { output } = this.#context;
    const { id } = this.#session;
    const { signal } = this.#controller;
    try {
      for await (const event of turn) {
        if (event.type === "run") this.#ids = turn.ids;
        for (
          const update of updatesFor(event, this.#messageIds, output.client)
        ) {
          // Asked first: awaiting a promise costs as much as an event.
          while (output.isFull) await output.progress;
          signal.throwIfAborted();
          output.update(id, update);
          this.#updates++;
        }
        if (event.type === "reply") this.#keep(event);
      }
    } finally {
      this.#ids ??= turn.ids;
    }
  }

  #keep({ text }: ReplyEvent): void {
    const { transcript } = this.#session;
    this.#hasReplied = true;
    const messageId = this.#messageIds.reply;
    transcript.add({ by: "agent", messageId, text }, this.said);
  }

  /** Sends the response, and after it the title of the session. */
  #answer({ stopReason, error }: PromptEnd): void {
    const { request, content } = this.#options;
    const { gateway, output } = this.#context;
    if (stopReason === "error") {
      request.fail(error);
    } else {
      const { threadId } = this.#session;
      const { runId, requestId } = this.#ids ?? {};
      const _meta = { threadId, runId, requestId };
      request.respond({ stopReason, _meta });
    }
    if (stopReason === "end_turn") {
      this.#session.sendTitle(content.title, output);
      gateway.prepare();
    }
    this.#answered.resolve();
  }
}
