/**
 * The target of the proxy's `number`-th tunnel: a port of this machine, whatever
 * name was requested, or the proxy's own answer.
 */
export type Route = (number: number) => number | string;

/** A corporate HTTP proxy for `CONNECT`. It records everything that it sees. */
export class TunnelProxy implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #route: Route;
  readonly #open = new Set<Deno.Conn>();
  readonly #heads: string[] = [];
  readonly #served: Promise<void>;
  #seen = "";

  constructor(route: Route) {
    this.#route = route;
    this.#served = this.#serve();
  }

  /** The value for `HTTPS_PROXY`. */
  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  /** The head of each request. */
  get heads(): readonly string[] {
    return this.#heads;
  }

  /** Every byte that has come from a client, as Latin-1. */
  get seen(): string {
    return this.#seen;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) close(connection);
    await this.#served;
  }

  async #serve(): Promise<void> {
    const tunnels: Promise<void>[] = [];
    let number = 0;
    for await (const connection of this.#listener) {
      this.#open.add(connection);
      tunnels.push(this.#answer(connection, ++number).catch(() => {}));
    }
    await Promise.all(tunnels); // They have ended, correctly or not.
  }

  async #answer(client: Deno.Conn, number: number): Promise<void> {
    const bytes = new Uint8Array(64 * 1024);
    let head = "";
    while (!head.endsWith("\r\n\r\n")) {
      const length = await client.read(bytes);
      if (length === null) return close(client);
      head += this.#record(bytes.subarray(0, length));
    }
    this.#heads.push(head);
    const target = this.#route(number);
    if (typeof target === "string") {
      await client.write(new TextEncoder().encode(target));
      return close(client);
    }
    const service = await Deno.connect({ hostname: "127.0.0.1", port: target });
    this.#open.add(service);
    await client.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n\r\n"));
    await Promise.all([
      pump(client, service, (chunk) => this.#record(chunk)),
      pump(service, client),
    ]);
  }

  #record(chunk: Uint8Array): string {
    const text = Array.from(chunk, (byte) => String.fromCharCode(byte)).join(
      "",
    );
    this.#seen += text;
    return text;
  }
}

/** Forwards all bytes, and ends both connections when one ends. */
async function pump(
  from: Deno.Conn,
  to: Deno.Conn,
  record: (chunk: Uint8Array) => void = () => {},
): Promise<void> {
  const writer = to.writable.getWriter();
  try {
    for await (const chunk of from.readable) {
      record(chunk);
      await writer.write(chunk);
    }
  } finally {
    close(from);
    close(to);
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // The other side has closed it.
  }
}
