import { portOf } from "../../settings.ts";

/**
 * Connects to the service at an `https:` URL. Deno 2.9 tries the addresses of a name as
 * RFC 8305 says; `fetch`, and Deno before, wait for the first one alone.
 */
export async function connectDirectly(
  url: URL,
  signal: AbortSignal,
): Promise<Deno.Conn> {
  const connection = await Deno.connect({
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port: portOf(url),
    signal,
  });
  connection.setNoDelay();
  return connection;
}
