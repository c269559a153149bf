/**
 * Bridge mode: the JSON-RPC methods of interface 4.2, and their sessions.
 *
 * @module
 */

import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
  offersToReadFiles,
  parseSessionId,
  progressFormatter,
  replyUpdate,
  type StopReason,
} from "./acp.ts";
import { readAttachedFiles } from "./attached_files.ts";
import { EditorRequests } from "./editor_requests.ts";
import { isJsonObject } from "../json.ts";
import { type Gateway, isServiceId, type RunEvent } from "../gateway.ts";
import {
  ErrorCode,
  formatMessage,
  type Incoming,
  invalidParams,
  type Notification,
  type Outgoing,
  quote,
  type Request,
  type RequestId,
  type Response,
  RpcError,
} from "./json_rpc.ts";
import { linksIn, parsePrompt, promptText } from "./prompt_text.ts";
import { toRpcError } from "./service_failure.ts";
import { traceHeaders } from "./trace_context.ts";

/** The longest thread id that is used as the id of its session, in characters. */
const MAX_SESSION_ID_LENGTH = 200;

/** How a message was handled, for a log. It contains no prompt and no reply. */
export interface Answered {
  /** `undefined` for a notification, which gets no answer. */
  readonly id?: RequestId;
  /** `undefined` for a line that is not a call. */
  readonly method?: string;
  /** The session that the message names. */
  readonly sessionId?: string | undefined;
  readonly result?: unknown;
  readonly error?: RpcError;
  readonly milliseconds: number;
}

/** How a request to the editor ended, for a log. */
export interface Asked {
  readonly method: string;
  readonly sessionId: string;
  /** `undefined` if none was received in time. */
  readonly response: Response | undefined;
  readonly milliseconds: number;
}

/** How the bridge reaches the editor. */
export interface Peer {
  /** Sends a message at once. */
  send(message: Outgoing): void;
  /**
   * Sends formatted lines, each as soon as the editor has read enough of the
   * earlier ones, until the signal is aborted.
   */
  sendInTurn(lines: Iterable<string>, signal: AbortSignal): Promise<void>;
}

/** Options of a {@linkcode Bridge}. */
export interface BridgeOptions {
  readonly gateway: Gateway;
  readonly peer: Peer;
  /** Called for each message; for a request, after its answer was sent. */
  readonly onAnswered?: ((answered: Answered) => void) | undefined;
  /** Called for each request to the editor, when its outcome is known. */
  readonly onAsked?: ((asked: Asked) => void) | undefined;
}

/** A prompt that has not been answered yet. */
interface Turn {
  readonly sessionId: string;
  readonly controller: AbortController;
  /** Resolved when the session's cancelled prompt before this one has been answered. */
  readonly previousAnswered: Promise<void> | undefined;
  /** Resolved when the prompt has been answered. */
  readonly answered: PromiseWithResolvers<void>;
}

/**
 * One editor's connection. Each request is answered exactly once, in a task of
 * its own, so a slow request does not delay the requests after it.
 */
export class Bridge {
  readonly #gateway: Gateway;
  readonly #peer: Peer;
  readonly #onAnswered: ((answered: Answered) => void) | undefined;
  readonly #onAsked: ((asked: Asked) => void) | undefined;
  readonly #editor: EditorRequests;
  /** The open sessions with their threads. */
  readonly #threads = new Map<string, string>();
  readonly #turns = new Map<Request, Turn>();
  /** The last turn of each session, including sessions that are being closed. */
  readonly #lastTurns = new Map<string, Turn>();
  readonly #tasks = new Set<Promise<void>>();
  #initialized = false;
  #canReadFiles = false;

  constructor(options: BridgeOptions) {
    this.#gateway = options.gateway;
    this.#peer = options.peer;
    this.#onAnswered = options.onAnswered;
    this.#onAsked = options.onAsked;
    this.#editor = new EditorRequests((message) => this.#peer.send(message));
  }

