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
 * held back for that much longer, and the service sees the connection only then.
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
  readonly #connections = new Set<Deno.TcpConn>();
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
    for (const connection of this.#connections) connection[Symbol.dispose]();
    await this.#end;
  }

  async #accept(): Promise<void> {
    const links = [];
    for await (const client of this.#listener) {
      links.push(this.#link(client).catch(() => {})); // One side is gone.
    }
    await Promise.all(links);
  }

  async #link(accepted: Deno.TcpConn): Promise<void> {
    const oneWay = this.#roundTrip / 2;
    const opened = performance.now() + this.#roundTrip;
    using client = this.#track(accepted);
    const requests = receive(client, (sent) => Math.max(sent, opened) + oneWay);
    await until(opened + oneWay);
    using service = this.#track(await Deno.connect(this.#service));
    const answers = receive(service, (sent) => sent + oneWay);
    await Promise.all([deliver(requests, service), deliver(answers, client)]);
  }

  #track(connection: Deno.TcpConn): Deno.TcpConn {
    connection.setNoDelay(true);
    this.#connections.add(connection);
    return connection;
  }
}

/** Bytes under way, or the end of them. */
interface Packet {
  readonly bytes: Uint8Array | undefined;
  /** When they arrive, as `performance.now()` tells it. */
  readonly arrives: number;
}

/** Reads as soon as something comes, so that each packet knows when it was sent. */
function receive(
  connection: Deno.TcpConn,
  arrival: (sent: number) => number,
): ReadableStream<Packet> {
  return new ReadableStream({
    async pull(controller) {
      const buffer = new Uint8Array(BUFFER_BYTES);
      const length = await connection.read(buffer);
      const bytes = length === null ? undefined : buffer.subarray(0, length);
      controller.enqueue({ bytes, arrives: arrival(performance.now()) });
      if (length === null) controller.close();
    },
  }, { highWaterMark: Infinity });
}

async function deliver(
  packets: ReadableStream<Packet>,
  connection: Deno.TcpConn,
): Promise<void> {
  for await (const { bytes, arrives } of packets) {
    await until(arrives);
    if (bytes === undefined) await connection.closeWrite();
    else await writeAll(connection, bytes);
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
