import type { Operation } from "./service/recorded_request.ts";
import {
  type RawConnection,
  type RawRequest,
  RawServer,
} from "./service/raw_server.ts";
import { complete, encodeItem } from "./service/stream_events.ts";
import { QUIET_HOST } from "./unreachable.ts";

/** What a service does with a request in place of an answer. */
export type Play = (
  connection: RawConnection,
  request: RawRequest,
) => void | Promise<void>;

/** Says this, and closes the connection. */
export function say(bytes: string | Uint8Array): Play {
  return (connection) => connection.write(bytes);
}

/** How a {@linkcode FaultyService} behaves. */
export interface FaultyServiceOptions {
  readonly at: Operation;
  /** Played for these requests of the operation, the first being 1. */
  readonly faulty: readonly number[];
  readonly play: Play;
  /** Whether streams leave their connection open for what comes next. */
  readonly keepsConnections?: boolean | undefined;
}

/**
 * The three operations on bare TCP, so that each answer can be as wrong as it
 * gets.
 */
export class FaultyService implements AsyncDisposable {
  readonly #server: RawServer;

  static async start(options: FaultyServiceOptions): Promise<FaultyService> {
    const { at, faulty, play, keepsConnections = false } = options;
    let arrived = 0;
    const server = await RawServer.start(async (connection) => {
      for (;;) {
        const request = await connection.read();
        if (request === undefined) return;
        const operation = operationOf(request);
        if (operation === at && faulty.includes(++arrived)) {
          return await play(connection, request);
        }
        await connection.write(ANSWERS[operation]);
        if (operation === "stream" && !keepsConnections) return;
      }
    });
    return new FaultyService(server);
  }

  private constructor(server: RawServer) {
    this.#server = server;
  }

  /** The base URL. */
  get url(): string {
    return this.#server.url;
  }

  /** Every request of an operation. */
  requests(operation: Operation): readonly RawRequest[] {
    return this.#server.requests.filter((request) =>
      operationOf(request) === operation
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

/** The reply of each run that goes well. */
export const REPLY = "All is well.";

/** A whole HTTP answer. */
export function http(
  status: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array<ArrayBuffer> = "",
): Uint8Array {
  const bytes = typeof body === "string"
    ? new TextEncoder().encode(body)
    : body;
  const fields = { "content-length": `${bytes.length}`, ...headers };
  const head = Object.entries(fields).map(([name, value]) =>
    `${name}: ${value}\r\n`
  );
  const start = new TextEncoder().encode(
    `HTTP/1.1 ${status}\r\n${head.join("")}\r\n`,
  );
  return new Uint8Array([...start, ...bytes]);
}

/** What the service says when all is well. */
export const BODIES: Readonly<Record<Operation, string>> = {
  "create thread": '{"thread_id":"thread-1"}',
  "create run": '{"run_id":"run-1"}',
  "stream": new TextDecoder().decode(encodeItem(complete(REPLY))),
};

const JSON_TYPE = { "content-type": "application/json" };

const ANSWERS: Readonly<Record<Operation, Uint8Array>> = {
  "create thread": http("200 OK", JSON_TYPE, BODIES["create thread"]),
  "create run": http("200 OK", JSON_TYPE, BODIES["create run"]),
  "stream": http(
    "200 OK",
    { "content-type": "text/event-stream" },
    BODIES.stream,
  ),
};

/** The operation that a request is for. */
export function operationOf({ head }: Pick<RawRequest, "head">): Operation {
  if (head.startsWith("GET ")) return "stream";
  return head.startsWith("POST /threads ") ? "create thread" : "create run";
}

/** A service that nobody listens at when one operation is due, until it is told to. */
export class AbsentService implements AsyncDisposable {
  readonly #at: Operation;
  readonly #port: number;
  #listener: Deno.TcpListener | undefined;
  #served: Promise<void> = Promise.resolve();

  constructor(at: Operation) {
    this.#at = at;
    this.#listener = Deno.listen({ hostname: QUIET_HOST, port: 0 });
    this.#port = this.#listener.addr.port;
    if (at === "create thread") this.#leave();
    else this.#served = this.#serve(this.#listener, NEXT);
  }

  /** The base URL. */
  get url(): string {
    return `http://${QUIET_HOST}:${this.#port}`;
  }

  /** Listens again, for good. */
  return(): void {
    this.#listener = Deno.listen({ hostname: QUIET_HOST, port: this.#port });
    this.#served = this.#serve(this.#listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave();
    await this.#served;
  }

  #leave(): void {
    this.#listener?.close();
    this.#listener = undefined;
  }

  async #serve(
    listener: Deno.TcpListener,
    next: Readonly<Partial<Record<Operation, Operation>>> = {},
  ): Promise<void> {
    while (this.#listener === listener) {
      const connection = await listener.accept().catch(() => undefined);
      if (connection === undefined) return;
      using _ = connection;
      const bytes = new Uint8Array(4096);
      let head = "";
      while (!/\r\n\r\n$|\}$/.test(head)) {
        const length = await connection.read(bytes);
        if (length === null) break;
        head += new TextDecoder().decode(bytes.subarray(0, length));
      }
      if (head === "") continue;
      const operation = operationOf({ head });
      // First this, so that the client cannot be faster.
      if (next[operation] === this.#at) this.#leave();
      await connection.write(ANSWERS[operation]);
    }
  }
}

const NEXT: Readonly<Partial<Record<Operation, Operation>>> = {
  "create thread": "create run",
  "create run": "stream",
};
