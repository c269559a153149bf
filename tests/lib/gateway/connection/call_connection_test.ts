import { assert, assertEquals, assertRejects } from "@std/assert";
import { getCACertificates } from "node:tls";
import { closeQuietly } from "../../../../lib/gateway/connection/bytes.ts";
import { CallConnection, Route } from "../../../../lib/gateway/connection.ts";
import { CallState } from "../../../../lib/gateway/failure/call_state.ts";
import type { RemoteOperation } from "../../../../lib/gateway/failure/fate.ts";
import { turnOfEventLoop } from "../../../../lib/io.ts";
import { Redactor } from "../../../../lib/text.ts";
import { FakeClock } from "../../../support/clocks.ts";
import { ca, tls } from "../../../support/corporate_network.ts";
import {
  type Connection,
  FaultyService,
  type Script,
} from "../../../support/faulty_service/service.ts";
import { bytesOf, WELCOME } from "../../../support/relay_client.ts";
import { TEST_KEY } from "../../../support/service/service.ts";
import { soon, until } from "../../../support/waits.ts";

const AUTHORITY = Deno.readTextFileSync(ca.certificate);
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/** A call through relays to a service with TLS, with clients that trust its CA. */
class Scene implements AsyncDisposable {
  readonly state: CallState;
  readonly connection: CallConnection;
  readonly #createHttpClient = Deno.createHttpClient;
  readonly #dropped = new AbortController();
  readonly #baseUrl: string;

  static async start(
    script: Script,
    operation: RemoteOperation = "create run",
  ): Promise<Scene> {
    const service = await FaultyService.start(script, { tls });
    return new Scene(service, operation);
  }

