/**
 * `NO_PROXY`: the hosts that are reached without the proxy.
 *
 * @module
 */

/**
 * Whether a list such as the value of `NO_PROXY` names the host of a URL. Commas or
 * spaces are between its entries, and upper case counts as lower case:
 *
 * - `*`: every host.
 * - `name`, `.name`, `*.name`: the name, and all names below it.
 * - `10.0.0.7`, `fd00::7`, `[fd00::7]`: the address, however it is written.
 * - `10.0.0.0/8`, `fd00::/8`: the addresses of a range. Names are not resolved for it.
 * - `name:8443`, `10.0.0.7:8443`, `[fd00::7]:8443`: the same, at that port only.
 *
 * Anything else matches nothing.
 *
 * @param url An `https:` URL.
 */
export function isExcluded(url: URL, list: string): boolean {
  return list.split(/[\s,]+/).some((entry) => matches(entry, url));
}

/** A name or an address, and a port or the length of a range. */
const ENTRY = /^(\[[^\]]+\]|[^:[\]@?#\\%\/]+)(?::(\d+)|\/(\d+))?$/;

function matches(entry: string, url: URL): boolean {
  if (entry === "*") return true;
  const bits = bitsOf(url.hostname);
  const text = bits === undefined
    ? entry.replace(/^\*?\./, "")
    : entry.replace(/^[^[\/]*:[^[\/]*:[^[\/]*/, "[$&]");
  const [, name = "", port, length] = ENTRY.exec(text) ?? [];
  const host = URL.parse(`https://${name}`)?.hostname;
  if (host === undefined) return false;
  if (port !== undefined && Number(port) !== Number(url.port || 443)) {
    return false;
  }
  if (bits !== undefined) {
    const range = bitsOf(name.startsWith("[") ? host : name);
    const count = Number(length ?? bits.length);
    return range?.length === bits.length && count <= bits.length &&
      bits.startsWith(range.slice(0, count));
  }
  const [own = "", other] = [url.hostname, host].map((it) =>
    it.replace(/\.$/, "")
  );
  return length === undefined && `.${own}`.endsWith(`.${other}`);
}

/** The binary digits of an address in a URL, 32 or 128; `undefined` for a name. */
function bitsOf(hostname: string): string | undefined {
  const binary = (part: string, radix: number, length: number) =>
    Number.parseInt(part, radix).toString(2).padStart(length, "0");
  if (/^[\d.]+$/.test(hostname)) {
    return hostname.split(".").map((part) => binary(part, 10, 8)).join("");
  }
  if (!hostname.startsWith("[")) return undefined;
  const [head = [], tail = []] = hostname.slice(1, -1).split("::")
    .map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail]
    .map((group) => binary(group, 16, 16)).join("");
}