  /**
   * Handles a message of the editor. Everything that depends on the order of the
   * messages is done on return; the answer follows when it is ready.
   */
  receive(message: Incoming): void {
    switch (message.kind) {
      case "request": {
        const task = this.#answer(message)
          .finally(() => this.#tasks.delete(task));
        this.#tasks.add(task);
        break;
      }
      case "notification":
        this.#notice(message);
        break;
      case "response":
        this.#editor.receive(message);
        break;
      case "invalid": {
        const { id, error } = message;
        this.#peer.send({ id, error: error.toObject() });
        this.#onAnswered?.({ id, error, milliseconds: 0 });
        break;
      }
    }
  }

  /** Resolves when every request that was received has been answered. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  /** Handles the end of the input; resolves when every request has been answered. */
  async end(): Promise<void> {
    this.#editor.close();
    await this.idle();
  }

  async #answer(request: Request): Promise<void> {
    const { id, method, params } = request;
    const started = performance.now();
    let outcome: Pick<Answered, "result" | "error">;
    try {
      const result = await this.#call(request);
      this.#peer.send({ id, result });
      outcome = { result };
    } catch (cause) {
      const error = toRpcError(cause);
      this.#peer.send({ id, error: error.toObject() });
      outcome = { error };
    }
    this.#endTurn(request);
    const milliseconds = performance.now() - started;
    const sessionId = sessionIdOf(params);
    this.#onAnswered?.({ id, method, sessionId, milliseconds, ...outcome });
  }

