/** One of the three operations that the service offers. */
export type Operation = "create thread" | "create run" | "stream";

/**
 * How an answer ended: sent completely; dropped because the client (or the
 * service) was gone first; or broken off by the service on purpose.
 */
export type Ending = "complete" | "dropped" | "broken";

/** A request that reached the service, and its outcome. */
export interface RecordedRequest {
  /** `undefined` if no operation has this method and path. */
  readonly operation: Operation | undefined;
  readonly method: string;
  /** Path and query as they arrived, still percent-encoded. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  /** The client's end of the connection, `host:port`. */
  readonly connection: string;
  /** When the request had arrived, in the milliseconds of `performance.now()`. */
  readonly at: number;
  /** The status of the answer, once it was sent. */
  readonly status: number | undefined;
  /** Settles when the answer has ended, never rejects. */
  readonly ended: Promise<Ending>;
}
