/**
 * The steps that a request takes before it is sent, one by one.
 *
 * @module
 */

import { systemCertificates } from "../gateway.ts";
import { environmentVariable, within } from "../io.ts";
import type { Settings } from "../settings.ts";
import type { Report, Told } from "./report.ts";

/** How long a name may take to be resolved, and TLS to be set up, in milliseconds. */
const STEP_LIMIT = 10_000;

/** How long one address may take to accept a connection, in milliseconds. */
const ADDRESS_LIMIT = 3_000;

/** The default ports of HTTP URLs; that of a SOCKS proxy is 1080. */
const PORTS = new Map([["http:", 80], ["https:", 443]]);

const DAY = 24 * 60 * 60 * 1000;

/** A certificate that is valid for so many days or fewer gets a note. */
const FEW_DAYS = 14;

/** A server that accepted a connection. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** The addresses that come before it, and did not accept a connection. */
  readonly failed: readonly string[];
}

/**
 * Tries the connection to the service, or to the proxy in between, up to the
 * first failure. The request that follows reports the reason and what to do.
 */
export async function checkNetwork(
  { baseUrl, isLocal, proxy }: Settings,
  report: Report,
): Promise<void> {
  const url = new URL(baseUrl);
  const text = isLocal
    ? "none for a service on this machine"
    : proxy === undefined
    ? "none"
    : `${proxy.origin} from ${proxy.variable}`;
  await report.line({ state: "ok", name: "proxy", text });
  const target = proxy === undefined ? url : new URL(proxy.origin);
  // Before the step, which is timed: loading the resolver takes longer than using it.
  const resolve = await openResolver();
  const addresses = await report.step({
    name: "name",
    act: () => resolve(target),
    tell: (found) => `${target.hostname} is ${found.join(", ")}`,
    failure: `the name ${target.hostname} cannot be resolved`,
  });
  if (addresses === undefined) return;
  const endpoint = await report.step({
    name: "connection",
    act: () => connect(addresses, target),
    tell: ({ address, port }) => `to ${address}, port ${port}`,
    failure: proxy === undefined
      ? `nothing answers at ${target.host}`
      : `the proxy ${proxy.origin} from ${proxy.variable} does not answer`,
  });
  if (endpoint === undefined) return;
  for (const address of endpoint.failed) {
    const text = `${address} does not answer, and each request waits for it`;
    await report.line({ state: "note", name: "connection", text });
  }
  if (proxy !== undefined || url.protocol === "http:") {
    const text = proxy === undefined
      ? "not with http:"
      : "through the proxy, with the thread";
    return await report.line({ state: "-", name: "TLS", text });
  }
  await report.step({
    name: "TLS",
    act: () => startTls(endpoint, url),
    tell: tellDays,
    failure:
      "no connection that can be trusted; the line about the thread says why",
  });
}

function tellDays(days: number): Told {
  if (days <= FEW_DAYS) {
    const text = `the certificate expires in ${days} days; renew it`;
    return { state: "note", text };
  }
  const time = Number.isNaN(days) ? "" : ` for ${days} days`;
  const file = environmentVariable("DENO_CERT");
  return `the certificate is valid${time}${file ? `, with ${file}` : ""}`;
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
async function startTls(server: Endpoint, url: URL): Promise<number> {
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
