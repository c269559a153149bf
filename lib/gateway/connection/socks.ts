/** SOCKS5 in bytes (RFC 1928, 1929), for both of its sides. @module */

import { portOf } from "../../settings.ts";
import { readBytes } from "./bytes.ts";
import { hostnameOf } from "./direct_connection.ts";

export const SOCKS_VERSION = 5;
export const LOGIN_VERSION = 1;

/** Methods to log in. */
export const NO_LOGIN = 0;
export const PASSWORD = 2;

export const CONNECT = 1;

/** The reply of success. */
export const SUCCEEDED = 0;

/** Types of addresses. */
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

/** The address 0.0.0.0:0, for replies, which must contain one: nobody reads it. */
export const ANYWHERE: readonly number[] = [IPV4, 0, 0, 0, 0, 0, 0];

/** A text of one-byte characters, after its length. */
export function sizedText(text: string): readonly number[] {
  return [text.length, ...Array.from(text, (byte) => byte.charCodeAt(0))];
}

/** Reads an address, and drops it: its type, the host, and the port in two bytes. */
export async function dropAddress(connection: Deno.Conn): Promise<void> {
  const [type = 0, first = 0] = await readBytes(connection, 2);
  await readBytes(connection, lengthOfHost(type, first) + 1);
}

/** The length of a host in bytes. A name begins with its length. */
function lengthOfHost(type: number, first: number): number {
  switch (type) {
    case IPV4:
      return 4;
    case IPV6:
      return 16;
    default:
      return first + 1;
  }
}

/** The host of a URL as a name, which may be that of an address, and the port. */
export function addressOf(url: URL): readonly number[] {
  const port = portOf(url);
  return [NAME, ...sizedText(hostnameOf(url)), port >> 8, port & 255];
}
