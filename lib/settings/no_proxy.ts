/**
 * Whether a list such as the value of `NO_PROXY` names the host of a URL. Commas or
 * whitespace separate its entries, in any case:
 *
 * - `*`: every host.
 * - `name`, `.name`, `*.name`: the name, and all names below it.
 * - `10.0.0.7`, `fd00::7`, `[fd00::7]`: the address, as the URL has it.
 * - `name:8443`, `10.0.0.7:8443`, `[fd00::7]:8443`: the same, at that port only.
 *
 * Anything else matches nothing.
 *
 * @param url An `https:` URL.
 */
export function isExcluded(url: URL, list: string): boolean {
  return list.toLowerCase().split(/[\s,]+/)
    .some((entry) => entry === "*" || matches(entry, url));
}

function matches(entry: string, { hostname, port }: URL): boolean {
  const isBareAddress = /^[^[]*:.*:/.test(entry); // its last group is no port
  const [, name = "", ownPort] = isBareAddress
    ? [entry, entry]
    : /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (ownPort !== undefined && Number(ownPort) !== Number(port || 443)) {
    return false;
  }

  const host = bare(hostname);
  const other = bare(name.replace(/^\*?\./, ""));
  const isName = /[^\d.]$/.test(host) && !host.includes(":");
  return host === other || isName && host.endsWith(`.${other}`);
}

/** A host without the brackets of an address and the final dot of a name. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}
