import type { CallEvents, CallIds, TurnEvent } from "../gateway.ts";
import { byteLength } from "../text.ts";
import { readAttachedFiles } from "./attached_files.ts";
import type { BridgeContext } from "./bridge_context.ts";
import type { RequestId } from "./json_rpc.ts";
import type { OpenRequest } from "./open_request.ts";
import { linksIn, type PromptContent, promptText } from "./prompt_blocks.ts";
import { isGone } from "./service_failure.ts";
import type { AcceptedPrompt, Session } from "./session.ts";
import { updatesFor } from "./session_updates.ts";

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

/** A prompt of a session, from its request to its response. */
export class SessionPrompt implements AcceptedPrompt {
  readonly #context: BridgeContext;
  readonly #session: Session;
  readonly #options: SessionPromptOptions;
  readonly #controller = new AbortController();
  readonly #messageIds = {
    thoughts: crypto.randomUUID(),
    reply: crypto.randomUUID(),
  };
  /** Its number in the conversation. */
  #turn = 0;
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
  }

  get requestId(): RequestId {
    return this.#options.request.id;
  }

  get bytes(): number {
    return byteLength(promptText(this.#options.content, new Map()));
  }

  cancel(): void {
    this.#controller.abort();
  }

  /**
   * Runs it after the prompts before it, sends its updates (one for each progress event,
   * and one for the reply: interface 6), and answers it. If it is cancelled before it
   * begins, it is answered at once, and nothing is sent. It never rejects.
   */
  async run(before: Promise<void>): Promise<void> {
    const { text } = this.#options.content;
    const messageId = crypto.randomUUID();
    const { transcript } = this.#session;
    this.#turn = transcript.add({ by: "user", messageId, text });
    const end = await this.#follow(before);
    await this.#context.output.keepDistance(this.#updates);
    this.#answer(end);
  }

  async #follow(before: Promise<void>): Promise<PromptEnd> {
    const session = this.#session;
    const { content, headers } = this.#options;
    const { signal } = this.#controller;
    try {
      await Promise.race([before, aborted(signal)]);
      signal.throwIfAborted();
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
    const { id, transcript } = this.#session;
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
        if (event.type === "reply") {
          this.#hasReplied = true;
          const messageId = this.#messageIds.reply;
          const said = { by: "agent", messageId, text: event.text } as const;
          transcript.add(said, this.#turn);
        }
      }
    } finally {
      this.#ids ??= turn.ids;
    }
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
  }
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener("abort", resolve));
}
