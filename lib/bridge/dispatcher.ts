import { isJsonObject, quote } from "../text.ts";
import type { BridgeOptions } from "./bridge_options.ts";
import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
  NO_OFFERS,
  type Offers,
  offersIn,
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
import { runPrompt } from "./prompt.ts";
import { logReason, toRpcError } from "./service_failure.ts";
import { Sessions } from "./sessions.ts";

const MAX_LOGGED = 100;

/**
 * One editor's connection. Each request is answered exactly once, in a task of
 * its own, so a slow request does not delay the requests after it.
 */
export class Dispatcher {
  readonly #options: BridgeOptions;
  readonly #editor: EditorRequests;
  readonly #sessions: Sessions;
  readonly #tasks = new Set<Promise<void>>();
  #isInitialized = false;
  #offers: Offers = NO_OFFERS;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#editor = new EditorRequests(options);
    this.#sessions = new Sessions(options);
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
        const { peer, log } = this.#options;
        peer.send({ id, error: error.toObject() });
        log?.(`invalid line: error ${error.code}, ${error.message}`);
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
    const { id, method } = request;
    const { peer, log } = this.#options;
    const started = performance.now();
    const answered = Promise.withResolvers<void>();
    let outcome: string;
    try {
      const result = await this.#call(request, answered.promise) ?? {};
      peer.send({ id, result });
      outcome = log ? JSON.stringify(result).slice(0, MAX_LOGGED) : "";
    } catch (cause) {
      const error = toRpcError(cause, method);
      peer.send({ id, error: error.toObject() });
      outcome = `error ${error.code}, ${logReason(error)}`;
    }
    answered.resolve();
    log?.(
      `${callOf(request)}: ${outcome}`,
      performance.now() - started,
    );
  }

  /** Calls a method. Up to its first `await` it runs in the order of the requests. */
  #call(
    { id, method, params }: RpcRequest,
    answered: Promise<void>,
  ): unknown {
    const sessions = this.#sessions;
    switch (method) {
      case "initialize":
        this.#isInitialized = true;
        this.#offers = offersIn(params);
        return INITIALIZE_RESULT;
      case "agents/list":
        return AGENTS_LIST_RESULT;
      case "session/new":
        this.#requireInitialized(method);
        return sessions.create().then((session) => ({ sessionId: session.id }));
      case "session/resume":
      case "session/load": {
        const sessionId = parseSessionId(params);
        this.#requireInitialized(method);
        const session = sessions.open(sessionId);
        return method === "session/load"
          ? sessions.replay(session, this.#offers)
          : undefined;
      }
      case "session/prompt": {
        const sessionId = parseSessionId(params);
        const { readsFiles, showsNotices } = this.#offers;
        const editor = readsFiles ? this.#editor : undefined;
        const { prompt, _meta } = params as Readonly<Record<string, unknown>>;
        const request = { id, prompt, _meta, answered, sessionId, sessions };
        return runPrompt(this.#options, { ...request, editor, showsNotices });
      }
      case "session/cancel":
        return sessions.cancel(parseSessionId(params));
      case "session/close":
        return sessions.close(parseSessionId(params));
      default:
        throw new RpcError(
          ErrorCode.methodNotFound,
          `Method not found: ${quote(method)}`,
        );
    }
  }

  /** Notifications are never answered, so errors in one are ignored. */
  #notice(notification: RpcNotification): void {
    const { method, params } = notification;
    const sessionId = sessionIdOf(params);
    this.#options.log?.(`${callOf(notification)}: notification`);
    const requestId = isJsonObject(params) ? params.requestId : undefined;
    if (method === "session/cancel" && sessionId !== undefined) {
      this.#sessions.cancel(sessionId);
    } else if (method === "$/cancel_request" && requestId !== undefined) {
      this.#sessions.cancelRequest(requestId);
    }
  }

  #requireInitialized(method: string): void {
    if (this.#isInitialized) return;
    throw invalidRequest(`call initialize before ${method}`);
  }
}

/** A call in the log: its method, its id and the session that it names. */
function callOf(call: RpcRequest | RpcNotification): string {
  const id = call.kind === "request" ? ` id=${JSON.stringify(call.id)}` : "";
  const sessionId = sessionIdOf(call.params);
  const session = sessionId === undefined ? "" : ` session=${sessionId}`;
  return `${call.method}${id}${session}`;
}

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
