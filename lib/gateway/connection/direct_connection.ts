import { portOf } from "../../settings.ts";

/**
 * Connects to the service at an `https:` URL, or to a proxy. `Deno.connect()` of 2.9
 * tries all addresses of a name, as RFC 8305 says; `fetch` and older versions try the
 * first one only.
 */
export async function connectDirectly(
  url: URL,
  signal: AbortSignal,
): Promise<Deno.TcpConn> {
  const hostname = hostnameOf(url);
  const connection = await Deno.connect({
    hostname,
    port: portOf(url),
    signal,
  });
  connection.setNoDelay();
  return connection;
}

/** A name or an address, without brackets. */
export function hostnameOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}
