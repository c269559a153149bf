import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  copyBytes,
  readBytes,
} from "../../../../lib/gateway/connection/bytes.ts";
import { Relay } from "../../../../lib/gateway/connection/relay.ts";
import { Route } from "../../../../lib/gateway/connection/route.ts";
import { turnOfEventLoop } from "../../../../lib/io.ts";
import type { Proxy } from "../../../../lib/settings.ts";
import { FakeClock } from "../../../support/clocks.ts";
import { ca, NAME } from "../../../support/corporate_network.ts";
import { FaultyService } from "../../../support/faulty_service/service.ts";
import {
  bytesOf,
  connectTo,
  enter,
  readAll,
  WELCOME,
} from "../../../support/relay_client.ts";
import { ReferenceService } from "../../../support/service/service.ts";
import { Redactor } from "../../../../lib/text.ts";

const AUTHORITY = Deno.readTextFileSync(ca.certificate);
const LOGIN = { user: "al", password: "se:cr\xe9t" };
const SOCKS = { scheme: "socks5" } as const;
const SOCKS_LOGIN = { scheme: "socks5h", ...LOGIN } as const;

/** A proxy on this machine. */
function proxyAt(
  { url: origin, port }: FaultyService,
  proxy: Partial<Proxy> = {},
): Proxy {
  return {
    ...{ variable: "HTTPS_PROXY", scheme: "http", user: "", password: "" },
    ...{ hostname: "127.0.0.1", port, origin, ...proxy },
  };
}

function relayTo(proxy: Proxy | undefined, url: URL): Relay {
  return new Relay(
    new Route(proxy, url, { redactor: new Redactor("") }),
    () => {},
  );
}

/** Asks a service through a relay. */
async function ask(relay: Relay, url: URL): Promise<number> {
  using client = Deno.createHttpClient({
    caCerts: [AUTHORITY],
    proxy: relay.proxy,
  });
  const response = await fetch(url, { method: "POST", client });
  await response.body?.cancel();
  return response.status;
}

const OK = "HTTP/1.1 200 OK\r\n\r\n";
const OPEN = "\x05\0\0\x01\x7f\0\0\x01\0\x50";
const BASIC = `Proxy-Authorization: Basic ${btoa("al:se:cr\xe9t")}\r\n`;

/** The service's host, a proxy, its answers that open a tunnel, and what it sees. */
const WAYS: readonly (readonly [
  host: string,
  proxy: Partial<Proxy>,
  answers: readonly string[],
  seen: string,
])[] = [
  [NAME, {}, [OK], `CONNECT ${NAME}:`],
  ["[::1]", LOGIN, [`HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n${OK}`], BASIC],
  [
    NAME,
    {},
    ["HTTP/1.1 200\nX-Content-Type: text/html\n\n"],
    `CONNECT ${NAME}:`,
  ],
  [NAME, SOCKS, ["\x05\0", OPEN], `\x05\x01\0\x03\x0c${NAME}`],
  ["127.0.0.1", SOCKS, ["\x05\0", OPEN], "\x05\x01\0\x01\x7f\0\0\x01"],
  [
    "[::1]",
    SOCKS_LOGIN,
    ["\x05\x02", "\x01\0", "\x05\0\0\x03\x02ab\0\x50"],
    `\x01\x02al\x07se:cr\xe9t\x05\x01\0\x04${"\0".repeat(15)}\x01`,
  ],
];

for (const [host, proxy, answers, seen] of WAYS) {
  Deno.test(`Relay reaches ${host} through a proxy, and tells the service nothing of ${JSON.stringify(proxy)}`, async () => {
    const tls = ca.issue(NAME, "127.0.0.1", "::1");
    await using service = ReferenceService.start({ tls });
    const { port } = new URL(service.url);
    await using server = await FaultyService.start(async (connection) => {
      for (const answer of answers) {
        await connection.holds(3);
        connection.take(connection.received.length);
        await connection.write(bytesOf(answer));
      }
      await connection.forward(Number(port));
    });
    const url = new URL(`https://${host}:${port}/threads`);
    using relay = relayTo(proxyAt(server, proxy), url);

    const status = await ask(relay, url);

    assertEquals([status, relay.failure], [401, undefined]);
    assert(server.received.includes(seen), server.received.slice(0, 100));
    const headers = service.requests.flatMap(({ headers }) => [...headers]);
    assertEquals(headers.filter(([name]) => name.startsWith("proxy")), []);
  });
}

