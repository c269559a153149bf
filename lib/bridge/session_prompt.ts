import {
  type CallEvents,
  type CallIds,
  traceHeaders,
  type TurnEvent,
} from "../gateway.ts";
import { byteLength, membersOf } from "../text.ts";
import { readAttachedFiles } from "./attached_files.ts";
import type { BridgeContext } from "./bridge_context.ts";
import type { RequestId } from "./json_rpc.ts";
import type { OpenRequest } from "./open_request.ts";
import {
  linksIn,
  parsePrompt,
  type PromptContent,
  promptText,
} from "./prompt_blocks.ts";
import { isGone } from "./service_failure.ts";
import type { AcceptedPrompt, Session } from "./session.ts";
import { updatesFor } from "./session_updates.ts";

/** A prompt of a session, from its request to its response. */
export class SessionPrompt implements AcceptedPrompt {
  readonly #context: BridgeContext;
  readonly #session: Session;
  readonly #request: OpenRequest;
  readonly #content: PromptContent;
  readonly #controller = new AbortController();
  readonly #messageIds = {
    // In one piece, because each progress event repeats it.
    thoughts: [...crypto.randomUUID()].join(""),
    reply: crypto.randomUUID(),
  };
  /** Its number in the conversation. */
  #turn = 0;
  #hasReplied = false;
  /** How many updates were sent. */
  #updates = 0;
  /** The ids of the run and of the request that started it. */
  #ids: CallIds | undefined;

  /** @throws {RpcError} Invalid params, if the request has no prompt. */
  constructor(
    context: BridgeContext,
    session: Session,
    request: OpenRequest,
  ) {
    this.#context = context;
    this.#session = session;
    this.#request = request;
    const { prompt } = membersOf(request.call.params);
    this.#content = parsePrompt(prompt, context.gateway.redactor);
  }

  get requestId(): RequestId {
    return this.#request.call.id;
  }

  get bytes(): number {
    return byteLength(promptText(this.#content, new Map()));
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
    const { text } = this.#content;
    const messageId = crypto.randomUUID();
    const { transcript } = this.#session;
    this.#turn = transcript.add({ by: "user", messageId, text });
    const [end] = await Promise.allSettled([this.#follow(before)]);
    await this.#context.output.keepDistance(this.#updates);
    if (end.status === "fulfilled") this.#respond(end.value);
    else this.#request.fail(end.reason);
  }

  async #follow(before: Promise<void>): Promise<"end_turn" | "cancelled"> {
    const session = this.#session;
    const { signal } = this.#controller;
    try {
      await Promise.race([before, aborted(signal)]);
      signal.throwIfAborted();
      const text = promptText(this.#content, await this.#readFiles());
      signal.throwIfAborted();
      const { _meta } = membersOf(this.#request.call.params);
      const headers = traceHeaders(membersOf(_meta));
      const options = { signal, sessionId: session.id, headers };
      const { gateway } = this.#context;
      await this.#show(gateway.runTurn(session.threadId, text, options));
      session.isGone = false;
      return "end_turn";
    } catch (error) {
      if (this.#hasReplied) return "end_turn";
      if (signal.aborted) return "cancelled";
      if (isGone(error)) session.isGone = true;
      throw error;
    }
  }

  /** The texts of the linked files by their URIs. */
  async #readFiles(): Promise<ReadonlyMap<string, string>> {
    const { requests, output } = this.#context;
    if (!output.client.readsFiles) return new Map();
    const sessionId = this.#session.id;
    return await readAttachedFiles(linksIn(this.#content), {
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
        // Now: the request that follows the run has another id.
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
  #respond(stopReason: "end_turn" | "cancelled"): void {
    const { threadId } = this.#session;
    const { runId, requestId } = this.#ids ?? {};
    const _meta = { threadId, runId, requestId };
    this.#request.respond({ stopReason, _meta });
    if (stopReason === "cancelled") return;
    const { gateway, output } = this.#context;
    this.#session.sendTitle(this.#content.title, output);
    gateway.prepare();
  }
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener("abort", resolve));
}
