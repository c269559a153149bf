/**
 * Bridge mode: the JSON-RPC methods of interface 4.2, and the sessions behind
 * them.
 *
 * @module
 */

import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
  parsePrompt,
  parseSessionId,
  progressFormatter,
  replyUpdate,
  type StopReason,
} from "./acp.ts";
import { isJsonObject } from "../json.ts";
import type { Gateway } from "../gateway.ts";
import {
  ErrorCode,
  formatMessage,
  type Incoming,
  type Notification,
  type Outgoing,
  quote,
  type Request,
  type RequestId,
  RpcError,
} from "./json_rpc.ts";
import type { RunEvent } from "../gateway.ts";
import { ServiceError } from "../gateway.ts";

/** What became of a message, for a log: no prompt and no reply in it. */
export interface Answered {
  /** `undefined` for a notification, which gets no answer. */
  readonly id?: RequestId;
  /** `undefined` for a line that is no call. */
  readonly method?: string;
  /** The session that it is about. */
  readonly sessionId?: string | undefined;
  readonly result?: unknown;
  readonly error?: RpcError;
  readonly milliseconds: number;
}

/** How the bridge reaches the editor. */
export interface Peer {
  /** Sends a message at once. */
  send(message: Outgoing): void;
  /**
   * Sends messages that are lines already, each as soon as the editor has read
   * enough of the earlier ones, until the signal is aborted.
   */
  sendInTurn(lines: Iterable<string>, signal: AbortSignal): Promise<void>;
}

/** Options of a {@linkcode Bridge}. */
export interface BridgeOptions {
  readonly gateway: Gateway;
  readonly peer: Peer;
  /** Called for each message, after its answer was sent if it gets one. */
  readonly onAnswered?: ((answered: Answered) => void) | undefined;
}

interface Session {
  readonly threadId: string;
  turn: Turn | undefined;
}

/** A prompt that has not been answered yet. */
interface Turn {
  readonly session: Session;
  readonly controller: AbortController;
  /** Resolved when the prompt has been answered. */
  readonly answered: PromiseWithResolvers<void>;
}

/**
 * One editor's connection. Each request is answered exactly once, in a task of
 * its own: nothing that takes long delays what comes after it.
 */
export class Bridge {
  readonly #gateway: Gateway;
  readonly #peer: Peer;
  readonly #onAnswered: ((answered: Answered) => void) | undefined;
  readonly #sessions = new Map<string, Session>();
  readonly #turns = new Map<Request, Turn>();
  readonly #tasks = new Set<Promise<void>>();
  #initialized = false;

  constructor(options: BridgeOptions) {
    this.#gateway = options.gateway;
    this.#peer = options.peer;
    this.#onAnswered = options.onAnswered;
  }

  /**
   * Takes a message of the editor. What depends on the order of the messages is
   * done on return; the answer follows when there is one.
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
        return INITIALIZE_RESULT;
      case "agents/list":
        return AGENTS_LIST_RESULT;
      case "session/new":
        return this.#newSession();
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

  /** Notifications are never answered, so what is wrong with one is passed over. */
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
    if (!this.#initialized) {
      throw new RpcError(
        ErrorCode.invalidRequest,
        "Invalid request: initialize has to come before session/new",
      );
    }
    const threadId = await this.#gateway.createThread();
    const sessionId = crypto.randomUUID();
    this.#sessions.set(sessionId, { threadId, turn: undefined });
    return { sessionId };
  }

  async #prompt(request: Request): Promise<{ stopReason: StopReason }> {
    const { sessionId, text, traceHeaders } = parsePrompt(request.params);
    const session = this.#session(sessionId);
    const { signal } = this.#beginTurn(request, session);
    const formatProgress = progressFormatter(sessionId);
    const format = (event: RunEvent) =>
      event.event === "progress"
        ? formatProgress(event)
        : formatMessage(replyUpdate(sessionId, event.reply));
    try {
      const turn = this.#gateway.runTurn(session.threadId, text, {
        signal,
        headers: traceHeaders,
      });
      for await (const events of turn) {
        // Formatted one by one, as there is room for them.
        await this.#peer.sendInTurn(events.values().map(format), signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return { stopReason: signal.aborted ? "cancelled" : "end_turn" };
  }

  #cancelSession(sessionId: string): void {
    this.#sessions.get(sessionId)?.turn?.controller.abort();
  }

  async #closeSession(sessionId: string): Promise<Record<string, never>> {
    const { turn } = this.#session(sessionId);
    this.#sessions.delete(sessionId);
    turn?.controller.abort();
    await turn?.answered.promise;
    return {};
  }

  #session(sessionId: string): Session {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) {
      throw new RpcError(
        ErrorCode.resourceNotFound,
        `Session not found: ${quote(sessionId)}`,
      );
    }
    return session;
  }

  #beginTurn(request: Request, session: Session): AbortController {
    if (session.turn !== undefined) {
      throw new RpcError(
        ErrorCode.invalidRequest,
        "Invalid request: a prompt is running in this session; wait for its answer or cancel it",
      );
    }
    const controller = new AbortController();
    const answered = Promise.withResolvers<void>();
    session.turn = { session, controller, answered };
    this.#turns.set(request, session.turn);
    return controller;
  }

  #endTurn(request: Request): void {
    const turn = this.#turns.get(request);
    if (turn === undefined) return;
    this.#turns.delete(request);
    turn.session.turn = undefined;
    turn.answered.resolve();
  }
}

function sessionIdOf(params: unknown): string | undefined {
  return isJsonObject(params) && typeof params.sessionId === "string"
    ? params.sessionId
    : undefined;
}

function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof ServiceError) {
    const { operation, status } = error;
    return new RpcError(
      error.keyRejected ? ErrorCode.authRequired : ErrorCode.internalError,
      error.message,
      {
        cause: error,
        data: status === undefined ? { operation } : { operation, status },
      },
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new RpcError(ErrorCode.internalError, `Internal error: ${reason}`, {
    cause: error,
  });
}