const REJECTED = "it rejected the user name or the password";

/** What a proxy answers, and what is told of it. */
const ANSWERS: readonly (readonly [string, string, Partial<Proxy>?])[] = [
  ["", "it closed the connection"],
  ["HTTP/1.1 200", "it closed the connection"],
  ["\x15\x03\x01\x00\x02\x02\x32", "it does not speak HTTP"],
  ["HTTP/1.1 yes\r\n", "it does not speak HTTP"],
  ["HTTP/1.1 2e2 OK\n", "it does not speak HTTP"],
  ["HTTP/1.1 1000000000 OK\n", "it does not speak HTTP"],
  ["HTTP/1.1 020 OK\n", "it does not speak HTTP"],
  ["HTTP/1.1 429\nA: b\n\n", "it answered 429"],
  [`HTTP/1.1 200 OK\r\nA: ${"a".repeat(20_000)}`, "it does not speak HTTP"],
  ["HTTP/1.1 403 Forbidden\r\n\r\n<html>", "it answered 403"],
  [
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>",
    "it answered 200 with a web page, perhaps a sign-in page",
  ],
  [
    "HTTP/1.1 407 No\r\n\r\n",
    "it answered 407 and requires a user name and a password",
  ],
  ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 No\r\n\r\n", "it answered 429"],
  [
    'HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm="a, NTLM b", qop="auth", Negotiate\r\nproxy-authenticate:NTLM\r\n\r\n',
    "it answered 407 and offers Digest, NTLM, Negotiate, not Basic",
  ],
  [
    `HTTP/1.1 407 No\r\nProxy-Authenticate: ${
      "x".repeat(9_000)
    }, Basic\r\n\r\n`,
    "it answered 407 and rejected the user name or the password",
    LOGIN,
  ],
  ["HTTP/1.1 400 No\r\n\r\n", "it does not speak SOCKS", SOCKS],
  ["\x05\xff", "it requires a user name and a password", SOCKS],
  // Methods that were not offered
  ["\x05\x02", "it requires a user name and a password", SOCKS],
  ["\x05\x01", REJECTED, SOCKS_LOGIN],
  ["\x05\xff", REJECTED, SOCKS_LOGIN],
  ["\x05\x02\x01\x01", REJECTED, SOCKS_LOGIN],
  ["\x05\x00\x05\x02", "its rules forbid it", SOCKS],
  ["\x05\x00\x05", "it closed the connection", SOCKS],
];

for (const [answer, told, proxy] of ANSWERS) {
  const shown = JSON.stringify(answer.slice(0, 40));
  Deno.test(`Relay tells of a proxy that answers ${shown}: ${told}`, async () => {
    await using server = await FaultyService.start(async (connection) => {
      await connection.holds(1);
      await connection.write(bytesOf(answer));
    });
    const url = new URL(`https://${NAME}/`);
    using relay = relayTo(proxyAt(server, proxy), url);

    await assertRejects(() => ask(relay, url), TypeError);

    assertEquals(relay.failure?.reason, told);
    // The port of `https:`, in a request that was sent.
    const { received } = server;
    const hasPort = [":443", "\x01\xbb"].some((port) =>
      received.includes(port)
    );
    assertEquals(hasPort, received.includes(NAME));
  });
}

/** The first record of a TLS connection, as far as the relay looks at it. */
const HELLO = "\x16\x03\x01\0\x05hello";

