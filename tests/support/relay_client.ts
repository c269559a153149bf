/** What `fetch` does at the program's relay, and what others can do. @module */

import { soon } from "./waits.ts";

/** What a relay gives to its HTTP client. */
export interface RelayLogin {
  readonly url: string;
  readonly basicAuth: Deno.BasicAuth;
}

/** Connects to the port of a relay, and sends nothing. */
export async function connectTo({ url }: RelayLogin): Promise<Deno.TcpConn> {
  return await Deno.connect({ port: Number(new URL(url).port) });
}

/** Connects to a relay as its client does, and asks for a service. */
export async function enter(
  relay: RelayLogin,
  { password = relay.basicAuth.password } = {},
): Promise<Deno.TcpConn> {
  const connection = await connectTo(relay);
  const login = sized(relay.basicAuth.username) + sized(password);
  const request = `\x05\x01\0\x03${sized("other.test")}\x01\xbb`;
  await connection.write(bytesOf(`\x05\x01\x02\x01${login}${request}`));
  return connection;
}

/** Everything that the relay says to a client that it lets in. */
export const WELCOME = "\x05\x02\x01\0\x05\0\0\x01\0\0\0\0\0\0";

export function bytesOf(latin1: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(latin1, (byte) => byte.charCodeAt(0));
}

/** Everything that a connection brings until it ends, as Latin-1. */
export async function readAll(connection: Deno.Conn): Promise<string> {
  const bytes: number[] = [];
  const buffer = new Uint8Array(1024);
  const read = () => connection.read(buffer).catch(() => null);
  const text = () => String.fromCharCode(...bytes);
  for (;;) {
    const count = await soon(read(), () => `no end after "${text()}"`);
    if (count === null) return text();
    bytes.push(...buffer.subarray(0, count));
  }
}

function sized(text: string): string {
  return String.fromCharCode(text.length) + text;
}
