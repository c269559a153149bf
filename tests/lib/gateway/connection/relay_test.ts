import { assert, assertEquals, assertRejects } from "@std/assert";
import { Relay } from "../../../../lib/gateway/connection/relay.ts";
import type { Proxy } from "../../../../lib/settings.ts";
import { FakeClock } from "../../../support/clocks.ts";
import { ca, NAME } from "../../../support/corporate_network.ts";
import { FaultyService } from "../../../support/faulty_service/service.ts";
import { ReferenceService } from "../../../support/service/service.ts";

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

function bytesOf(latin1: string): Uint8Array {
  return Uint8Array.from(latin1, (byte) => byte.charCodeAt(0));
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
    using relay = new Relay(proxyAt(server, proxy), url);

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
  ["HTTP/1.1 yes\r\n\r\n", "it does not speak HTTP"],
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
    using relay = new Relay(proxyAt(server, proxy), url);

    await assertRejects(() => ask(relay, url), TypeError);

    assertEquals(relay.failure?.reason, told);
  });
}

/** Connects to a relay, as its client does, and asks for a service. */
async function enter(
  relay: Relay,
  { password = relay.proxy.basicAuth.password, name = NAME } = {},
): Promise<Deno.TcpConn> {
  const { port } = new URL(relay.proxy.url);
  const connection = await Deno.connect({ port: Number(port) });
  const sized = (text: string) => String.fromCharCode(text.length) + text;
  const login = sized(relay.proxy.basicAuth.username) + sized(password);
  const request = `\x05\x01\0\x03${sized(name)}\x01\xbb`;
  await connection.write(bytesOf(`\x05\x01\x02\x01${login}${request}`));
  return connection;
}

/** Everything that a connection brings, as Latin-1. */
async function readAll(connection: Deno.Conn): Promise<string> {
  let text = "";
  const bytes = new Uint8Array(1024);
  for (;;) {
    const count = await connection.read(bytes).catch(() => null);
    if (count === null) return text;
    text += String.fromCharCode(...bytes.subarray(0, count));
  }
}

Deno.test("Relay lets nobody in without its password", async () => {
  await using server = await FaultyService.start(() => {});
  using relay = new Relay(proxyAt(server), new URL(`https://${NAME}`));
  using other = new Relay(proxyAt(server), new URL(`https://${NAME}`));
  const { password } = other.proxy.basicAuth;
  assert(password !== relay.proxy.basicAuth.password);

  using stranger = await enter(relay, { password });

  assertEquals(await readAll(stranger), "\x05\x02");
  assertEquals([server.connections, relay.failure], [0, undefined]);
});

Deno.test("Relay connects to its service, whatever address is asked for", async () => {
  await using server = await FaultyService.start(async (connection) => {
    await connection.head();
  });
  using relay = new Relay(proxyAt(server), new URL(`https://${NAME}`));

  using astray = await enter(relay, { name: "other.test" });

  await readAll(astray);
  assert(server.received.startsWith(`CONNECT ${NAME}:443 `), server.received);
});

Deno.test("Relay serves its client, whatever others do at its port, and tells of its client's tunnel alone", async () => {
  await using server = await FaultyService.start(async (connection) => {
    await connection.head();
    await connection.write(bytesOf(OK));
    await connection.gone;
  });
  using relay = new Relay(proxyAt(server), new URL(`https://${NAME}`));
  const port = Number(new URL(relay.proxy.url).port);
  const strangers: Deno.Conn[] = [];
  const disturb = async () => {
    for (let i = 0; i < 40; i++) {
      const stranger = await Deno.connect({ port });
      if (i % 2 === 0) strangers.push(stranger); // silent
      else stranger.close();
    }
  };
  await disturb();
  assertEquals([relay.failure, relay.hasOpened], [undefined, false]);
  using client = await enter(relay);
  const answer = new Uint8Array(14);
  let length = 0;
  while (length < answer.length) {
    length += await client.read(answer.subarray(length)) ?? Infinity;
  }
  await disturb();
  // At most 16 connections without the password are kept, the newest ones.
  for (const stranger of strangers.slice(0, -8)) await readAll(stranger);
  assertEquals([relay.failure, relay.hasOpened], [undefined, true]);
  assertEquals(Array.from(answer.subarray(4, 6)), [5, 0]);
  for (const stranger of strangers) stranger.close();
});

Deno.test("Relay listens on loopback alone, and goes on after a connection that cannot be accepted", async () => {
  const { listen } = Deno;
  Deno.listen = ((options: Deno.TcpListenOptions) => {
    assertEquals(options.hostname, "127.0.0.1");
    const listener = listen(options);
    const { accept } = listener;
    let errors = 2;
    listener.accept = () =>
      errors-- > 0
        ? Promise.reject(new Error("Too many open files (os error 24)"))
        : accept.call(listener);
    return listener;
  }) as typeof listen;
  try {
    await using server = await FaultyService.start(() => {});
    using relay = new Relay(proxyAt(server), new URL(`https://${NAME}`));
    using stranger = await enter(relay, { password: crypto.randomUUID() });
    assertEquals(await readAll(stranger), "\x05\x02");
    assertEquals(relay.failure, undefined);
  } finally {
    Deno.listen = listen;
  }
});

Deno.test("Relay passes the end of each direction on, and keeps the other one, for as long as it takes", async () => {
  const { promise: arrived, resolve } = Promise.withResolvers<boolean>();
  await using server = await FaultyService.start(async (connection) => {
    const head = await connection.head() ?? "";
    await connection.write("HTTP/1.1 200 OK\r\n\r\nends");
    connection.close();
    resolve(await connection.holds(head.length + "after".length));
    await connection.gone;
  });
  using relay = new Relay(proxyAt(server), new URL(`https://${NAME}`));
  using clock = new FakeClock();
  using client = await enter(relay);

  const text = await readAll(client);
  clock.passTo(60_000); // Longer than a tunnel may take to open.
  await client.write(new TextEncoder().encode("after"));

  assertEquals(text.slice(-4), "ends");
  assert(await arrived);
});

Deno.test("Relay gives a silent proxy up after 20 s, and lets go of it when disposed of", async () => {
  for (const isLate of [true, false]) {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    await using server = await FaultyService.start(async (connection) => {
      await connection.head();
      ask();
      await connection.gone;
      leave();
    });
    using clock = new FakeClock();
    using relay = new Relay(proxyAt(server), new URL(`https://${NAME}`));
    using client = await enter(relay);
    await asked;

    if (isLate) { for (let i = 0; i < 2; i++) clock.pass(); // that of the login, too
     } else relay[Symbol.dispose]();

    await left;
    assertEquals(await readAll(client), "\x05\x02\x01\x00");
    assertEquals(clock.time, isLate ? 20_000 : 0);
    assertEquals(relay.failure?.reason, "it does not answer");
  }
});
