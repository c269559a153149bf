import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  copyBytes,
  readBytes,
} from "../../../../lib/gateway/connection/bytes.ts";
import { Relay } from "../../../../lib/gateway/connection/relay.ts";
import { Route } from "../../../../lib/gateway/connection/route.ts";
import { turnOfEventLoop } from "../../../../lib/io.ts";
import type { Proxy } from "../../../../lib/settings.ts";
import { Redactor } from "../../../../lib/text.ts";
import { blocksOf } from "../../../support/blocks.ts";
import { FakeClock } from "../../../support/clocks.ts";
import {
  FaultyService,
  type Script,
} from "../../../support/faulty_service/service.ts";
import {
  bytesOf,
  connectTo,
  enter,
  readAll,
  WELCOME,
} from "../../../support/relay_client.ts";
import { testRows } from "../../../support/tables.ts";
import { soon, until } from "../../../support/waits.ts";

const NAME = "service.test";

/** The first record of a TLS connection, as far as the relay looks at it. */
const HELLO = "\x16\x03\x01\0\x05hello";

/** A service or a proxy, a relay to a host by it, and a client that sends a ClientHello. */
async function helloTo(
  script: Script,
  { proxy = "", host = "127.0.0.1" }: { proxy?: string; host?: string } = {},
) {
  const server = await FaultyService.start(script);
  const port = proxy === "" ? server.port : 443;
  const url = new URL(`https://${host}:${port}`);
  const answers: unknown[] = [];
  const relay = relayTo(url, proxyAt(server, proxy), () => answers.push(1));
  const client = await enter(relay.proxy);
  await client.write(bytesOf(HELLO));
  return {
    ...{ answers, client, relay, server },
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      relay[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A proxy on this machine, of a scheme that "with login" may follow. */
function proxyAt({ port }: FaultyService, kind: string): Proxy | undefined {
  if (kind === "") return undefined;
  const scheme = kind.startsWith("socks") ? "socks5" : "http";
  const origin = `${scheme}://127.0.0.1:${port}`;
  const [user, password] = kind.endsWith(" with login")
    ? ["al", "se:cr\xe9t"] as const
    : ["", ""] as const;
  return { variable: "HTTPS_PROXY", scheme, origin, user, password };
}

function relayTo(url: URL, proxy?: Proxy, onAnswer = () => {}): Relay {
  const redactor = new Redactor("");
  return new Relay(new Route(proxy, url, { redactor }), onAnswer);
}

const TUNNEL = "HTTP/1.1 200 OK\r\n\r\n";

// The answers that open a tunnel, one for each message of the relay, and what is asked.
testRows(
  "Relay reaches {host} through a proxy with {proxy}, and the service gets nothing of it: {answers}",
  "proxy | host | answers | asked",
  String.raw`
http             | service.test | ["HTTP/1.1 200 OK\r\n\r\n"] | "CONNECT service.test:443 HTTP/1.1\r\n"
http             | service.test | ["HTTP/1.1 200\nA: b\n\n"] | "service.test"
http with login  | [::1]        | ["HTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"] | "Proxy-Authorization: Basic YWw6c2U6Y3LpdA==\r\n"
socks            | service.test | ["\u0005\u0000","\u0005\u0000\u0000\u0001\u007f\u0000\u0000\u0001\u0000P"] | "\u0005\u0001\u0000\u0003\u000cservice.test\u0001\u00bb"
socks            | 127.0.0.1    | ["\u0005\u0000","\u0005\u0000\u0000\u0001\u007f\u0000\u0000\u0001\u0000P"] | "\u0005\u0001\u0000\u0003\t127.0.0.1\u0001\u00bb"
socks with login | [::1]        | ["\u0005\u0002","\u0001\u0000","\u0005\u0000\u0000\u0003\u0002ab\u0000P"] | "\u0001\u0002al\u0007se:cr\u00e9t\u0005\u0001\u0000\u0003\u0003::1\u0001\u00bb"
`,
  async ({ proxy, host, answers, asked }) => {
    await using scene = await helloTo(async (connection) => {
      for (const answer of JSON.parse(answers)) {
        await connection.holds(3);
        connection.take(connection.received.length);
        await connection.write(bytesOf(answer));
      }
      await connection.holds(HELLO.length);
      await connection.write(connection.received);
    }, { proxy, host });

    assertEquals(await readAll(scene.client), WELCOME + HELLO);
    assertEquals(scene.relay.failure, undefined);
    assertStringIncludes(scene.server.received, JSON.parse(asked));
  },
);

/** What is told of a proxy, by its answers. */
const ANSWERS = blocksOf(String.raw`
http: it closed the connection
  HTTP/1.1 200
http: it does not speak HTTP
  \u0015\u0003\u0001\u0000\u0002\u0002\u0032
  HTTP/1.1 yes\r\n
  HTTP/1.1 2e2 OK\n
  HTTP/1.1 1000000000 OK\n
  HTTP/1.1 020 OK\n
  HTTP/1.1 200 OK\r\nA: ${"a".repeat(20_000)}
http: it answered 429
  HTTP/1.1 429\nA: b\n\n
  HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 No\r\n\r\n
http: it answered 403
  HTTP/1.1 403 Forbidden\r\n\r\n<html>
http: it answered 407 and requires a user name and a password
  HTTP/1.1 407 No\r\n\r\n
http: it answered 407 and offers Digest, NTLM, Negotiate, not Basic
  HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm="a, Bearer b", qop="auth", Negotiate\r\nproxy-authenticate:NTLM\r\n\r\n
http with login: it answered 407 and rejected the user name or the password
  HTTP/1.1 407 No\r\nProxy-Authenticate: ${"x".repeat(9000)}, Basic\r\n\r\n
socks: it does not speak SOCKS
  HTTP/1.1 400 No\r\n\r\n
socks: it requires a user name and a password
  \u0005\u00ff
  \u0005\u0002
socks with login: it rejected the user name or the password
  \u0005\u0001
  \u0005\u00ff
  \u0005\u0002\u0001\u0001
socks: its rules forbid it
  \u0005\u0000\u0005\u0002
socks: it closed the connection
  \u0005\u0000\u0005
`);

for (const [outcome, answers] of ANSWERS) {
  const [proxy = "", told = ""] = outcome.split(": ");
  for (const answer of answers) {
    const shown = JSON.stringify(answer.slice(0, 40));
    Deno.test(`Relay tells of a proxy that answers ${shown}: ${told}`, async () => {
      await using scene = await helloTo(async (connection) => {
        await connection.holds(1);
        await connection.write(bytesOf(answer));
      }, { proxy, host: NAME });

      assertEquals(await readAll(scene.client), WELCOME);
      assertEquals(`${scene.relay.failure?.reason}`, told);
    });
  }
}

const CLOSED = "closed at once, perhaps by a firewall";
const SILENT = "it does not answer";
const OTHER = "Try http:// or socks5:// in HTTPS_PROXY";

testRows(
  "Relay tells, after 20 s at the latest, if of {who} that answers {answer} the end {end}: {told}",
  "who | answer | end | told",
  `
a proxy   | 200 | comes                                        | ${CLOSED}
a proxy   | 200 | does not come                                | ${SILENT}
a proxy   |     | comes                                        | it closed the connection. ${OTHER}
a proxy   |     | does not come                                | ${SILENT}
a service |     | comes                                        | ${CLOSED}
a service |     | does not come                                | ${SILENT}
a service |     | does not come, and the relay is disposed of  | ${SILENT}
`,
  async ({ who, answer, end, told }) => {
    const proxy = who === "a proxy" ? "http" : "";
    const asked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    using clock = new FakeClock();
    await using scene = await helloTo(async (connection) => {
      await connection.holds(1);
      connection.take(connection.received.length);
      await connection.write(answer && TUNNEL);
      if (answer !== "") await connection.holds(HELLO.length);
      asked.resolve();
      if (end !== "comes") await connection.gone;
      left.resolve();
    }, { proxy });
    const { client, relay } = scene;
    await soon(asked.promise, () => "nothing was asked");

    if (end === "does not come") clock.elapse(20_000);
    if (end.endsWith("disposed of")) relay[Symbol.dispose]();

    assertEquals(await readAll(client), WELCOME);
    await soon(left.promise, () => "the service is waited for");
    const { reason, advice } = relay.failure ?? {};
    assertEquals([reason, advice].filter(Boolean).join(". "), told);
    assertEquals([scene.answers, relay.isOver], [[], true]);
  },
);

Deno.test("Relay sends nothing but the ClientHello before the service has answered, and knows whether it has", async () => {
  const asked = Promise.withResolvers<string>();
  const told = Promise.withResolvers<void>();
  await using scene = await helloTo(async (connection) => {
    await connection.holds(HELLO.length);
    asked.resolve(connection.received.toString("latin1"));
    await told.promise;
    await connection.write("answer");
    await connection.holds(`${HELLO}more`.length);
    await connection.write(connection.received);
  });
  const { answers, client, relay } = scene;
  await client.write(bytesOf("more"));

  assertEquals(await soon(asked.promise, () => "nothing came"), HELLO);
  assertEquals([relay.hasClient, answers], [true, []]);
  told.resolve();

  assertEquals(await readAll(client), `${WELCOME}answer${HELLO}more`);
  assertEquals([relay.isOver, answers], [true, [1]]);
});

Deno.test("Relay passes the end of each direction on, and keeps the other one, for as long as it takes", async () => {
  const { promise: arrived, resolve } = Promise.withResolvers<boolean>();
  using clock = new FakeClock();
  await using scene = await helloTo(async (connection) => {
    await connection.holds(HELLO.length);
    await connection.write("ends");
    connection.close();
    resolve(await connection.holds(`${HELLO}after`.length));
    await connection.gone;
  });

  const text = await readAll(scene.client);
  clock.elapse(60_000); // Longer than an answer may take.
  await scene.client.write(bytesOf("after"));

  assertEquals(text, `${WELCOME}ends`);
  assert(await soon(arrived, () => "nothing arrived"));
});

Deno.test("Relay passes on what came before a reset, and takes what the client still sends", async () => {
  await using scene = await helloTo(async (connection) => {
    await connection.holds(HELLO.length);
    await connection.write("ends");
    await connection.holds(HELLO.length + 1);
    connection.reset();
  });
  const { client, relay } = scene;
  const start = await readBytes(client, `${WELCOME}ends`.length);
  await client.write(bytesOf("more"));

  assertEquals(await readAll(client), "");
  for (let i = 0; i < 100; i++) {
    await client.write(bytesOf("more"));
    await turnOfEventLoop();
  }

  assertEquals(String.fromCharCode(...start), `${WELCOME}ends`);
  assertEquals(relay.isOver, true);
});

/** A relay to which no client connects. */
const idleRelay = () => relayTo(new URL("https://127.0.0.1:1"));

Deno.test("Relay gives its client 20 s, and no less", async () => {
  using clock = new FakeClock();
  using relay = idleRelay();
  const { proxy } = relay;

  clock.elapse(19_999);
  using _stranger = await connectTo(proxy);
  clock.elapse(1);

  await assertRejects(() => connectTo(proxy));
  assertEquals([relay.hasClient, relay.failure], [false, undefined]);
});

Deno.test("Relay gives its client up if it cannot accept it: another process can have the port then", async () => {
  const { listen } = Deno;
  Deno.listen = ((options: Deno.TcpListenOptions) => {
    const listener = listen(options);
    const error = new Error("Too many open files (os error 24)");
    listener.accept = () => Promise.reject(error);
    return listener;
  }) as typeof listen;
  using relay = idleRelay();
  Deno.listen = listen;

  await until(() => relay.givenUp.aborted);

  assertEquals(relay.obstacle, "descriptors");
});

Deno.test("Relay gives its client up, after 5 s, if it expects a request and the end comes", async () => {
  const seen = Promise.withResolvers<void>();
  using clock = new FakeClock();
  await using scene = await helloTo(async (connection) => {
    await connection.holds(HELLO.length);
    await connection.write("answer");
    await connection.holds(`${HELLO}more`.length);
    await connection.gone;
    seen.resolve();
  });
  const { client, relay } = scene;
  await readBytes(client, `${WELCOME}answer`.length);

  using _expected = relay.expectRequest();
  await client.write(bytesOf("more"));
  await client.closeWrite();
  await soon(seen.promise, () => "not all has come");
  clock.elapse(4_999);
  assertEquals(relay.givenUp.aborted, false);
  clock.elapse(1);

  assertEquals(relay.givenUp.aborted, true);
});

Deno.test("Relay does not give its client up for a request that was answered", () => {
  using clock = new FakeClock();
  using relay = idleRelay();

  relay.expectRequest()[Symbol.dispose]();
  clock.elapse(5_000);

  assertEquals(relay.givenUp.aborted, false);
});

Deno.test("copyBytes() reads into larger buffers while they are filled, up to 64 KiB", async () => {
  const sizes: number[] = [];
  const from = {
    read({ length }: Uint8Array) {
      sizes.push(length / 1024);
      return Promise.resolve(sizes.length < 5 ? length : null);
    },
  } as Deno.Conn;
  const to = {
    write: (bytes: Uint8Array) => Promise.resolve(bytes.length),
    closeWrite: () => Promise.resolve(),
  } as Deno.Conn;

  await copyBytes(from, to);

  assertEquals(sizes, [4, 16, 64, 64, 64]);
});
