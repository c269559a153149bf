import { type Gateway, threadIdFrom } from "../gateway.ts";
import { isServiceId, safe } from "../text.ts";
import { ErrorCode, invalidParams, RpcError } from "./json_rpc.ts";
import { Session } from "./session.ts";
import { Transcripts } from "./transcripts.ts";

/** The longest thread id that is used as the id of its session, in characters. */
export const MAX_ID_LENGTH = 200;

/** How many sessions are remembered, in addition to those that are open. */
const MAX_CLOSED = 10_000;

/** The open sessions, and those that were closed and can be opened again. */
export class Sessions {
  readonly #gateway: Gateway;
  readonly #transcripts = new Transcripts();
  readonly #open = new Map<string, Session>();
  /** In the order in which they were closed. */
  readonly #closed = new Map<string, Session>();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /**
   * The open session of an id.
   *
   * @throws {RpcError} Resource not found, if there is none.
   */
  find(id: string): Session {
    const session = this.#open.get(id);
    if (session !== undefined) return session;
    throw this.#notFound(id);
  }

  /**
   * Opens a session on a new thread. It has the thread's id, if a client may put
   * that into a file name, a log or a command line.
   *
   * @throws {ServiceError} If no thread can be created.
   */
  async create(): Promise<Session> {
    const threadId = await threadIdFrom(this.#gateway.createThread());
    const isUsed = threadId.length <= MAX_ID_LENGTH &&
      /^[\x21-\x7e]+$/.test(threadId) && !this.#open.has(threadId);
    const id = isUsed ? threadId : safe`${crypto.randomUUID()}`;
    const created = { id, threadId, isNew: true };
    return this.#add(new Session(this.#transcripts, created));
  }

  /**
   * Opens a session that existed before, in this process or in an earlier one. One
   * that is open stays as it is.
   *
   * @throws {RpcError} Invalid params, if the id cannot be that of a thread; resource
   * not found, if the service has said that it does not know the thread.
   */
  open(id: string): Session {
    const known = this.#open.get(id) ?? this.#closed.get(id);
    if (known?.isGone) throw this.#notFound(id);
    if (known !== undefined) return this.#add(known);
    if (!isServiceId(id)) {
      throw invalidParams(safe`sessionId cannot be the id of a chat`);
    }
    const resumed = { id, threadId: id, isNew: false };
    return this.#add(new Session(this.#transcripts, resumed));
  }

  cancel(id: string): void {
    this.#open.get(id)?.cancel();
  }

  cancelRequest(requestId: unknown): void {
    for (const session of this.#open.values()) session.cancel(requestId);
  }

  /** Closes a session if it is open; resolves when its prompt has been answered. */
  async close(id: string): Promise<void> {
    const session = this.#open.get(id);
    if (session === undefined) return;
    this.#open.delete(id);
    this.#closed.set(id, session);
    for (const oldest of this.#closed.keys()) {
      if (this.#closed.size <= MAX_CLOSED) break;
      this.#closed.delete(oldest);
    }
    await session.close();
  }

  #notFound(id: string): RpcError {
    const name = this.#gateway.redactor.quote(id);
    const message = safe`Session not found: ${name}`;
    return new RpcError(ErrorCode.resourceNotFound, message);
  }

  #add(session: Session): Session {
    this.#closed.delete(session.id);
    this.#open.set(session.id, session);
    return session;
  }
}
