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
import { connectDirectly, hostnameOf } from "./direct_connection.ts";
import { openHttpTunnel } from "./http_tunnel.ts";
import { isUnknownIssuer } from "./known_failures.ts";
import { openSocksTunnel } from "./socks_tunnel.ts";
import { noConnectionError, tunnelError } from "./tunnel_error.ts";
import type { Redactor } from "../../text.ts";

interface ConnectThroughOptions {
  /** Aborting it closes the connection, also after it was made. */
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
  options: ConnectThroughOptions,
): Promise<Deno.Conn> {
  const connection = await connectTo(proxy, options);
  try {
    const open = proxy.scheme.startsWith("socks")
      ? openSocksTunnel
      : openHttpTunnel;
    await open(connection, proxy, url);
    return connection;
  } catch (error) {
    closeQuietly(connection);
    throw error instanceof RequestError ? error : tunnelError(proxy);
  }
}

async function connectTo(
  proxy: Proxy,
  { signal, redactor }: ConnectThroughOptions,
): Promise<Deno.Conn> {
  for (;;) {
    const tried = trustedCertificates();
    try {
      return await connectOnce(proxy, signal);
    } catch (error) {
      const mayWork = isUnknownIssuer(error) && await loadCertificates(tried);
      if (!mayWork) throw noConnectionError(proxy, error, redactor);
    }
  }
}

async function connectOnce(
  { scheme, origin }: Proxy,
  signal: AbortSignal,
): Promise<Deno.Conn> {
  const url = new URL(origin);
  const tcp = await connectDirectly(url, signal);
  if (scheme !== "https") {
    signal.addEventListener("abort", () => closeQuietly(tcp));
    return tcp;
  }
  const hostname = hostnameOf(url);
  const caCerts = [...trustedCertificates()];
  const tls = await Deno.startTls(tcp, { hostname, caCerts });
  signal.addEventListener("abort", () => closeQuietly(tls));
  try {
    await tls.handshake();
    return tls;
  } catch (error) {
    closeQuietly(tls);
    throw error;
  }
}
