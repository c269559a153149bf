import type { Proxy } from "../../settings.ts";
import { readBytes, writeBytes } from "./bytes.ts";
import {
  addressOf,
  CONNECT,
  dropAddress,
  LOGIN_VERSION,
  NO_LOGIN,
  PASSWORD,
  sizedText,
  SOCKS_VERSION,
  SUCCEEDED,
} from "./socks.ts";
import { loginError, protocolError, socksError } from "./tunnel_error.ts";

/**
 * Asks a SOCKS proxy for a tunnel to the service, whose name it looks up. The connection
 * is the service's then.
 */
export async function openSocksTunnel(
  connection: Deno.Conn,
  proxy: Proxy,
  url: URL,
): Promise<void> {
  const { user, password } = proxy;
  const methods = user + password === "" ? [NO_LOGIN] : [NO_LOGIN, PASSWORD];
  const offer = Uint8Array.of(SOCKS_VERSION, methods.length, ...methods);
  await writeBytes(connection, offer);
  const [version, method = 0] = await readBytes(connection, 2);
  if (version !== SOCKS_VERSION) throw protocolError(proxy);
  if (!methods.includes(method)) throw loginError(proxy);

  if (method === PASSWORD) {
    const login = [...sizedText(user), ...sizedText(password)];
    await writeBytes(connection, Uint8Array.of(LOGIN_VERSION, ...login));
    const [, answer] = await readBytes(connection, 2);
    if (answer !== SUCCEEDED) throw loginError(proxy);
  }

  const request = [SOCKS_VERSION, CONNECT, 0, ...addressOf(url)];
  await writeBytes(connection, Uint8Array.from(request));
  const [, reply = SUCCEEDED] = await readBytes(connection, 2);
  if (reply !== SUCCEEDED) throw socksError(proxy, reply);
  await readBytes(connection, 1); // reserved
  await dropAddress(connection);
}
