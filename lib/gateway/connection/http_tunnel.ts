import { portOf, type Proxy } from "../../settings.ts";
import { VERSION } from "../../version.ts";
import { readBytes, writeBytes } from "./bytes.ts";
import {
  protocolError,
  type Scheme,
  SCHEMES,
  tunnelStatusError,
} from "./tunnel_error.ts";

const MAX_HEAD_BYTES = 16 * 1024;

const STATUS_LINE = /^HTTP\/1\.\d ([1-9]\d\d)[ \r\n]/;

/**
 * Asks an HTTP proxy for a tunnel to the service (RFC 9110, 9.3.6). The connection is
 * the service's then.
 */
export async function openHttpTunnel(
  connection: Deno.Conn,
  proxy: Proxy,
  url: URL,
): Promise<void> {
  const host = `${url.hostname}:${portOf(url)}`;
  const lines = [`CONNECT ${host} HTTP/1.1`, `Host: ${host}`];
  if (proxy.user + proxy.password !== "") {
    const login = btoa(`${proxy.user}:${proxy.password}`);
    lines.push(`Proxy-Authorization: Basic ${login}`);
  }
  lines.push(`User-Agent: agent-gateway/${VERSION}`, "", "");
  await writeBytes(connection, new TextEncoder().encode(lines.join("\r\n")));

  for (;;) {
    const head = await readHead(connection, proxy);
    const [, digits] = STATUS_LINE.exec(head) ?? [];
    const status = Number(digits);
    if (status < 200) continue; // The answer comes later.
    if (status < 300) return;
    throw tunnelStatusError(proxy, status, schemesIn(head));
  }
}

/** Reads the head of an answer: byte by byte, because what follows is the service's. */
async function readHead(connection: Deno.Conn, proxy: Proxy): Promise<string> {
  let head = "";
  while (!/\n\r?\n$/.test(head)) {
    if (head.length === MAX_HEAD_BYTES) throw protocolError(proxy);
    head += String.fromCharCode(...await readBytes(connection, 1));
    const isHttp = head.endsWith("\n")
      ? STATUS_LINE.test(head)
      : "HTTP/1.".startsWith(head.slice(0, 7));
    if (!isHttp) throw protocolError(proxy);
  }
  return head;
}

/** The schemes by which a proxy lets clients log in. */
function schemesIn(head: string): readonly Scheme[] {
  const offers = head.replaceAll(/"[^"]*"/g, "")
    .match(/(?<=^proxy-authenticate:).*$/gim)?.join().toLowerCase() ?? "";
  const offered = offers.split(",").map((offer) => offer.trim().split(" ")[0]);
  return SCHEMES.filter((name) => offered.includes(name.toLowerCase()));
}