const CLOSED = "closed at once, perhaps by a firewall";
const SILENT = "it does not answer";
const OTHER = "Try http:// or socks5:// in HTTPS_PROXY";

/** How long nothing comes until the limit, and what is told of whom. */
const LOSSES: readonly (readonly [
  what: string,
  proxy: Partial<Proxy> | undefined,
  answer: string,
  ends: boolean,
  told: string,
  advice?: string,
])[] = [
  ["a tunnel that is closed", {}, OK, true, CLOSED],
  ["a tunnel that is silent", {}, OK, false, SILENT],
  ["a proxy that closes", {}, "", true, "it closed the connection", OTHER],
  ["a proxy that is silent", {}, "", false, SILENT, OTHER],
  ["a service that closes", undefined, "", true, CLOSED],
  ["a service that is silent", undefined, "", false, SILENT],
];

for (const [what, proxy, answer, ends, told, advice] of LOSSES) {
  Deno.test(`Relay tells, after 20 s at the latest, of ${what}: ${told}`, async () => {
    const asked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    await using server = await FaultyService.start(async (connection) => {
      await connection.holds(1);
      connection.take(connection.received.length);
      await connection.write(answer);
      if (answer !== "") await connection.holds(HELLO.length);
      asked.resolve();
      if (!ends) await connection.gone;
      left.resolve();
    });
    using clock = new FakeClock();
    const url = new URL(`https://127.0.0.1:${server.port}`);
    using relay = relayTo(proxy && proxyAt(server, proxy), url);
    using client = await enter(relay.proxy);
    await client.write(bytesOf(HELLO));
    await asked.promise;

    if (!ends) clock.elapse(20_000);

    assertEquals(await readAll(client), WELCOME);
    await left.promise;
    const { reason, advice: given } = relay.failure ?? {};
    assertEquals([`${reason}`, given], [told, advice as typeof given]);
    assertEquals([relay.hasAnswer, relay.isOver], [false, true]);
  });
}

/** A relay to a service at a port of this machine. */
function directRelay(port: number): Relay {
  return relayTo(undefined, new URL(`https://127.0.0.1:${port}`));
}

Deno.test("Relay sends nothing but the ClientHello before the service has answered, and knows whether it has", async () => {
  const [asked, told] = [
    Promise.withResolvers<string>(),
    Promise.withResolvers<void>(),
  ];
  await using server = await FaultyService.start(async (connection) => {
    await connection.holds(HELLO.length);
    asked.resolve(connection.received.toString("latin1"));
    await told.promise;
    await connection.write("answer");
    await connection.holds(`${HELLO}more`.length);
    await connection.write(connection.received);
  });
  let answers = 0;
  const url = new URL(`https://127.0.0.1:${server.port}`);
  using relay = new Relay(
    new Route(undefined, url, { redactor: new Redactor("") }),
    () => answers++,
  );
  assertEquals([relay.hasClient, relay.hasAnswer], [false, false]);
  using client = await enter(relay.proxy);
  await client.write(bytesOf(`${HELLO}more`));

  assertEquals(await asked.promise, HELLO);
  assertEquals([relay.hasClient, relay.hasAnswer], [true, false]);
  told.resolve();

  assertEquals(await readAll(client), `${WELCOME}answer${HELLO}more`);
  assertEquals([relay.hasAnswer, relay.isOver, answers], [true, true, 1]);
});

Deno.test("Relay passes the end of each direction on, and keeps the other one, for as long as it takes", async () => {
  const { promise: arrived, resolve } = Promise.withResolvers<boolean>();
  await using server = await FaultyService.start(async (connection) => {
    await connection.holds(HELLO.length);
    await connection.write("ends");
    connection.close();
    resolve(await connection.holds(`${HELLO}after`.length));
    await connection.gone;
  });
  using clock = new FakeClock();
  using relay = directRelay(server.port);
  using client = await enter(relay.proxy);
  await client.write(bytesOf(HELLO));

  const text = await readAll(client);
  clock.elapse(60_000); // Longer than an answer may take.
  await client.write(new TextEncoder().encode("after"));

  assertEquals(text, `${WELCOME}ends`);
  assert(await arrived);
});

