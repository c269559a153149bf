import { traceHeaders } from "../gateway.ts";
import { isJsonObject, quote, shorten } from "../text.ts";
import { ActivePrompt } from "./active_prompt.ts";
import type { BridgeContext } from "./bridge_context.ts";
import {
  AGENTS_LIST_RESULT,
  clientIn,
  INITIALIZE_RESULT,
} from "./capabilities.ts";
import { ClientRequests } from "./client_requests.ts";
import {
  ErrorCode,
  type Incoming,
  invalidParams,
  invalidRequest,
  RpcError,
  type RpcNotification,
  type RpcRequest,
} from "./json_rpc.ts";
import { parsePrompt } from "./prompt_blocks.ts";
import { logReason, toRpcError } from "./service_failure.ts";
import { Sessions } from "./sessions.ts";

const MAX_LOGGED = 100;

/** What a request is answered with. */
interface CallResult {
  readonly result: unknown;
  /** Called when the response is queued. */
  readonly onQueued?: () => void;
}

/**
 * One client's connection. Each request is answered exactly once, in a task of
 * its own, so a slow request does not delay the requests after it.
 */
export class Dispatcher {
  readonly #context: BridgeContext;
  readonly #files: ClientRequests;
  readonly #sessions: Sessions;
  readonly #tasks = new Set<Promise<void>>();
  #isInitialized = false;

  constructor(context: BridgeContext) {
    this.#context = context;
    this.#files = new ClientRequests(context);
    this.#sessions = new Sessions(context);
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
        this.#files.receive(message);
        break;
      case "invalid": {
        const { id, error } = message;
        const { output, log } = this.#context;
        output.fail(id, error);
        log?.(`invalid line: error ${error.code}, ${error.message}`);
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
    this.#files.close();
    while (!this.isIdle) await Promise.all(this.#tasks);
  }

  async #answer(request: RpcRequest): Promise<void> {
    const { id, method } = request;
    const { output, log } = this.#context;
    const started = performance.now();
    const answered = Promise.withResolvers<void>();
    let outcome: string;
    try {
      const answer = await this.#call(request, answered.promise);
      output.respond(id, answer.result);
      answer.onQueued?.();
      outcome = log ? shorten(JSON.stringify(answer.result), MAX_LOGGED) : "";
    } catch (cause) {
      const error = toRpcError(cause, method);
      output.fail(id, error);
      outcome = `error ${error.code}, ${logReason(error)}`;
    }
    answered.resolve();
    log?.(
      `${callOf(request)}: ${outcome}`,
      performance.now() - started,
    );
  }

  /** Calls a method. Up to its first `await` it runs in the order of the requests. */
  async #call(
    request: RpcRequest,
    answered: Promise<void>,
  ): Promise<CallResult> {
    const { method, params } = request;
    const { output } = this.#context;
    const sessions = this.#sessions;
    switch (method) {
      case "initialize":
        this.#isInitialized = true;
        output.client = clientIn(params);
        return { result: INITIALIZE_RESULT };
      case "agents/list":
        return { result: AGENTS_LIST_RESULT };
      case "session/new": {
        this.#requireInitialized(method);
        const { id } = await sessions.create();
        return { result: { sessionId: id } };
      }
      case "session/resume":
      case "session/load": {
        const sessionId = parseSessionId(params);
        this.#requireInitialized(method);
        const session = sessions.open(sessionId);
        this.#context.gateway.prepare();
        if (method === "session/load") await session.replay(output);
        return { result: { sessionId } };
      }
      case "session/prompt":
        return await this.#prompt(request, answered);
      case "session/cancel":
        sessions.cancel(parseSessionId(params));
        return { result: {} };
      case "session/close":
        await sessions.close(parseSessionId(params));
        return { result: {} };
      default:
        throw new RpcError(
          ErrorCode.methodNotFound,
          `Method not found: ${quote(method)}`,
        );
    }
  }

  async #prompt(
    { id, params }: RpcRequest,
    answered: Promise<void>,
  ): Promise<CallResult> {
    const { output } = this.#context;
    const sessionId = parseSessionId(params);
    const { prompt, _meta } = params as Readonly<Record<string, unknown>>;
    const content = parsePrompt(prompt);
    const session = this.#sessions.find(sessionId);
    const active = new ActivePrompt(this.#context, session, {
      id,
      content,
      headers: isJsonObject(_meta) ? traceHeaders(_meta) : {},
      files: output.client.readsFiles ? this.#files : undefined,
      answered,
    });
    const stopReason = await active.run();
    const result = { stopReason };
    if (stopReason !== "end_turn") return { result };
    this.#context.gateway.prepare();
    return { result, onQueued: () => session.sendTitle(content.text, output) };
  }

  /** Notifications are never answered, so errors in one are ignored. */
  #handleNotification(notification: RpcNotification): void {
    const { method, params } = notification;
    const sessionId = sessionIdOf(params);
    this.#context.log?.(`${callOf(notification)}: notification`);
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
