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

  /** Accepts connections again. */
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