  /** Calls a method. Up to its first `await` it runs in the order of the requests. */
  #call(request: Request): unknown {
    const { method, params } = request;
    switch (method) {
      case "initialize":
        this.#initialized = true;
        this.#canReadFiles = offersToReadFiles(params);
        return INITIALIZE_RESULT;
      case "agents/list":
        return AGENTS_LIST_RESULT;
      case "session/new":
        return this.#newSession();
      case "session/resume":
        return this.#resumeSession(parseSessionId(params));
      case "session/prompt":
        return this.#prompt(request);
      case "session/cancel":
        this.#cancelSession(parseSessionId(params));
        return {};
      case "session/close":
        return this.#closeSession(parseSessionId(params));
      default:
        throw new RpcError(
          ErrorCode.methodNotFound,
          `Method not found: ${quote(method)}`,
        );
    }
  }

  /** Notifications are never answered, so errors in one are ignored. */
  #notice({ method, params }: Notification): void {
    this.#onAnswered?.({
      method,
      sessionId: sessionIdOf(params),
      milliseconds: 0,
    });
    if (!isJsonObject(params)) return;
    if (method === "session/cancel" && typeof params.sessionId === "string") {
      this.#cancelSession(params.sessionId);
    } else if (method === "$/cancel_request") {
      for (const [request, turn] of this.#turns) {
        if (request.id === params.requestId) turn.controller.abort();
      }
    }
  }

  async #newSession(): Promise<{ sessionId: string }> {
    this.#requireInitialized("session/new");
    const threadId = await this.#gateway.createThread();
    const sessionId = this.#canBeSessionId(threadId)
      ? threadId
      : crypto.randomUUID();
    this.#threads.set(sessionId, threadId);
    return { sessionId };
  }

  /** An editor may put a session's id into a file name, a log or a command line. */
  #canBeSessionId(threadId: string): boolean {
    return threadId.length <= MAX_SESSION_ID_LENGTH &&
      /^[\x21-\x7e]+$/.test(threadId) && !this.#threads.has(threadId);
  }

  #resumeSession(sessionId: string): Record<string, never> {
    this.#requireInitialized("session/resume");
    if (!this.#threads.has(sessionId)) {
      if (!isServiceId(sessionId)) {
        throw invalidParams("sessionId cannot be the id of a chat");
      }
      this.#threads.set(sessionId, sessionId);
    }
    return {};
  }

  #requireInitialized(method: string): void {
    if (this.#initialized) return;
    throw new RpcError(
      ErrorCode.invalidRequest,
      `Invalid request: initialize has to come before ${method}`,
    );
  }

  async #prompt(request: Request): Promise<{ stopReason: StopReason }> {
    const sessionId = parseSessionId(request.params);
    const { prompt, _meta } = request.params as Readonly<
      Record<string, unknown>
    >;
    const content = parsePrompt(prompt);
    const threadId = this.#threadOf(sessionId);
    const { controller, previousAnswered } = this.#beginTurn(
      request,
      sessionId,
    );
    const { signal } = controller;
    const formatProgress = progressFormatter(sessionId);
    const format = (event: RunEvent) =>
      event.event === "progress"
        ? formatProgress(event)
        : formatMessage(replyUpdate(sessionId, event.reply));
    try {
      // Awaited only if needed: an await here would change the order in which runs start.
      if (previousAnswered !== undefined) await previousAnswered;
      const links = this.#canReadFiles ? linksIn(content) : [];
      const texts = links.length > 0
        ? await this.#readFiles(links, sessionId, signal)
        : new Map<string, string>();
      signal.throwIfAborted();
      const turn = this.#gateway.runTurn(
        threadId,
        promptText(content, texts),
        { signal, sessionId, headers: traceHeaders(_meta) },
      );
      for await (const events of turn) {
        // Formatted one at a time, when there is room for the line.
        await this.#peer.sendInTurn(events.values().map(format), signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return { stopReason: signal.aborted ? "cancelled" : "end_turn" };
  }

  #readFiles(
    uris: readonly string[],
    sessionId: string,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const method = "fs/read_text_file";
    return readAttachedFiles(uris, {
      signal,
      ask: async (path, signal) => {
        const started = performance.now();
        const response = await this.#editor.ask(
          method,
          { sessionId, path },
          signal,
        );
        const milliseconds = performance.now() - started;
        this.#onAsked?.({ method, sessionId, response, milliseconds });
        return response;
      },
    });
  }

  #cancelSession(sessionId: string): void {
    this.#lastTurns.get(sessionId)?.controller.abort();
  }

  async #closeSession(sessionId: string): Promise<Record<string, never>> {
    this.#threadOf(sessionId);
    this.#threads.delete(sessionId);
    const turn = this.#lastTurns.get(sessionId);
    turn?.controller.abort();
    await turn?.answered.promise;
    return {};
  }

  #threadOf(sessionId: string): string {
    const threadId = this.#threads.get(sessionId);
    if (threadId === undefined) {
      throw new RpcError(
        ErrorCode.resourceNotFound,
        `Session not found: ${quote(sessionId)}`,
      );
    }
    return threadId;
  }

  #beginTurn(request: Request, sessionId: string): Turn {
    const previous = this.#lastTurns.get(sessionId);
    if (previous !== undefined && !previous.controller.signal.aborted) {
      throw new RpcError(
        ErrorCode.invalidRequest,
        "Invalid request: a prompt is running in this session; wait for its answer or cancel it",
      );
    }
    const controller = new AbortController();
    const answered = Promise.withResolvers<void>();
    const turn = {
      sessionId,
      controller,
      previousAnswered: previous?.answered.promise,
      answered,
    };
    this.#turns.set(request, turn);
    this.#lastTurns.set(sessionId, turn);
    return turn;
  }

  #endTurn(request: Request): void {
    const turn = this.#turns.get(request);
    if (turn === undefined) return;
    this.#turns.delete(request);
    const { sessionId } = turn;
    if (this.#lastTurns.get(sessionId) === turn) {
      this.#lastTurns.delete(sessionId);
    }
    turn.answered.resolve();
  }
}

function sessionIdOf(params: unknown): string | undefined {
  return isJsonObject(params) && typeof params.sessionId === "string"
    ? params.sessionId
    : undefined;
}
