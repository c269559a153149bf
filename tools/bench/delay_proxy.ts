import type { Endpoint } from "./service.ts";

const BUFFER_BYTES = 64 * 1024;

export interface DelayProxyOptions {
  /** The round-trip time of the link, in milliseconds. */
  readonly roundTrip: number;
}

/**
 * A TCP forwarder on loopback that makes a service as far away as a link would.
 *
 * Each direction is delayed by half a round trip. Order is kept, and throughput is
 * not limited: what is under way is held in memory. A connection costs a round
 * trip of its own: loopback accepts it at once, so the client's first bytes are
 * held back for that much longer.
 *
 * A real link also delays acknowledgements, which the system answers at once here.
 * A program that leaves Nagle's algorithm on, as Deno's `fetch` does, waits for
 * one round trip more on a real link, before its first request over TLS.
 */
export class DelayProxy implements Endpoint, AsyncDisposable {
  readonly url: string;
  readonly authority: string | undefined;
  readonly #listener: Deno.TcpListener;
  readonly #service: { readonly hostname: string; readonly port: number };
  readonly #roundTrip: number;
  readonly #connections = new DisposableStack();
  readonly #end: Promise<void>;

  constructor(service: Endpoint, { roundTrip }: DelayProxyOptions) {
    const { protocol, hostname, port } = new URL(service.url);
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#service = { hostname, port: Number(port) };
    this.#roundTrip = roundTrip;
    this.url = `${protocol}//127.0.0.1:${this.#listener.addr.port}`;
    this.authority = service.authority;
    this.#end = this.#accept();
  }

  /** Breaks all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.#connections.dispose();
    await this.#end;
  }

  async #accept(): Promise<void> {
    const links = [];
    for await (const client of this.#listener) {
      links.push(this.#link(client).catch(() => {})); // One side is gone.
    }
    await Promise.all(links);
  }

  async #link(client: Deno.TcpConn): Promise<void> {
    const oneWay = this.#roundTrip / 2;
    const opened = performance.now() + this.#roundTrip;
    this.#connections.use(client).setNoDelay(true);
    const service = await Deno.connect(this.#service);
    this.#connections.use(service).setNoDelay(true);
    await Promise.all([
      forward(client, service, (sent) => Math.max(sent, opened) + oneWay),
      forward(service, client, (sent) => sent + oneWay),
    ]);
  }
}

/**
 * Passes bytes and their end on.
 *
 * @param arrival When something arrives, as `performance.now()` tells it.
 */
async function forward(
  from: Deno.TcpConn,
  to: Deno.TcpConn,
  arrival: (sent: number) => number,
): Promise<void> {
  let delivered = Promise.resolve();
  // Reads as soon as something comes, so that it knows when it was sent.
  for (;;) {
    const buffer = new Uint8Array(BUFFER_BYTES);
    const length = await from.read(buffer);
    const arrives = arrival(performance.now());
    delivered = delivered.then(async () => {
      await until(arrives);
      if (length === null) await to.closeWrite();
      else await writeAll(to, buffer.subarray(0, length));
    });
    if (length === null) return await delivered;
    delivered.catch(() => {}); // The other side is gone: the end tells it.
  }
}

async function until(time: number): Promise<void> {
  for (let left; (left = time - performance.now()) > 0;) {
    await new Promise((resolve) => setTimeout(resolve, left));
  }
}

async function writeAll(
  connection: Deno.TcpConn,
  data: Uint8Array,
): Promise<void> {
  for (let written = 0; written < data.length;) {
    written += await connection.write(data.subarray(written));
  }
}
