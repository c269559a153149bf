import {
  type RawConnection,
  type RawRequest,
  RawServer,
} from "./service/raw_server.ts";
import type { Operation } from "./service/exchange.ts";
import { complete, encodeItem } from "./service/behaviours.ts";

/** Answers a request wrongly, or ends its connection. */
export type FaultyAnswer = (
  connection: RawConnection,
  request: RawRequest,
) => void | Promise<void>;

/** Sends these bytes, and closes the connection. */
export function say(bytes: string | Uint8Array): FaultyAnswer {
  return (connection) => connection.write(bytes);
}

/** How a {@linkcode FaultyService} behaves. */
export interface FaultyServiceOptions {
  readonly at: Operation;
  /** The requests of the operation that get the faulty answer, counted from 1. */
  readonly faulty: readonly number[];
  readonly answer: FaultyAnswer;
  /** Whether streams leave their connection open for the next request. */
  readonly keepsConnections?: boolean | undefined;
}

/**
 * The three operations on bare TCP, so that an answer can have any fault.
 */
export class FaultyService implements AsyncDisposable {
  readonly #server: RawServer;

  static async start(options: FaultyServiceOptions): Promise<FaultyService> {
    const { at, faulty, answer, keepsConnections = false } = options;
    let arrived = 0;
    const server = await RawServer.start(async (connection) => {
      for (;;) {
        const request = await connection.read();
        if (request === undefined) return;
        const operation = operationOf(request);
        if (operation === at && faulty.includes(++arrived)) {
          return await answer(connection, request);
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

/** The reply of each run that completes. */
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

/** The bodies of the correct answers. */
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

/** A service that stops listening before one operation, until a test calls `return()`. */
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

  /** Listens again, and keeps listening. */
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
      // Stop listening first, so that the client's next request cannot be faster.
      if (next[operation] === this.#at) this.#leave();
      await connection.write(ANSWERS[operation]);
    }
  }
}

const NEXT: Readonly<Partial<Record<Operation, Operation>>> = {
  "create thread": "create run",
  "create run": "stream",
};

/**
 * An address of this machine that no test's service uses, so that a released port
 * of it is not taken by another test. (macOS has only one address.)
 */
export const QUIET_HOST = Deno.build.os === "darwin"
  ? "127.0.0.1"
  : "127.0.0.2";

/** A base URL of this machine at which nothing answers. */
export function unreachable(): string {
  using listener = Deno.listen({ hostname: QUIET_HOST, port: 0 });
  return `http://${QUIET_HOST}:${listener.addr.port}`;
}
