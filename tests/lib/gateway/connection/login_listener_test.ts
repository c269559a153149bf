import { assert, assertEquals, assertRejects } from "@std/assert";
import { closeQuietly } from "../../../../lib/gateway/connection/bytes.ts";
import { LoginListener } from "../../../../lib/gateway/connection/login_listener.ts";
import { FakeClock } from "../../../support/clocks.ts";
import {
  bytesOf,
  connectTo,
  enter,
  readAll,
  type RelayLogin,
  WELCOME,
} from "../../../support/relay_client.ts";
import { soon } from "../../../support/waits.ts";

/** The client that a listener lets in; fails if it does not. */
function clientOf({ client }: LoginListener): Promise<Deno.TcpConn> {
  return soon(client, () => "nobody was let in");
}

Deno.test("LoginListener lets the client in, and then nobody: it has stopped listening", async () => {
  using listener = new LoginListener();
  using silent = await connectTo(listener.proxy);
  const { proxy } = listener;
  using client = await enter(proxy);

  using accepted = await clientOf(listener);

  await accepted.closeWrite();
  assertEquals(await readAll(client), WELCOME);
  assertEquals(await readAll(silent), "");
  await assertRejects(() => enter(proxy), Deno.errors.ConnectionRefused);
});

Deno.test("LoginListener lets nobody in without its password, which is another one each time", async () => {
  using listener = new LoginListener();
  using other = new LoginListener();
  const { password } = other.proxy.basicAuth;
  assert(password !== listener.proxy.basicAuth.password);

  using stranger = await enter(listener.proxy, { password });
  using noLogin = await connectTo(listener.proxy);
  await noLogin.write(bytesOf("\x05\x01\0"));
  using noSocks = await connectTo(listener.proxy);
  await noSocks.write(bytesOf("GET / HTTP/1.1\r\n\r\n"));

  // At a reset, Windows drops what has arrived and was not read.
  const answered = await readAll(stranger);
  assert("\x05\x02".startsWith(answered), answered);
  assertEquals(await readAll(noLogin), "");
  assertEquals(await readAll(noSocks), "");
  using _client = await enter(listener.proxy);
  (await clientOf(listener)).close();
});

/** So many connections that send nothing. */
async function silentOnes(proxy: RelayLogin): Promise<Deno.TcpConn[]> {
  const silent: Deno.TcpConn[] = [];
  while (silent.length < 40) silent.push(await connectTo(proxy));
  return silent;
}

/** Lets a connection that has come before others log in, and shows what it gets. */
async function logIn(
  listener: LoginListener,
  connection: Deno.TcpConn,
): Promise<string> {
  const { username, password } = listener.proxy.basicAuth;
  await connection.write(bytesOf(`\x01\x05${username}\x24${password}`));
  await connection.write(bytesOf("\x05\x01\0\x01\0\0\0\0\0\0"));
  using accepted = await clientOf(listener);
  await accepted.closeWrite();
  return await readAll(connection);
}

Deno.test("LoginListener closes the oldest of many that send nothing, and none that has begun as the client does", async () => {
  using listener = new LoginListener();
  using slow = await connectTo(listener.proxy);
  await slow.write(bytesOf("\x05\x01\x02"));
  await slow.read(new Uint8Array(2));
  const silent = await silentOnes(listener.proxy);

  // 16 are kept, the newest ones.
  for (const connection of silent.slice(0, 40 - 16)) {
    assertEquals(await readAll(connection), "");
  }

  assertEquals(await logIn(listener, slow), WELCOME.slice(2));
  silent.forEach(closeQuietly);
});

Deno.test("LoginListener gives a connection the time to begin, however many come after it", async () => {
  using _clock = new FakeClock(); // No time passes.
  using listener = new LoginListener();
  using client = await connectTo(listener.proxy);
  const silent = await silentOnes(listener.proxy);

  await client.write(bytesOf("\x05\x01\x02"));

  assertEquals(await logIn(listener, client), WELCOME);
  silent.forEach(closeQuietly);
});

Deno.test("LoginListener, on loopback alone, continues after a connection that could not be accepted", async () => {
  const { listen } = Deno;
  Deno.listen = ((options: Deno.TcpListenOptions) => {
    assertEquals(options.hostname, "127.0.0.1");
    const listener = listen(options);
    const accept = listener.accept.bind(listener);
    let resets = 2;
    listener.accept = () =>
      resets-- > 0 ? Promise.reject(new Error("not connected")) : accept();
    return listener;
  }) as typeof listen;
  using listener = new LoginListener();
  Deno.listen = listen;

  using _client = await enter(listener.proxy);

  (await clientOf(listener)).close();
});
