import { within } from "../io.ts";

/** How long reading the certificate may take, in milliseconds. */
const LIMIT = 3_000;

/** How many days before it expires a certificate is worth a note. */
export const FEW_DAYS = 14;

const DAY = 24 * 60 * 60 * 1000;

/**
 * How many whole days the certificate of a server is valid from now on;
 * `undefined` if the server does not tell in time. Deno's own connections do not
 * tell: `node:tls` does, with one more.
 */
export async function daysLeft(
  { address, port }: { readonly address: string; readonly port: number },
  { hostname }: URL,
): Promise<number | undefined> {
  const { isIP } = await import("node:net");
  const { connect } = await import("node:tls");
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect({
    ...{ host: address, port },
    servername: hostname.includes("[") || isIP(hostname) ? "" : hostname,
    // Whether it is to be trusted was checked before, and nothing is sent.
    rejectUnauthorized: false,
  }, () => resolve(socket.getPeerCertificate().valid_to));
  socket.on("error", () => resolve(undefined));
  try {
    const until = await within(LIMIT, promise, () => undefined);
    const days = Math.floor((Date.parse(until ?? "") - Date.now()) / DAY);
    return Number.isNaN(days) ? undefined : days;
  } finally {
    socket.destroy();
  }
}
