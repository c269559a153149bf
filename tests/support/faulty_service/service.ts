/**
 * A service whose bytes and endings a test chooses, over plain TCP or TLS. What
 * an HTTP server can do is done by the reference service.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import {
  type AddressInfo,
  connect,
  createServer,
  type Server,
  type Socket,
} from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import type { Leaf } from "../local_ca.ts";
import type { Operation } from "../service/exchange.ts";

/** A request over HTTP/1.1, byte for byte. */
export interface RawRequest {
  readonly operation: Operation;
  /** Everything up to and including the blank line. */
  readonly head: string;
  readonly body: string;
}

/** Handles a connection, which is closed afterwards. */
export type Script = (connection: Connection) => unknown;

/** One accepted connection, as a {@linkcode Script} sees it. */
export class Connection {
  /** 1 for the service's first connection. */
  readonly number: number;
  readonly #tcp: Socket;
  /** The same socket, or that of TLS on top of it. */
  readonly #socket: Socket;
  readonly #service: FaultyService;
  #isGone = false;
  #isForwarded = false;
  /** The bytes that have arrived and were not taken. */
  received: Buffer = Buffer.alloc(0);
  #arrival = Promise.withResolvers<void>();

  constructor(
    sockets: { readonly tcp: Socket; readonly socket: Socket },
    service: FaultyService,
  ) {
    this.number = ++service.connections;
    this.#service = service;
    this.#tcp = sockets.tcp;
    this.#socket = sockets.socket;
    this.#socket.on("data", (chunk: Buffer) => {
      service.received += chunk.toString("latin1");
      if (this.#isForwarded) return;
      this.received = Buffer.concat([this.received, chunk]);
      this.#wake();
    });
    const gone = () => {
      this.#isGone = true;
      this.#wake();
    };
    this.#tcp.on("error", gone); // A reset by the client is no error of the service.
    for (const event of ["error", "end", "close"]) this.#socket.on(event, gone);
  }

  /** Resolves when the client has ended the connection, or it was closed here. */
  get gone(): Promise<boolean> {
    return this.holds(Infinity);
  }

  /** Waits until this many bytes have arrived; `false` if the connection ends before. */
  async holds(length: number): Promise<boolean> {
    while (this.received.length < length && !this.#isGone) {
      await this.#arrival.promise;
    }
    return this.received.length >= length;
  }

  /** Removes bytes from those that have arrived, and returns them. */
  take(length: number): Buffer {
    const taken = this.received.subarray(0, length);
    this.received = this.received.subarray(length);
    return taken;
  }

  /** The head of the next request, which is not taken; `undefined` if none comes. */
  async head(): Promise<string | undefined> {
    for (;;) {
      const end = this.received.indexOf("\r\n\r\n");
      if (end >= 0) return this.received.subarray(0, end + 4).toString();
      if (!await this.holds(this.received.length + 1)) return undefined;
    }
  }

  /** The next whole request, or `undefined` at the end of the connection. */
  async read(): Promise<RawRequest | undefined> {
    const head = await this.head();
    if (head === undefined) return undefined;
    const length = bodyLength(head);
    const start = Buffer.byteLength(head);
    if (!await this.holds(start + length)) return undefined;
    const body = this.take(start + length).subarray(start).toString();
    const request = { operation: operationOf(head), head, body };
    this.#service.requests.push(request);
    return request;
  }

  /** Sends these bytes; resolves when they were sent or the connection is gone. */
  write(part: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(part, () => resolve());
    });
  }

  /** Forwards all bytes to a port of this machine and back, until one end closes. */
  async forward(port: number): Promise<void> {
    const target = connect(port, "127.0.0.1");
    target.on("error", () => this.destroy());
    target.write(this.take(this.received.length));
    this.#isForwarded = true;
    this.#socket.pipe(target).pipe(this.#socket);
    await this.gone;
    target.destroy();
  }

  /** Ends the connection correctly, after all written bytes were sent. */
  close(): void {
    this.#socket.end();
  }

  /** Ends the connection by a TCP reset. */
  reset(): void {
    this.#tcp.resetAndDestroy();
  }

  /** Closes the connection at once; with TLS, without its last message. */
  destroy(): void {
    this.#socket.destroy();
  }

  #wake(): void {
    const { resolve } = this.#arrival;
    this.#arrival = Promise.withResolvers();
    resolve();
  }
}

