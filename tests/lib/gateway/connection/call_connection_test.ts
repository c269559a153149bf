import { assertEquals, assertRejects } from "@std/assert";
import { turnOfEventLoop } from "../../../../lib/io.ts";
import { closeQuietly } from "../../../../lib/gateway/connection/bytes.ts";
import { CallConnection, Route } from "../../../../lib/gateway/connection.ts";
import { CallState } from "../../../../lib/gateway/failure/call_state.ts";
import { FakeClock } from "../../../support/clocks.ts";
import { ca, tls } from "../../../support/corporate_network.ts";
import { FaultyService } from "../../../support/faulty_service/service.ts";
import { bytesOf, WELCOME } from "../../../support/relay_client.ts";
import { TEST_KEY } from "../../../support/service/service.ts";
import { Redactor } from "../../../../lib/text.ts";

const AUTHORITY = Deno.readTextFileSync(ca.certificate);

/** Lets the clients of `fetch` trust the test's CA. */
function trustingCa(): Disposable {
  const { createHttpClient } = Deno;
  Deno.createHttpClient = (options) =>
    createHttpClient({ ...options, caCerts: [AUTHORITY] });
  return {
    [Symbol.dispose]: () => void (Deno.createHttpClient = createHttpClient),
  };
}

/** A process that takes the port of the next listener as soon as that is closed. */
class Thief implements Disposable {
  readonly #listen = Deno.listen;
  readonly #ready = Promise.withResolvers<void>();
  readonly #asked = Promise.withResolvers<void>();
  readonly #connections: Deno.TcpConn[] = [];
  #listener: Deno.TcpListener | undefined;

  /** @param use Called with each connection that comes. */
  constructor(use: (connection: Deno.TcpConn) => void) {
    Deno.listen = ((options: Deno.TcpListenOptions) => {
      Deno.listen = this.#listen;
      const listener = Deno.listen(options);
      const close = listener.close.bind(listener);
      listener.close = () => {
        close();
        this.#serve(listener.addr.port, use);
      };
      return listener;
    }) as typeof Deno.listen;
  }

  /** Resolves when it has the port. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Resolves when a connection has come, and was used. */
  get asked(): Promise<void> {
    return this.#asked.promise;
  }

  async #serve(
    port: number,
    use: (connection: Deno.TcpConn) => void,
  ): Promise<void> {
    this.#listener = await listenAt(port);
    this.#ready.resolve();
    for await (const connection of this.#listener) {
      this.#connections.push(connection);
      use(connection);
      this.#asked.resolve();
    }
  }

  [Symbol.dispose](): void {
    Deno.listen = this.#listen;
    this.#listener?.close();
    this.#connections.forEach(closeQuietly);
  }
}

/** Listens at a port as soon as it is free: a turn or two after it was closed. */
async function listenAt(port: number): Promise<Deno.TcpListener> {
  for (;;) {
    try {
      return Deno.listen({ hostname: "127.0.0.1", port });
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
      await turnOfEventLoop();
    }
  }
}

/** What a process does at a port that it has taken. */
const THIEVES: Readonly<Record<string, (thief: Deno.TcpConn) => void>> = {
  "hangs up": (thief) => thief.close(),
  "speaks another protocol": (thief) => {
    thief.write(bytesOf("HTTP/1.1 200 OK\r\n\r\n"));
  },
  "stalls": () => {},
  "lets the client in as a relay does, and stalls": (thief) => {
    thief.write(bytesOf(WELCOME));
  },
};

for (const [what, use] of Object.entries(THIEVES)) {
  Deno.test(`a GET whose client connects to a port that another process has taken, which ${what}, is sent on a new client`, async () => {
    await using service = await FaultyService.start(async (connection) => {
      const request = await connection.read();
      // The connection stays in use by the answer to the POST, whose rest never comes.
      const length = request?.operation === "stream" ? 2 : 3;
      const head = `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`;
      await connection.write(`${head}{}`);
      await connection.gone;
    }, { tls });
    const { url: baseUrl } = service;
    using _trust = trustingCa();
    using clock = new FakeClock();
    using thief = new Thief(use);
    using route = new Route(undefined, new URL(baseUrl), {
      redactor: new Redactor(""),
      mayPrepare: false,
    });
    const state = new CallState("stream run");
    const options = { baseUrl, apiKey: TEST_KEY, route };
    const connection = new CallConnection(options, state);
    const { signal } = new AbortController();
    const runs = `${baseUrl}/threads/t/runs`;
    await connection.fetch(runs, { method: "POST", signal });
    await thief.ready;

    const get = connection.fetch(`${runs}/r/stream`, {
      method: "GET",
      signal,
    });
    await thief.asked;
    clock.elapse(5_000);
    const response = await get;

    assertEquals(await response.text(), "{}");
    assertEquals(state.stage, "perhaps taken");
    assertEquals(service.connections, 2);
    connection.close();
  });
}

Deno.test("a GET whose answer takes long is sent once, on the connection of the POST", async () => {
  const asked = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  await using service = await FaultyService.start(async (connection) => {
    await connection.read();
    await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    await connection.read();
    asked.resolve();
    await late.promise;
    await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    await connection.gone;
  }, { tls });
  const { url: baseUrl } = service;
  using _trust = trustingCa();
  using clock = new FakeClock();
  using route = new Route(undefined, new URL(baseUrl), {
    redactor: new Redactor(""),
    mayPrepare: false,
  });
  const options = { baseUrl, apiKey: TEST_KEY, route };
  const connection = new CallConnection(options, new CallState("stream run"));
  const { signal } = new AbortController();
  const post = await connection.fetch(baseUrl, { method: "POST", signal });
  await post.text();
  await turnOfEventLoop();

  const get = connection.fetch(baseUrl, { method: "GET", signal });
  await asked.promise;
  clock.elapse(60_000);
  late.resolve();

  assertEquals(await (await get).text(), "{}");
  assertEquals([service.connections, service.requests.length], [1, 2]);
  connection.close();
});

Deno.test("a POST counts as perhaps taken as soon as the service has answered the ClientHello, and not before", async () => {
  const [asked, told] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  await using target = await FaultyService.start(async (connection) => {
    await connection.read();
    await connection.gone;
  }, { tls });
  await using service = await FaultyService.start(async (connection) => {
    await connection.holds(1);
    asked.resolve();
    await told.promise;
    await connection.forward(target.port);
  });
  const baseUrl = `https://127.0.0.1:${service.port}`;
  using _trust = trustingCa();
  using route = new Route(undefined, new URL(baseUrl), {
    redactor: new Redactor(""),
    mayPrepare: false,
  });
  const state = new CallState("create run");
  const options = { baseUrl, apiKey: TEST_KEY, route };
  const connection = new CallConnection(options, state);
  const dropped = new AbortController();
  const { signal } = dropped;

  const post = connection.fetch(baseUrl, { method: "POST", signal });
  await asked.promise;
  assertEquals(state.fate, "not run");
  told.resolve();
  while (target.requests.length === 0) await turnOfEventLoop();
  assertEquals(state.fate, "may have run");

  dropped.abort();
  await assertRejects(() => post);
  connection.close();
});
