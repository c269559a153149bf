/**
 * The steps that a request takes before it is sent, one by one. Each fails after
 * 10 seconds.
 *
 * @module
 */

const LIMIT = 10_000;

/** The default ports of HTTP URLs; that of a SOCKS proxy is 1080. */
const PORTS = new Map([["http:", 80], ["https:", 443]]);

/** A connection that has been made. */
export interface Endpoint {
  readonly connection: Deno.TcpConn;
  readonly address: string;
  readonly port: number;
}

/**
 * Loads the system's resolver, which `fetch` uses too.
 *
 * @returns A function that resolves the host of a URL to one or more addresses,
 * and rejects if it has none.
 */
export async function openResolver(): Promise<
  (url: URL) => Promise<readonly string[]>
> {
  const { default: process } = await import("node:process");
  // Deno 2.6 warns of a module that its own node:dns imports.
  Object.assign(process, { noDeprecation: true });
  const { promises: { lookup } } = await import("node:dns");
  return async (url) => {
    const found = await within(LIMIT, lookup(hostOf(url), { all: true }));
    return found.map(({ address }) => address);
  };
}

/**
 * Connects to the first of the addresses that accepts a connection.
 *
 * @throws If none does.
 */
export async function connect(
  addresses: readonly string[],
  url: URL,
): Promise<Endpoint> {
  const port = Number(url.port) || (PORTS.get(url.protocol) ?? 1080);
  const failures: unknown[] = [];
  for (const hostname of addresses) {
    try {
      const connection = await within(LIMIT, Deno.connect({ hostname, port }));
      return { connection, address: hostname, port };
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0];
}

/**
 * Sets up TLS on a connection, and closes it.
 *
 * @throws If the certificate is not valid for the URL's host, or there is no TLS.
 */
export async function startTls(
  connection: Deno.TcpConn,
  url: URL,
): Promise<void> {
  using tls = await Deno.startTls(connection, { hostname: hostOf(url) });
  await within(LIMIT, tls.handshake());
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** Waits for a promise, at most a number of milliseconds. */
async function within<T>(limit: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`no answer within ${limit / 1000} s`)),
    limit,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
