/** SOCKS5 in bytes (RFC 1928, 1929), for both of its sides. @module */

import { portOf } from "../../settings.ts";
import { readBytes } from "./bytes.ts";

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

/** The host and the port of a URL as an address. */
export function addressOf(url: URL): readonly number[] {
  const port = portOf(url);
  return [...hostOf(url.hostname), port >> 8, port & 255];
}

function hostOf(hostname: string): readonly number[] {
  if (/^[\d.]+$/.test(hostname)) {
    return [IPV4, ...hostname.split(".").map(Number)];
  }
  if (!hostname.startsWith("[")) return [NAME, ...sizedText(hostname)];
  return [IPV6, ...ipv6Bytes(hostname.slice(1, -1))];
}

/** The bytes of an IPv6 address, in which `::` stands for the zeros that are missing. */
function ipv6Bytes(address: string): readonly number[] {
  const [head = [], tail = []] = address.split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail]
    .map((group) => parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255]);
}
