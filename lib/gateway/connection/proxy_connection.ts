/**
 * The way to the service through the user's proxy. Deno 2.9.6 would send the password of
 * an `http:` proxy to the service, with each request, and does not report why a proxy
 * refused. The proxy's name is looked up here; the service's is left to the proxy.
 *
 * @module
 */

import type { Proxy } from "../../settings.ts";
import { RequestError } from "../failure/failure.ts";
import { closeQuietly } from "./bytes.ts";
import { loadCertificates, trustedCertificates } from "./certificates.ts";
import { openHttpTunnel } from "./http_tunnel.ts";
import { openSocksTunnel } from "./socks_tunnel.ts";
import { noConnection, tunnelError } from "./tunnel_failure.ts";
import type { Redactor } from "../../text.ts";

export interface ConnectThroughOptions {
  readonly signal: AbortSignal;
  readonly redactor: Redactor;
}

/**
 * Connects to the service at an `https:` URL through a proxy.
 *
 * @throws {RequestError} If that fails, also when the signal is aborted.
 */
export async function connectThrough(
  proxy: Proxy,
  url: URL,
  { signal, redactor }: ConnectThroughOptions,
): Promise<Deno.Conn> {
  const connection = await connectTo(proxy, { signal, redactor });
  const abort = () => closeQuietly(connection);
  signal.addEventListener("abort", abort);
  try {
    const open = proxy.scheme.startsWith("socks")
      ? openSocksTunnel
      : openHttpTunnel;
    await open(connection, proxy, url);
    return connection;
  } catch (error) {
    closeQuietly(connection);
    throw error instanceof RequestError ? error : tunnelError(proxy);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function connectTo(
  proxy: Proxy,
  { signal, redactor }: ConnectThroughOptions,
): Promise<Deno.Conn> {
  const tried = trustedCertificates();
  try {
    return await connectOnce(proxy, signal);
  } catch (error) {
    const mayWork = await loadCertificates(error, tried);
    if (!mayWork) throw noConnection(proxy, error, redactor);
  }
  try {
    return await connectOnce(proxy, signal);
  } catch (error) {
    throw noConnection(proxy, error, redactor);
  }
}

async function connectOnce(
  { scheme, hostname, port }: Proxy,
  signal: AbortSignal,
): Promise<Deno.Conn> {
  const connection = await Deno.connect({ hostname, port, signal });
  connection.setNoDelay();
  return scheme === "https"
    ? await secure(connection, hostname, signal)
    : connection;
}

async function secure(
  connection: Deno.TcpConn,
  hostname: string,
  signal: AbortSignal,
): Promise<Deno.TlsConn> {
  const caCerts = [...trustedCertificates()];
  const tls = await Deno.startTls(connection, { hostname, caCerts });
  const abort = () => closeQuietly(tls);
  signal.addEventListener("abort", abort);
  try {
    await tls.handshake();
    return tls;
  } catch (error) {
    closeQuietly(tls);
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
