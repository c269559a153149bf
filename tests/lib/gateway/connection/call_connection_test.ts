import { assertEquals, assertRejects } from "@std/assert";
import { getCACertificates } from "node:tls";
import { closeQuietly } from "../../../../lib/gateway/connection/bytes.ts";
import { CallConnection, Route } from "../../../../lib/gateway/connection.ts";
import { CallState } from "../../../../lib/gateway/failure/call_state.ts";
import { turnOfEventLoop } from "../../../../lib/io.ts";
import { Redactor } from "../../../../lib/text.ts";
import { FakeClock } from "../../../support/clocks.ts";
import { ca, tls } from "../../../support/corporate_network.ts";
import {
  FaultyService,
  type Script,
} from "../../../support/faulty_service/service.ts";
import { bytesOf, WELCOME } from "../../../support/relay_client.ts";
import { soon, until } from "../../../support/waits.ts";

const AUTHORITY = Deno.readTextFileSync(ca.certificate);
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/** A call to a service with TLS, whose clients trust its CA at first. */
class Scene implements AsyncDisposable {
  readonly state = new CallState("create run");
  readonly connection: CallConnection;
  readonly #url: string;
  readonly #createHttpClient = Deno.createHttpClient;
  readonly #dropped = new AbortController();

  static async start(script: Script): Promise<Scene> {
    return new Scene(await FaultyService.start(script, { tls }));
  }

  constructor(readonly service: FaultyService) {
    this.#url = `https://127.0.0.1:${service.port}`;
    const redactor = new Redactor("");
    const options = { redactor, connectsAhead: false };
    const route = new Route(undefined, new URL(this.#url), options);
    this.connection = new CallConnection(route, this.state);
    Deno.createHttpClient = (options) =>
      this.#createHttpClient({ ...options, caCerts: [AUTHORITY] });
  }

  /** From now on, clients trust what the program does. */
  distrust(): void {
    Deno.createHttpClient = this.#createHttpClient;
  }

  send(method: "GET" | "POST"): Promise<Response> {
    const { signal } = this.#dropped;
    const response = this.connection.fetch(this.#url, { method, signal });
    return soon(response, () => `no answer to ${method}`);
  }

  /** The text of an answer. */
  async text(method: "GET" | "POST"): Promise<string> {
    const response = await this.send(method);
    return await soon(response.text(), () => `no body for ${method}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#dropped.abort();
    this.connection.close();
    this.distrust();
    await this.service[Symbol.asyncDispose]();
  }
}

/**
 * Has another process take the port of the next listener as soon as it is free.
 *
 * @param use Called with each connection that comes.
 */
function stealPort(use: (connection: Deno.TcpConn) => void) {
  const { listen } = Deno;
  const connections: Deno.TcpConn[] = [];
  let own: Deno.TcpListener | undefined;
  const serve = async (port: number) => {
    // A turn or two after it was closed.
    await until(() => {
      try {
        own = listen({ hostname: "127.0.0.1", port });
      } catch (error) {
        if (!(error instanceof Deno.errors.AddrInUse)) throw error;
      }
      return own !== undefined;
    });
    for await (const connection of own ?? []) {
      connections.push(connection);
      use(connection);
    }
  };
  Deno.listen = ((options: Deno.TcpListenOptions) => {
    Deno.listen = listen;
    const listener = listen(options);
    const close = listener.close.bind(listener);
    listener.close = () => {
      close();
      serve(listener.addr.port);
    };
    return listener;
  }) as typeof listen;
  return {
    connections,
    isDone: () => until(() => own !== undefined),
    [Symbol.dispose]() {
      Deno.listen = listen;
      closeQuietly(own);
      connections.forEach(closeQuietly);
    },
  };
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
    });
    using clock = new FakeClock();
    using thief = stealPort(use);
    await scene.send("POST");
    await thief.isDone();

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
  using thief = stealPort(() => {});
  await scene.text("POST");
  await soon(closed.promise, () => "the connection is open");
  await thief.isDone();

  assertEquals(await scene.text("GET"), "{}");
  assertEquals([scene.service.connections, thief.connections], [2, []]);
});

Deno.test("a GET whose answer takes long is sent once, on the connection of the POST", async () => {
  const late = Promise.withResolvers<void>();
  await using scene = await Scene.start(async (connection) => {
    await connection.read();
    await connection.write(OK);
    await connection.read();
    await late.promise;
    await connection.write(OK);
    await connection.gone;
  });
  using clock = new FakeClock();
  const { service } = scene;
  await scene.text("POST");
  await turnOfEventLoop();

  const text = scene.text("GET");
  await until(() => service.requests.length === 2);
  clock.elapse(60_000);
  late.resolve();

  assertEquals(await text, "{}");
  assertEquals([service.connections, service.requests.length], [1, 2]);
});

/** A service that takes requests and answers none. */
const taking: Script = async (connection) => {
  await connection.read();
  await connection.gone;
};

Deno.test("a POST counts as perhaps taken as soon as the service has answered the ClientHello, and not before", async () => {
  const told = Promise.withResolvers<void>();
  await using target = await FaultyService.start(taking, { tls });
  const service = await FaultyService.start(async (connection) => {
    await connection.holds(1);
    await told.promise;
    await connection.forward(target.port);
  });
  await using scene = new Scene(service);

  const post = assertRejects(() => scene.send("POST"));
  await until(() => service.received !== "");
  assertEquals(scene.state.fate, "not run");
  told.resolve();
  await until(() => target.requests.length > 0);
  assertEquals(scene.state.fate, "may have run");

  await scene[Symbol.asyncDispose]();
  await post;
});

Deno.test({
  name:
    "a POST whose certificate was refused, and that is sent again with the CAs of this system, was not sent before",
  ignore: getCACertificates("system").length === 0,
  async fn() {
    await using target = await FaultyService.start(taking, { tls });
    const service = await FaultyService.start(async (connection) => {
      if (connection.number === 1) await connection.forward(target.port);
      await connection.gone;
    });
    await using scene = new Scene(service);
    scene.distrust();

    const post = assertRejects(() => scene.send("POST"));
    await until(() => service.connections === 2);
    assertEquals(scene.state.fate, "not run");

    await scene[Symbol.asyncDispose]();
    await post;
  },
});
