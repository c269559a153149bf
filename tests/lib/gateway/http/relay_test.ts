import { assert, assertEquals, assertRejects } from "@std/assert";
import { Relay } from "../../../../lib/gateway/http/relay.ts";
import type { Proxy } from "../../../../lib/settings.ts";
import { FakeClock } from "../../../support/clocks.ts";
import { ca, NAME, tls } from "../../../support/corporate_network.ts";
import {
  FaultyService,
  type Script,
  tunnels,
} from "../../../support/faulty_service.ts";
import { ReferenceService } from "../../../support/service/service.ts";

const AUTHORITY = Deno.readTextFileSync(ca.certificate);
const LOGIN = { user: "al", password: "se:cr\xe9t" };

function portOf({ url }: { readonly url: string }): number {
  return Number(new URL(url).port);
}

/** The settings for a proxy on this machine. */
function proxyAt(
  { url }: { readonly url: string },
  { scheme, ...login }: Partial<Proxy> = {},
): Proxy {
  return {
    ...{ variable: "HTTPS_PROXY", scheme: scheme ?? "http" },
    ...{ hostname: "127.0.0.1", port: portOf({ url }), origin: url },
    ...{ user: "", password: "", ...login },
  };
}

/** A proxy for SOCKS5 that answers so, and connects to a port. */
function socks(
  answers: readonly (readonly number[])[],
  port: number,
): Script {
  return async (connection) => {
    // A greeting, perhaps a login, and a request, which are short.
    for (const answer of answers) {
      if (!await connection.holds(3)) return;
      connection.take(connection.received.length);
      await connection.write(Uint8Array.from(answer));
    }
    if (answers.at(-1)?.[1] === 0) await connection.forward(port);
  };
}

const OPEN = [5, 0, 0, 1, 127, 0, 0, 1, 0, 80];
const NAMED = [5, 0, 0, 3, 2, 97, 98, 0, 80];

/** Asks a service through a relay. */
async function ask(relay: Relay, url: URL): Promise<Response> {
  using client = Deno.createHttpClient({
    caCerts: [AUTHORITY],
    proxy: relay.proxy,
  });
  const response = await fetch(url, { method: "POST", client });
  await response.body?.cancel();
  return response;
}

/** The login, as the bytes of each protocol that a proxy sees it in. */
const BASIC = `Proxy-Authorization: Basic ${btoa("al:se:cr\xe9t")}\r\n`;
const SOCKS_LOGIN = "\x01\x02al\x07se:cr\xe9t";

/** Proxies that open a tunnel, what they see, and what they do not see. */
const WAYS: readonly (readonly [
  name: string,
  proxy: Partial<Proxy>,
  script: (port: number) => Script,
  seen: string,
])[] = [
  ["HTTP", {}, (port) => tunnels(() => port), `CONNECT ${NAME}:`],
  ["HTTP with a login", LOGIN, (port) => tunnels(() => port), BASIC],
  ["SOCKS", { scheme: "socks5" }, (port) => socks([[5, 0], OPEN], port), NAME],
  [
    "SOCKS with a login",
    { scheme: "socks5h", ...LOGIN },
    (port) => socks([[5, 2], [1, 0], NAMED], port),
    SOCKS_LOGIN,
  ],
];

for (const [name, proxy, script, seen] of WAYS) {
  Deno.test(`Relay reaches the service through a proxy that speaks ${name}, and tells it no login`, async () => {
    await using service = ReferenceService.start({ tls });
    const port = portOf(service);
    await using server = await FaultyService.start(script(port));
    const url = new URL(`https://${NAME}:${port}/threads`);
    using relay = new Relay(proxyAt(server, proxy), url);

    const { status } = await ask(relay, url);

    assertEquals([status, relay.failure], [401, undefined]);
    assert(server.received.includes(seen), server.received.slice(0, 100));
    const [{ headers } = { headers: new Headers() }] = service.requests;
    assertEquals(headers.get("proxy-authorization"), null);
  });
}

