/**
 * The steps that a request takes before it is sent, one by one.
 *
 * @module
 */

import { systemCertificates } from "../gateway.ts";
import { within } from "../io.ts";

/** How long a name may take to be resolved, and TLS to be set up, in milliseconds. */
const STEP_LIMIT = 10_000;

/** How long one address may take to accept a connection, in milliseconds. */
const ADDRESS_LIMIT = 3_000;

/** The default ports of HTTP URLs; that of a SOCKS proxy is 1080. */
const PORTS = new Map([["http:", 80], ["https:", 443]]);

const DAY = 24 * 60 * 60 * 1000;

/** A server that accepted a connection. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** The addresses that come before it, and did not accept a connection. */
  readonly failed: readonly string[];
}

/**
 * Loads the system's resolver, which `fetch` uses too.
 *
 * @returns A function that resolves the host of a URL to one or more addresses, in
 * the order in which `fetch` tries them, and rejects if it has none.
 */
export async function openResolver(): Promise<
  (url: URL) => Promise<readonly string[]>
> {
  const { default: process } = await import("node:process");
  // Deno 2.6 warns of a module that its own node:dns imports.
  Object.assign(process, { noDeprecation: true });
  const { promises: { lookup } } = await import("node:dns");
  return async (url) => {
    const options = { all: true, order: "verbatim" } as const;
    const found = await inTime(STEP_LIMIT, lookup(hostOf(url), options));
    return found.map(({ address }) => address);
  };
}

/**
 * Connects to the first of the addresses that accepts a connection, within 3 s each,
 * and closes the connection.
 *
 * @throws If none does.
 */
export async function connect(
  addresses: readonly string[],
  url: URL,
): Promise<Endpoint> {
  const port = Number(url.port) || (PORTS.get(url.protocol) ?? 1080);
  const failed: string[] = [];
  for (const address of addresses) {
    const connecting = Deno.connect({ hostname: address, port });
    // A connection that is made after the limit is closed as well.
    const closed = connecting.then((connection) => connection.close());
    try {
      await inTime(ADDRESS_LIMIT, closed);
      return { address, port, failed };
    } catch {
      failed.push(address);
    }
  }
  throw new Error("no address accepts a connection");
}

/**
 * Sets up TLS with the certificates that a request trusts, and closes the
 * connection.
 *
 * @returns How many whole days the certificate is valid; `NaN` if that is unknown.
 * @throws If the certificate is not valid for the URL's host, or there is no TLS.
 */
export async function startTls(server: Endpoint, url: URL): Promise<number> {
  try {
    return await shakeHands(server, url);
  } catch {
    const ca = [...await systemCertificates()];
    if (ca.length > 0) return await shakeHands({ ...server, ca }, url);
    // Before Deno 2.8, node:tls ignores DENO_CERT: only Deno.startTls() reads it.
    const { address, port } = server;
    const connection = await Deno.connect({ hostname: address, port });
    const starting = Deno.startTls(connection, { hostname: hostOf(url) });
    using tls = await inTime(STEP_LIMIT, starting);
    await inTime(STEP_LIMIT, tls.handshake());
    return NaN;
  }
}

async function shakeHands(
  { address: host, port, ca }: Endpoint & { readonly ca?: string[] },
  url: URL,
): Promise<number> {
  // Deno's own connections do not tell how long a certificate is valid.
  const { connect } = await import("node:tls");
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const name = hostOf(url);
  const socket = connect(
    { host, port, servername: name === host ? "" : name, ...ca && { ca } },
    () => resolve(socket.getPeerCertificate().valid_to),
  );
  socket.on("error", reject);
  try {
    const until = Date.parse(await inTime(STEP_LIMIT, promise));
    return Math.floor((until - Date.now()) / DAY);
  } finally {
    socket.destroy();
  }
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function inTime<T>(limit: number, promise: Promise<T>): Promise<T> {
  return within(limit, promise, () => {
    throw new Error(`no answer within ${limit / 1000} s`);
  });
}
