import { Buffer } from "node:buffer";
import {
  type AddressInfo,
  createServer,
  type Server,
  type Socket,
} from "node:net";

/** A request, byte for byte. */
export interface RawRequest {
  /** The number of its connection, from 1 on. */
  readonly connection: number;
  /** Everything up to and including the blank line. */
  readonly head: string;
  readonly body: string;
  /** Head and body, for sending them back. */
  readonly bytes: Uint8Array;
}

/** Handles a connection, which is closed afterwards. */
export type RawScript = (connection: RawConnection) => void | Promise<void>;

/** One accepted connection, as a {@linkcode RawScript} sees it. */
export class RawConnection {
  /** 1 for the server's first connection. */
  readonly number: number;
  readonly #socket: Socket;
  readonly #gone = Promise.withResolvers<void>();
  readonly #record: (request: RawRequest) => void;
  #received: Buffer = Buffer.alloc(0);
  #isGone = false;
  #wake: () => void = () => {};

  constructor(
    socket: Socket,
    number: number,
    record: (request: RawRequest) => void,
  ) {
    this.number = number;
    this.#socket = socket;
    this.#record = record;
    const gone = () => {
      this.#isGone = true;
      this.#gone.resolve();
      this.#wake();
    };
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    socket.on("error", gone); // A reset by the client is no error of the server.
    socket.on("end", gone);
    socket.on("close", gone);
  }

  /** Resolves when the client has ended the connection, or it was closed here. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** The next whole request, or `undefined` at the end of the connection. */
  async read(): Promise<RawRequest | undefined> {
    for (;;) {
      const request = this.#take();
      if (request) {
        this.#record(request);
        return request;
      }
      if (this.#isGone) return undefined;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** Sends these bytes; resolves when they were sent or the connection is gone. */
  write(part: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(part, () => resolve());
    });
  }

  /** Ends the connection correctly, after all written bytes were sent. */
  close(): void {
    this.#socket.end();
  }

  /** Ends the connection by a TCP reset. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  #take(): RawRequest | undefined {
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return undefined;
    const head = this.#received.subarray(0, end + 4).toString();
    const length = /^content-length: *(\d+)/im.exec(head)?.[1] ?? "0";
    const size = end + 4 + Number(length);
    if (this.#received.length < size) return undefined;
    const bytes = this.#received.subarray(0, size);
    this.#received = this.#received.subarray(size);
    const body = bytes.subarray(end + 4).toString();
    return { connection: this.number, head, body, bytes };
  }
}

/**
 * A TCP server that follows a script, for faults that an HTTP server cannot
 * produce: answers cut in their head, resets at any moment, connections that
 * break after a request.
 *
 * @example
 * ```ts
 * await using server = await RawServer.start(async (connection) => {
 *   await connection.read();
 *   await connection.write("HTTP/1.1 200 OK\r\ncontent-");
 *   connection.reset();
 * });
 * ```
 */
export class RawServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #requests: RawRequest[] = [];
  readonly #open = new Set<RawConnection>();
  #connections = 0;

  /** Starts a server that runs `script` for each connection. */
  static async start(
    script: RawScript,
    { hostname = "127.0.0.1", port = 0 } = {},
  ): Promise<RawServer> {
    const server = new RawServer(script);
    await new Promise<void>((resolve, reject) => {
      server.#server.once("error", reject);
      server.#server.listen(port, hostname, resolve);
    });
    return server;
  }

  private constructor(script: RawScript) {
    this.#server = createServer((socket) => {
      const connection = new RawConnection(
        socket,
        ++this.#connections,
        (request) => this.#requests.push(request),
      );
      this.#open.add(connection);
      socket.once("close", () => this.#open.delete(connection));
      this.#play(script, connection);
    });
  }

  /** The base URL. */
  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `http://${address}:${port}`;
  }

  /** Every whole request that a script has read. */
  get requests(): readonly RawRequest[] {
    return this.#requests;
  }

  /** How many connections were accepted. */
  get connections(): number {
    return this.#connections;
  }

  /** Stops at once, even with open connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const connection of this.#open) connection.destroy();
    await closed;
  }

  async #play(script: RawScript, connection: RawConnection): Promise<void> {
    await script(connection);
    connection.close();
  }
}