/** What a proxy for HTTP answers, and what is told of it. */
const ANSWERS: readonly (readonly [string, string, Partial<Proxy>?])[] = [
  ["", "it closed the connection"],
  ["HTTP/1.1 200", "it closed the connection"],
  ["\x15\x03\x01\x00\x02\x02\x32", "it does not speak HTTP"],
  ["HTTP/1.1 yes\r\n\r\n", "it does not speak HTTP"],
  [`HTTP/1.1 200 OK\r\nA: ${"a".repeat(20_000)}`, "it does not speak HTTP"],
  ["HTTP/1.1 403 Forbidden\r\n\r\n<html>", "it answered 403"],
  [
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>",
    "a web page came (status 200), perhaps the sign-in page of a network",
  ],
  [
    "HTTP/1.1 407 No\r\n\r\n",
    "it asks for a user name and a password",
  ],
  [
    'HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm="a, NTLM b", qop="auth", Negotiate\r\nproxy-authenticate:NTLM\r\n\r\n',
    "it asks for a login by Digest, Negotiate, NTLM, and this program speaks Basic alone",
  ],
  [
    'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="a"\r\n\r\n',
    "it rejected the user name or the password",
    LOGIN,
  ],
  ["HTTP/1.1 400 No\r\n\r\n", "it does not speak SOCKS", { scheme: "socks5" }],
  ["\x05\xff", "it asks for a user name and a password", { scheme: "socks5" }],
  [
    "\x05\xff",
    "it rejected the user name or the password",
    { scheme: "socks5", ...LOGIN },
  ],
  [
    "\x05\x02\x01\x01",
    "it rejected the user name or the password",
    { scheme: "socks5", ...LOGIN },
  ],
  ["\x05\x00\x05\x02", "its rules forbid it", { scheme: "socks5" }],
  ["\x05\x00\x05", "it closed the connection", { scheme: "socks5" }],
];

for (const [answer, told, proxy] of ANSWERS) {
  const shown = JSON.stringify(answer.slice(0, 40));
  Deno.test(`Relay tells of a proxy that answers ${shown}: ${told}`, async () => {
    const bytes = Uint8Array.from(answer, (byte) => byte.charCodeAt(0));
    await using server = await FaultyService.start(async (connection) => {
      await connection.holds(1);
      await connection.write(bytes);
    });
    const url = new URL(`https://${NAME}/`);
    using relay = new Relay(proxyAt(server, proxy), url);

    await assertRejects(() => ask(relay, url), TypeError);

    assertEquals(relay.failure?.finding.reason, told);
  });
}

/** Connects to a relay, as its client does, and asks for a service. */
async function enter(
  relay: Relay,
  { password = relay.proxy.basicAuth.password, name = NAME } = {},
): Promise<Deno.TcpConn> {
  const { port } = new URL(relay.proxy.url);
  const connection = await Deno.connect({ port: Number(port) });
  const bytes = (
    text: string,
  ) => [text.length, ...new TextEncoder().encode(text)];
  await connection.write(Uint8Array.from([
    ...[5, 1, 2],
    ...[1, ...bytes(relay.proxy.basicAuth.username), ...bytes(password)],
    ...[5, 1, 0, 3, ...bytes(name), 1, 187],
  ]));
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

Deno.test("Relay lets nobody in without its password, and to no other service", async () => {
  await using server = await FaultyService.start(() => {});
  using relay = new Relay(proxyAt(server), new URL(`https://${NAME}`));

  using stranger = await enter(relay, { password: crypto.randomUUID() });
  using astray = await enter(relay, { name: "other.test" });

  assertEquals(await readAll(stranger), "\x05\x02");
  assertEquals(await readAll(astray), "\x05\x02\x01\x00");
  assertEquals([server.connections, relay.failure], [0, undefined]);
});

Deno.test("Relay passes the end of each direction on, and keeps the other one", async () => {
  const { promise: arrived, resolve } = Promise.withResolvers<boolean>();
  await using server = await FaultyService.start(async (connection) => {
    const head = await connection.head() ?? "";
    await connection.write("HTTP/1.1 200 OK\r\n\r\nends");
    connection.close();
    resolve(await connection.holds(head.length + "after".length));
    await connection.gone;
  });
  using relay = new Relay(proxyAt(server), new URL(`https://${NAME}`));
  using client = await enter(relay);

  const text = await readAll(client);
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

    if (isLate) clock.pass();
    else relay[Symbol.dispose]();

    await left;
    assertEquals(await readAll(client), "\x05\x02\x01\x00");
    assertEquals(clock.time, isLate ? 20_000 : 0);
    const { reason } = relay.failure?.finding ?? {};
    assertEquals(reason, isLate ? "no answer within 20 s" : undefined);
  }
});
