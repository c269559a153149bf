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

/**
 * Forwards TCP connections to a port. It can be taken down: then it drops open
 * connections and refuses new ones, like a program that restarts.
 */
export class TcpRelay implements AsyncDisposable {
  readonly #target: Deno.ConnectOptions;
  readonly #open = new Set<Deno.Conn>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #port: number;
  #listener: Deno.TcpListener | undefined;

  constructor(target: { readonly url: string }) {
    const { hostname, port } = new URL(target.url);
    this.#target = { hostname, port: Number(port) };
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#port = this.#listener.addr.port;
    this.#track(this.#accept(this.#listener));
  }

  /** The address of the relay, as `host:port`. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Drops all connections and refuses new ones. */
  down(): void {
    this.#listener?.close();
    this.#listener = undefined;
    for (const connection of this.#open) close(connection);
  }

  up(): void {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: this.#port });
    this.#listener = listener;
    this.#track(this.#accept(listener));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.down();
    await Promise.all(this.#tasks);
  }

  #track(task: Promise<void>): void {
    const done = task.catch(() => {}).finally(() => this.#tasks.delete(done));
    this.#tasks.add(done);
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    for await (const client of listener) {
      this.#track(this.#forward(client, listener));
    }
  }

  async #forward(
    client: Deno.Conn,
    listener: Deno.TcpListener,
  ): Promise<void> {
    this.#open.add(client);
    const service = await Deno.connect(this.#target);
    this.#open.add(service);
    if (this.#listener !== listener) this.down();
    await Promise.allSettled([
      client.readable.pipeTo(service.writable),
      service.readable.pipeTo(client.writable),
    ]);
    for (const connection of [client, service]) {
      close(connection);
      this.#open.delete(connection);
    }
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