Deno.test("Relay passes on what came before a reset, and takes what the client still sends", async () => {
  await using server = await FaultyService.start(async (connection) => {
    await connection.holds(HELLO.length);
    await connection.write("ends");
    await connection.holds(HELLO.length + 1);
    connection.reset();
  });
  using relay = directRelay(server.port);
  using client = await enter(relay.proxy);
  await client.write(bytesOf(HELLO));
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

Deno.test("Relay lets go of the service, and says that it does not answer, when disposed of", async () => {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  await using server = await FaultyService.start(async (connection) => {
    await connection.holds(HELLO.length);
    asked.resolve();
    await connection.gone;
    left.resolve();
  });
  using relay = directRelay(server.port);
  using client = await enter(relay.proxy);
  await client.write(bytesOf(HELLO));
  await asked.promise;

  relay[Symbol.dispose]();

  await left.promise;
  assertEquals(await readAll(client), WELCOME);
  assertEquals([`${relay.failure?.reason}`, relay.hasAnswer], [SILENT, false]);
});

Deno.test("Relay gives its client 20 s, and no less", async () => {
  using clock = new FakeClock();
  using relay = directRelay(1);
  const { proxy } = relay;

  clock.elapse(19_999);
  using _stranger = await connectTo(proxy);
  clock.elapse(1);

  await assertRejects(() => connectTo(proxy));
  assertEquals([relay.hasClient, relay.failure], [false, undefined]);
});

/** What a client sends of an expected request, and whether it is given up after 5 s. */
const SECOND_REQUESTS: readonly (readonly [string, boolean, boolean])[] = [
  ["", false, true],
  ["more", false, false],
  ["more", true, true],
];

for (const [sent, ends, isGivenUp] of SECOND_REQUESTS) {
  Deno.test(`Relay expects another request, and gets "${sent}"${ends ? " and the end" : ""}: its client is given up, ${isGivenUp}`, async () => {
    const seen = Promise.withResolvers<void>();
    await using server = await FaultyService.start(async (connection) => {
      await connection.holds(HELLO.length);
      await connection.write("answer");
      await connection.holds(HELLO.length + sent.length);
      if (ends) await connection.gone;
      seen.resolve();
      await connection.gone;
    });
    using clock = new FakeClock();
    using relay = directRelay(server.port);
    using client = await enter(relay.proxy);
    await client.write(bytesOf(HELLO));
    await readBytes(client, `${WELCOME}answer`.length);

    using _expected = relay.expectRequest();
    await client.write(bytesOf(sent));
    if (ends) await client.closeWrite();
    await seen.promise;
    clock.elapse(4_999);
    assertEquals(relay.givenUp.aborted, false);
    clock.elapse(1);

    assertEquals(relay.givenUp.aborted, isGivenUp);
  });
}

Deno.test("Relay does not give its client up for a request that was answered", () => {
  using clock = new FakeClock();
  using relay = directRelay(1);

  relay.expectRequest()[Symbol.dispose]();
  clock.elapse(5_000);

  assertEquals(relay.givenUp.aborted, false);
});

Deno.test("copyBytes() reads into larger buffers while they are filled, up to 64 KiB", async () => {
  const sizes: number[] = [];
  const from = {
    read(buffer: Uint8Array) {
      sizes.push(buffer.length / 1024);
      const isFull = sizes.length < 5;
      return Promise.resolve(isFull ? buffer.length : null);
    },
  } as Deno.Conn;
  const to = {
    write: (bytes: Uint8Array) => Promise.resolve(bytes.length),
    closeWrite: () => Promise.resolve(),
  } as Deno.Conn;

  await copyBytes(from, to);

  assertEquals(sizes, [4, 16, 64, 64, 64]);
});
