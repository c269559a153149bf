import { membersOf, safe } from "../text.ts";
import type { BridgeContext } from "./bridge_context.ts";
import {
  AGENTS_LIST_RESULT,
  clientIn,
  INITIALIZE_RESULT,
} from "./capabilities.ts";
import {
  ErrorCode,
  type Incoming,
  invalidParams,
  invalidRequest,
  RpcError,
  type RpcNotification,
  type RpcRequest,
} from "./json_rpc.ts";
import { callOf, OpenRequest, sessionIdOf } from "./open_request.ts";
import { SessionPrompt } from "./session_prompt.ts";
import { Sessions } from "./sessions.ts";

/**
 * One client's connection. Each request is answered exactly once, in a task of
 * its own, so a slow request does not delay the requests after it.
 */
export class Dispatcher {
  readonly #context: BridgeContext;
  readonly #sessions: Sessions;
  readonly #tasks = new Set<Promise<void>>();
  #isInitialized = false;

  constructor(context: BridgeContext) {
    this.#context = context;
    this.#sessions = new Sessions(context.gateway);
  }

  /**
   * Handles a message of the client. Sessions and cancellations change before it
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
        this.#handleNotification(message);
        break;
      case "response":
        this.#context.requests.receive(message);
        break;
      case "invalid": {
        const { id, error } = message;
        const { output, log } = this.#context;
        output.fail(id, error);
        log?.(safe`invalid line: error ${error.code}, ${error.message}`);
        break;
      }
      default:
        message satisfies never;
    }
  }

  /** Whether every request has been answered. */
  get isIdle(): boolean {
    return this.#tasks.size === 0;
  }

  /** Handles the end of the input; resolves when every request has been answered. */
  async end(): Promise<void> {
    this.#context.requests.close();
    await Promise.all(this.#tasks);
  }

  async #answer(request: RpcRequest): Promise<void> {
    const open = new OpenRequest(this.#context, request);
    try {
      if (request.method === "session/prompt") {
        const session = this.#sessions.find(parseSessionId(request.params));
        // It answers the request itself.
        await session.run(new SessionPrompt(this.#context, session, open));
      } else open.respond(await this.#call(request));
    } catch (error) {
      open.fail(error);
    }
  }

  /** Calls a method. Up to its first `await` it runs in the order of the requests. */
  async #call({ method, params }: RpcRequest): Promise<unknown> {
    const { gateway: { redactor }, output } = this.#context;
    const sessions = this.#sessions;
    switch (method) {
      case "initialize":
        this.#isInitialized = true;
        output.client = clientIn(params);
        return INITIALIZE_RESULT;
      case "agents/list":
        return AGENTS_LIST_RESULT;
      case "session/new": {
        this.#requireInitialized(method);
        const { id } = await sessions.create();
        return { sessionId: id };
      }
      case "session/resume":
      case "session/load": {
        const sessionId = parseSessionId(params);
        this.#requireInitialized(method);
        const session = sessions.open(sessionId);
        this.#context.gateway.prepare();
        if (method === "session/load") await session.replay(output);
        return { sessionId };
      }
      case "session/cancel":
        sessions.cancel(parseSessionId(params));
        return {};
      case "session/close":
        await sessions.close(parseSessionId(params));
        return {};
      default:
        throw new RpcError(
          ErrorCode.methodNotFound,
          safe`Method not found: ${redactor.quote(method)}`,
        );
    }
  }

  /** Notifications are never answered, so errors in one are ignored. */
  #handleNotification(notification: RpcNotification): void {
    const { method, params } = notification;
    const sessionId = sessionIdOf(params);
    const { gateway: { redactor }, log } = this.#context;
    log?.(safe`${callOf(notification, redactor)}: notification`);
    const { requestId } = membersOf(params);
    if (method === "session/cancel" && sessionId !== undefined) {
      this.#sessions.cancel(sessionId);
    } else if (method === "$/cancel_request" && requestId !== undefined) {
      this.#sessions.cancelRequest(requestId);
    }
  }

  #requireInitialized(method: `session/${"new" | "resume" | "load"}`): void {
    if (this.#isInitialized) return;
    throw invalidRequest(safe`call initialize before ${method}`);
  }
}

/**
 * The session id in a method's params.
 *
 * @throws {RpcError} Invalid params, if there is none.
 */
function parseSessionId(params: unknown): string {
  const id = sessionIdOf(params);
  if (id === undefined) throw invalidParams(safe`sessionId is not a string`);
  return id;
}