  constructor(readonly service: FaultyService, operation: RemoteOperation) {
    this.state = new CallState(operation);
    this.#baseUrl = service.url.replace("http:", "https:");
    const redactor = new Redactor(TEST_KEY);
    const options = { redactor, mayPrepare: false };
    const route = new Route(undefined, new URL(this.#baseUrl), options);
    this.connection = new CallConnection(route, this.state);
    Deno.createHttpClient = (options) =>
      this.#createHttpClient({ ...options, caCerts: [AUTHORITY] });
  }

  /** Lets clients trust what the program does. */
  distrust(): void {
    Deno.createHttpClient = this.#createHttpClient;
  }

  send(method: "GET" | "POST"): Promise<Response> {
    const { signal } = this.#dropped;
    return this.connection.fetch(this.#baseUrl, { method, signal });
  }

  /** The text of an answer; fails if it does not come. */
  async text(method: "GET" | "POST"): Promise<string> {
    const text = this.send(method).then((response) => response.text());
    return await soon(text, () => `no answer to ${method}`, 10_000);
  }

  drop(): void {
    this.#dropped.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drop();
    this.connection.close();
    Deno.createHttpClient = this.#createHttpClient;
    await this.service[Symbol.asyncDispose]();
  }
}

/** A process that takes the port of the next listener. */
class Thief implements Disposable {
  readonly connections: Deno.TcpConn[] = [];
  readonly #listen = Deno.listen;
  #listener: Deno.TcpListener | undefined;

  /**
   * @param use Called with each connection that comes.
   * @param hasPort Whether it has the port from the start, and the program, which has no
   * descriptors, accepts nothing; by default it takes the port when it is closed.
   */
  constructor(use: (connection: Deno.TcpConn) => void, hasPort = false) {
    Deno.listen = ((options: Deno.TcpListenOptions) => {
      Deno.listen = this.#listen;
      const listener = Deno.listen(options);
      if (hasPort) {
        this.#serve(listener, use);
        const error = new Error("Too many open files (os error 24)");
        const accept = () => Promise.reject(error);
        return { addr: listener.addr, accept, close() {} };
      }
      const close = listener.close.bind(listener);
      listener.close = () => {
        close();
        listenAt(listener.addr.port).then((own) => this.#serve(own, use));
      };
      return listener;
    }) as typeof Deno.listen;
  }

  get hasPort(): boolean {
    return this.#listener !== undefined;
  }

  async #serve(
    listener: Deno.TcpListener,
    use: (connection: Deno.TcpConn) => void,
  ): Promise<void> {
    this.#listener = listener;
    for await (const connection of listener) {
      this.connections.push(connection);
      use(connection);
    }
  }

  [Symbol.dispose](): void {
    Deno.listen = this.#listen;
    closeQuietly(this.#listener);
    this.connections.forEach(closeQuietly);
  }
}

/** Listens at a port as soon as it is free: a turn or two after it was closed. */
async function listenAt(port: number): Promise<Deno.TcpListener> {
  const listeners: Deno.TcpListener[] = [];
  await until(() => {
    try {
      listeners.push(Deno.listen({ hostname: "127.0.0.1", port }));
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
    return listeners.length > 0;
  });
  const [listener] = listeners;
  assert(listener);
  return listener;
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
    await using scene = await Scene.start(async (connection) => {
      const request = await connection.read();
      // The connection stays in use by the answer to the POST, whose rest never comes.
      const isGet = request?.operation === "stream";
      await connection.write(isGet ? OK : OK.replace("2\r", "3\r"));
      await connection.gone;
    }, "stream run");
    using clock = new FakeClock();
    using thief = new Thief(use);
    await scene.send("POST");
    await until(() => thief.hasPort);

    const text = scene.text("GET");
    await until(() => thief.connections.length > 0);
    clock.elapse(5_000);

    assertEquals(await text, "{}");
    assertEquals(scene.state.stage, "perhaps taken");
    assertEquals(scene.service.connections, 2);
  });
}

Deno.test("a GET goes to a new connection at once if the service has closed that of the POST", async () => {
  const closed = Promise.withResolvers<void>();
  await using scene = await Scene.start(async (connection) => {
    await connection.read();
    await connection.write(OK);
    if (connection.number === 1) connection.close();
    await connection.gone;
    closed.resolve();
  });
  using thief = new Thief(() => {});
  await scene.text("POST");
  await soon(closed.promise, () => "the connection is open");
  await until(() => thief.hasPort);

  assertEquals(await scene.text("GET"), "{}");
  assertEquals([scene.service.connections, thief.connections], [2, []]);
});

Deno.test("a GET whose answer takes long is sent once, on the connection of the POST", async () => {
  const asked = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  await using scene = await Scene.start(async (connection) => {
    await connection.read();
    await connection.write(OK);
    await connection.read();
    asked.resolve();
    await late.promise;
    await connection.write(OK);
    await connection.gone;
  });
  using clock = new FakeClock();
  await scene.text("POST");
  await turnOfEventLoop();

  const text = scene.text("GET");
  await soon(asked.promise, () => "no GET came");
  clock.elapse(60_000);
  late.resolve();

  assertEquals(await text, "{}");
  const { connections, requests } = scene.service;
  assertEquals([connections, requests.length], [1, 2]);
});

/** A service that answers the ClientHello when it is told to. */
async function slowService(
  target: FaultyService,
): Promise<{ service: FaultyService; asked: Promise<void>; tell: () => void }> {
  const asked = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const service = await FaultyService.start(async (connection: Connection) => {
    await connection.holds(1);
    asked.resolve();
    await told.promise;
    await connection.forward(target.port);
  });
  return { service, asked: asked.promise, tell: told.resolve };
}

Deno.test("a POST counts as perhaps taken as soon as the service has answered the ClientHello, and not before", async () => {
  await using target = await FaultyService.start(async (connection) => {
    await connection.read();
    await connection.gone;
  }, { tls });
  const { service, asked, tell } = await slowService(target);
  await using scene = new Scene(service, "create run");

  const post = scene.send("POST");
  await soon(asked, () => "no ClientHello came");
  assertEquals(scene.state.fate, "not run");
  tell();
  await until(() => target.requests.length > 0);
  assertEquals(scene.state.fate, "may have run");

  scene.drop();
  await assertRejects(() => post);
});

Deno.test({
  name:
    "a POST whose certificate was refused, and that is sent again with the CAs of this system, was not sent before",
  ignore: getCACertificates("system").length === 0,
  async fn() {
    const again = Promise.withResolvers<void>();
    await using target = await FaultyService.start(async (connection) => {
      await connection.gone;
    }, { tls });
    await using scene = new Scene(
      await FaultyService.start(async (connection) => {
        if (connection.number === 1) {
          return await connection.forward(target.port);
        }
        await connection.holds(1);
        again.resolve();
        await connection.gone;
      }),
      "create run",
    );
    scene.distrust();

    const post = scene.send("POST");
    await soon(again.promise, () => "the POST was sent once");

    assertEquals(scene.state.fate, "not run");
    scene.drop();
    await assertRejects(() => post);
  },
});

Deno.test("a POST whose relay cannot accept its client does not go to whoever has the port", async () => {
  const stages: string[] = [];
  await using scene = await Scene.start(async (connection) => {
    if (await connection.read() === undefined) return;
    stages.push(scene.state.stage);
    await connection.write(OK);
    await connection.gone;
  });
  using _thief = new Thief(async (client) => {
    await client.write(bytesOf(WELCOME));
    // What the client sends to get in, and then all that it sends to the service.
    let left = 4 + 45 + 10;
    using service = await Deno.connect({ port: scene.service.port });
    service.readable.pipeTo(client.writable).catch(() => {});
    for await (const chunk of client.readable) {
      await service.write(chunk.subarray(left));
      left = Math.max(0, left - chunk.length);
    }
  }, true);

  assertEquals(await scene.text("POST"), "{}");
  assertEquals(stages, ["perhaps taken"]);
});
