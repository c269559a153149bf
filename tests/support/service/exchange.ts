/** The part of a recorded request that is known on arrival. */
type Arrival = Omit<RecordedRequest, "status" | "ended">;

/** A request that reached the service, and its outcome. */
export type RecordedRequest = Readonly<
  Omit<Exchange, "gone" | "drop" | "deliver">
>;

/** A recorded request that is being answered. */
export class Exchange {
  /** `undefined` if no operation has this method and path. */
  readonly operation: Operation | undefined;
  readonly method: string;
  /** Path and query as they arrived, still percent-encoded. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  /** The client's address and port, as `host:port`. */
  readonly connection: string;
  /** The status of the answer; `undefined` until it is sent. */
  status: number | undefined = undefined;

  readonly #ended = Promise.withResolvers<Ending>();
  readonly #gone = new AbortController();

  constructor(arrival: Arrival) {
    this.operation = arrival.operation;
    this.method = arrival.method;
    this.path = arrival.path;
    this.headers = arrival.headers;
    this.body = arrival.body;
    this.connection = arrival.connection;
  }

  /** Settles when the answer has ended, never rejects. */
  get ended(): Promise<Ending> {
    return this.#ended.promise;
  }

  /** Aborted by {@linkcode drop}. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Aborts the answer, because the client is gone. */
  drop(): void {
    this.#ended.resolve("dropped");
    this.#gone.abort();
  }

  /**
   * Passes the answer on, and records how it ends.
   *
   * @param delivered Settles when the server is done with the answer.
   */
  deliver(response: Response, delivered: Promise<void>): Response {
    this.status = response.status;
    delivered.catch(() => {}); // It rejects after a reader that is gone, too.
    const done = () =>
      delivered.then(
        () => this.#ended.resolve("complete"),
        () => this.drop(),
      );
    if (!response.body) {
      done();
      return response;
    }
    return new Response(this.#watch(response.body, done), response);
  }

  #watch(
    body: ReadableStream<Uint8Array>,
    done: () => void,
  ): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const { done: last, value } = await reader.read();
          if (!last) return controller.enqueue(value);
          controller.close();
          done();
        } catch (error) {
          this.#ended.resolve("broken");
          controller.error(error);
        }
      },
      cancel: async (reason) => {
        this.drop();
        await reader.cancel(reason);
      },
    }, { highWaterMark: 0 });
  }
}

/** One of the three operations that the service offers. */
export type Operation = "create thread" | "create run" | "stream";

/**
 * How an answer ended: sent completely; dropped because the client (or the
 * service) was gone first; or broken off by the service on purpose.
 */
export type Ending = "complete" | "dropped" | "broken";
