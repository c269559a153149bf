/**
 * Bridge mode: the JSON-RPC methods of interface 4.2.
 *
 * @module
 */

import { traceHeaders } from "../gateway.ts";
import { isJsonObject, quote } from "../text.ts";
import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
  offersToReadFiles,
} from "./capabilities.ts";
import { EditorRequests } from "./editor_requests.ts";
import {
  ErrorCode,
  type Incoming,
  invalidParams,
  invalidRequest,
  RpcError,
  type RpcNotification,
  type RpcRequest,
} from "./json_rpc.ts";
import type { BridgeOptions } from "./peer.ts";
import { runPrompt, type StopReason } from "./prompt.ts";
import { parsePrompt } from "./prompt_blocks.ts";
import { toRpcError } from "./service_failure.ts";
import { type Session, Sessions } from "./session.ts";
import { messageLine } from "./session_updates.ts";
import type { Said } from "./transcripts.ts";
import type { Answered } from "./verbose_log.ts";

/** The result of the methods that only have an effect. */
const EMPTY: Readonly<Record<string, never>> = {};

/**
 * One editor's connection. Each request is answered exactly once, in a task of
 * its own, so a slow request does not delay the requests after it.
 */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #editor: EditorRequests;
  readonly #sessions = new Sessions();
  readonly #tasks = new Set<Promise<void>>();
  #isInitialized = false;
  #canReadFiles = false;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#editor = new EditorRequests(options);
  }

  /**
   * Handles a message of the editor. Sessions and cancellations change before it
   * returns, so messages take effect in their order; answers follow later.
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
        this.#options.peer.send({ id, error: error.toObject() });
        this.#options.log?.answered({ id, error, milliseconds: 0 });
        break;
      }
      default:
        message satisfies never;
    }
  }

  /** Handles the end of the input; resolves when every request has been answered. */
  async end(): Promise<void> {
    this.#editor.close();
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  async #answer(request: RpcRequest): Promise<void> {
    const { id, method, params } = request;
    const { peer, log } = this.#options;
    const started = performance.now();
    const answered = Promise.withResolvers<void>();
    let outcome: Pick<Answered, "result" | "error">;
    try {
      const result = await this.#call(request, answered.promise);
      peer.send({ id, result });
      outcome = { result };
    } catch (cause) {
      const code = method === "session/new"
        ? ErrorCode.cannotOpenSession
        : ErrorCode.internalError;
      const error = toRpcError(cause, code);
      peer.send({ id, error: error.toObject() });
      outcome = { error };
    }
    answered.resolve();
    const milliseconds = performance.now() - started;
    const sessionId = sessionIdOf(params);
    log?.answered({ id, method, sessionId, milliseconds, ...outcome });
  }

  /** Calls a method. Up to its first `await` it runs in the order of the requests. */
  #call(request: RpcRequest, answered: Promise<void>): unknown {
    const { method, params } = request;
    switch (method) {
      case "initialize":
        this.#isInitialized = true;
        this.#canReadFiles = offersToReadFiles(params);
        return INITIALIZE_RESULT;
      case "agents/list":
        return AGENTS_LIST_RESULT;
      case "session/new":
        return this.#newSession();
      case "session/resume":
        this.#openSession(request);
        return EMPTY;
      case "session/load":
        return this.#loadSession(this.#openSession(request));
      case "session/prompt":
        return this.#prompt(request, answered);
      case "session/cancel":
        this.#sessions.get(parseSessionId(params))?.cancel();
        return EMPTY;
      case "session/close":
        return this.#sessions.close(parseSessionId(params)).then(() => EMPTY);
      default:
        throw new RpcError(
          ErrorCode.methodNotFound,
          `Method not found: ${quote(method)}`,
        );
    }
  }

  /** Notifications are never answered, so errors in one are ignored. */
  #notice({ method, params }: RpcNotification): void {
    this.#options.log?.answered({
      method,
      sessionId: sessionIdOf(params),
      milliseconds: 0,
    });
    if (!isJsonObject(params)) return;
    if (method === "session/cancel" && typeof params.sessionId === "string") {
      this.#sessions.get(params.sessionId)?.cancel();
    } else if (
      method === "$/cancel_request" && params.requestId !== undefined
    ) {
      this.#sessions.cancel(params.requestId);
    }
  }

  async #newSession(): Promise<{ sessionId: string }> {
    this.#requireInitialized("session/new");
    const { id } = this.#sessions.create(await this.#createThread());
    return { sessionId: id };
  }

  async #createThread(): Promise<string> {
    for await (const events of this.#options.gateway.createThread()) {
      for (const event of events) {
        switch (event.type) {
          case "thread":
            return event.threadId;
          case "wait":
            break;
          default:
            event satisfies never;
        }
      }
    }
    throw new Error("no thread came");
  }

  #openSession({ method, params }: RpcRequest): Session {
    const id = parseSessionId(params);
    this.#requireInitialized(method);
    return this.#sessions.open(id);
  }

  /** Sends what is known of a conversation again. */
  async #loadSession(
    { id, transcript }: Session,
  ): Promise<Readonly<Record<string, never>>> {
    const lines = transcript.shown.values().map((said) =>
      messageLine(id, said)
    );
    await this.#options.peer.sendInTurn(lines);
    return EMPTY;
  }

  #requireInitialized(method: string): void {
    if (this.#isInitialized) return;
    throw invalidRequest(`initialize has to come before ${method}`);
  }

  async #prompt(
    { id, params }: RpcRequest,
    answered: Promise<void>,
  ): Promise<{ stopReason: StopReason }> {
    const sessionId = parseSessionId(params);
    const { prompt, _meta } = params as Readonly<Record<string, unknown>>;
    const content = parsePrompt(prompt);
    const session = this.#session(sessionId);
    const turn = session.begin(id, answered);
    const keep = (said: Said) =>
      this.#sessions.transcripts.add(session.transcript, said);
    const messageId = crypto.randomUUID();
    keep({ by: "user", messageId, text: content.text });
    const stopReason = await runPrompt(this.#options, {
      session,
      turn,
      content,
      headers: isJsonObject(_meta) ? traceHeaders(_meta) : {},
      editor: this.#canReadFiles ? this.#editor : undefined,
      keep,
    });
    return { stopReason };
  }

  #session(id: string): Session {
    const session = this.#sessions.get(id);
    if (session !== undefined) return session;
    throw new RpcError(
      ErrorCode.resourceNotFound,
      `Session not found: ${quote(id)}`,
    );
  }
}

/** The session id in a method's params, if there is one. */
function sessionIdOf(params: unknown): string | undefined {
  return isJsonObject(params) && typeof params.sessionId === "string"
    ? params.sessionId
    : undefined;
}

/**
 * The session id in a method's params.
 *
 * @throws {RpcError} Invalid params, if there is none.
 */
function parseSessionId(params: unknown): string {
  const id = sessionIdOf(params);
  if (id === undefined) throw invalidParams("sessionId is not a string");
  return id;
}
