import { threadIdFrom } from "../gateway.ts";
import { isServiceId, quote } from "../text.ts";
import type { BridgeOptions } from "./bridge_options.ts";
import type { Offers } from "./capabilities.ts";
import {
  ErrorCode,
  invalidParams,
  invalidRequest,
  type RequestId,
  RpcError,
} from "./json_rpc.ts";
import { Transcript, Transcripts } from "./transcripts.ts";

/** The longest thread id that is used as the id of its session, in characters. */
const MAX_ID_LENGTH = 200;

const MAX_CLOSED = 10_000;

/** What a prompt in a session has to wait for and to watch. */
export interface Turn {
  readonly signal: AbortSignal;
  /** Resolves when the cancelled prompt before this one is answered, if there was one. */
  readonly previous: Promise<void> | undefined;
}

/** A conversation: its thread at the service, its text, the prompt that is running. */
export class Session {
  readonly id: string;
  readonly threadId: string;
  readonly transcript: Transcript;
  /** Whether the service has said that it does not know the thread. */
  isGone = false;
  #last:
    | {
      readonly requestId: RequestId;
      readonly controller: AbortController;
      readonly answered: Promise<void>;
    }
    | undefined;

  constructor(id: string, threadId: string, transcript: Transcript) {
    this.id = id;
    this.threadId = threadId;
    this.transcript = transcript;
  }

  /**
   * Begins a prompt.
   *
   * @param answered Resolves when the prompt has been answered.
   * @throws {RpcError} Invalid request, if another one is running.
   */
  begin(requestId: RequestId, answered: Promise<void>): Turn {
    if (this.#last?.controller.signal.aborted === false) {
      throw invalidRequest(
        "a prompt is running in this chat; wait for its answer or cancel it",
      );
    }
    const previous = this.#last?.answered;
    const controller = new AbortController();
    const last = this.#last = { requestId, controller, answered };
    answered.then(() => {
      if (this.#last === last) this.#last = undefined;
    });
    return { signal: controller.signal, previous };
  }

  /** Cancels the prompt that is running; with an id, only the one of that request. */
  cancel(requestId?: unknown): void {
    if (requestId === undefined || this.#last?.requestId === requestId) {
      this.#last?.controller.abort();
    }
  }

  async close(): Promise<void> {
    this.cancel();
    await this.#last?.answered;
  }
}

/** The open sessions, and those that were closed and can be opened again. */
export class Sessions {
  readonly #options: BridgeOptions;
  readonly #transcripts = new Transcripts();
  readonly #open = new Map<string, Session>();
  /** In the order in which they were closed. */
  readonly #closed = new Map<string, Session>();

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /**
   * The open session of an id.
   *
   * @throws {RpcError} Resource not found, if there is none.
   */
  find(id: string): Session {
    const session = this.#open.get(id);
    if (session !== undefined) return session;
    throw notFound(id);
  }

  /**
   * Opens a session on a new thread. It has the thread's id, if an editor may put
   * that into a file name, a log or a command line.
   *
   * @throws {ServiceError} If no thread can be created.
   */
  async create(): Promise<Session> {
    const { gateway } = this.#options;
    const threadId = await threadIdFrom(gateway.createThread());
    const isUsed = threadId.length <= MAX_ID_LENGTH &&
      /^[\x21-\x7e]+$/.test(threadId) && !this.#open.has(threadId);
    const id = isUsed ? threadId : crypto.randomUUID();
    return this.#add(
      this.#closed.get(id) ??
        new Session(id, threadId, new Transcript(this.#transcripts, false)),
    );
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
    if (known === undefined && !isServiceId(id)) {
      throw invalidParams("sessionId cannot be the id of a chat");
    }
    if (known?.isGone) throw notFound(id);
    return this.#add(
      known ??
        new Session(id, id, new Transcript(this.#transcripts, true)),
    );
  }

  async replay({ id, transcript }: Session, offers: Offers): Promise<void> {
    for (const line of transcript.lines(id, offers)) {
      await this.#options.peer.sendInTurn(line);
    }
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

  #add(session: Session): Session {
    this.#closed.delete(session.id);
    this.#open.set(session.id, session);
    return session;
  }
}

function notFound(id: string): RpcError {
  const message = `Session not found: ${quote(id)}`;
  return new RpcError(ErrorCode.resourceNotFound, message);
}