/** How a {@linkcode FaultyService} listens. */
export interface FaultyServiceOptions {
  /** The default is `127.0.0.1`. */
  readonly hostname?: string;
  /** The certificate of a service with TLS. */
  readonly tls?: Leaf;
  /** What it offers with TLS. The default is `http/1.1`. */
  readonly protocol?: "http/1.1" | "h2";
}

/**
 * A service that follows a script, byte for byte, for faults that an HTTP server
 * cannot produce: answers cut in their head, resets at any moment, proxies that
 * refuse, ports at which nobody listens for a while.
 *
 * @example
 * ```ts
 * await using service = await FaultyService.start(async (connection) => {
 *   await connection.read();
 *   await connection.write("HTTP/1.1 200 OK\r\ncontent-");
 *   connection.reset();
 * });
 * ```
 */
export class FaultyService implements AsyncDisposable {
  readonly #server: Server;
  readonly #hostname: string;
  readonly #scheme: "http" | "https";
  readonly #open = new Set<Connection>();
  port = 0;
  /** How many connections were accepted. */
  connections = 0;
  /** Every whole request that a script has read. */
  readonly requests: RawRequest[] = [];
  /** Every byte that has come from a client, decrypted, as Latin-1. */
  received = "";

  /** Starts a service that runs `script` for each connection. */
  static async start(
    script: Script,
    options: FaultyServiceOptions = {},
  ): Promise<FaultyService> {
    const service = new FaultyService(script, options);
    await service.return();
    return service;
  }

  private constructor(
    script: Script,
    { hostname = "127.0.0.1", tls, protocol = "http/1.1" }:
      FaultyServiceOptions,
  ) {
    this.#hostname = hostname;
    this.#scheme = tls === undefined ? "http" : "https";
    this.#server = createServer(async (tcp) => {
      const socket = tls === undefined ? tcp : new TLSSocket(tcp, {
        isServer: true,
        secureContext: createSecureContext(tls),
        ALPNProtocols: [protocol],
      });
      const connection = new Connection({ tcp, socket }, this);
      this.#open.add(connection);
      tcp.once("close", () => this.#open.delete(connection));
      await script(connection);
      connection.close();
    });
  }

  /** The base URL. */
  get url(): string {
    return `${this.#scheme}://${this.#hostname}:${this.port}`;
  }

  /** Stops listening. Connections that are open stay. */
  leave(): void {
    this.#server.close();
  }

  /** Closes all connections at once. */
  drop(): void {
    for (const connection of this.#open) connection.destroy();
  }

  /** Listens again, at the same port. */
  async return(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.port, this.#hostname, resolve);
    });
    this.port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops at once, even with open connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.drop();
    await closed;
  }
}

/** The operation of a request with this head. */
export function operationOf(head: string): Operation {
  if (head.startsWith("GET ")) return "stream";
  return head.startsWith("POST /threads ") ? "create thread" : "create run";
}

/** The length of the body after a head, in bytes. */
export function bodyLength(head: string): number {
  return Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? "0");
}

/**
 * An address of this machine that no test's service uses, so that a released port
 * of it is not taken by another test. (macOS has only one address.)
 */
export const QUIET_HOST = Deno.build.os === "darwin"
  ? "127.0.0.1"
  : "127.0.0.2";

/** An address at which nobody listens for longer than {@linkcode unreachable}. */
const SILENT_HOST = Deno.build.os === "darwin" ? "127.0.0.1" : "127.0.0.3";

/** A base URL of this machine at which nothing answers. */
export function unreachable(): string {
  using listener = Deno.listen({ hostname: SILENT_HOST, port: 0 });
  return `http://${SILENT_HOST}:${listener.addr.port}`;
}
