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

/** A connection that has been made. */
export interface Endpoint {
  readonly connection: Deno.TcpConn;
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
 * Connects to the first of the addresses that accepts a connection, within 3 s each.
 *
 * @throws If none does.
 */
export async function connect(
  addresses: readonly string[],
  url: URL,
): Promise<Endpoint> {
  const port = Number(url.port) || (PORTS.get(url.protocol) ?? 1080);
  const failed: string[] = [];
  let reason: unknown;
  for (const address of addresses) {
    const connecting = Deno.connect({ hostname: address, port });
    try {
      const connection = await inTime(ADDRESS_LIMIT, connecting);
      return { connection, address, port, failed };
    } catch (error) {
      // A connection that comes later is not needed any more.
      connecting.then((connection) => connection.close(), () => {});
      reason ??= error;
      failed.push(address);
    }
  }
  throw reason;
}

/**
 * Sets up TLS as a request does, and closes the connection.
 *
 * @throws If the certificate is not valid for the URL's host, or there is no TLS.
 */
export async function startTls(
  { connection, address, port }: Endpoint,
  url: URL,
): Promise<void> {
  const shakeHands = async (tcp: Deno.TcpConn, caCerts: string[]) => {
    using tls = await Deno.startTls(tcp, { hostname: hostOf(url), caCerts });
    await inTime(STEP_LIMIT, tls.handshake());
  };
  try {
    await shakeHands(connection, []);
  } catch (error) {
    const caCerts = [...await systemCertificates()];
    if (caCerts.length === 0) throw error;
    await shakeHands(await Deno.connect({ hostname: address, port }), caCerts);
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
