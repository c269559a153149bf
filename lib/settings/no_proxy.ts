import { portOf } from "./port.ts";

/**
 * Whether a list such as the value of `NO_PROXY` names the host of a URL. Commas or
 * whitespace separate its entries, in any case:
 *
 * - `*`: every host.
 * - `name`, `.name`, `*.name`: the name, and all names below it.
 * - `10.0.0.7`, `fd00::7`, `[fd00::7]`: the address, in any spelling that a URL may have.
 * - `name:8443`, `10.0.0.7:8443`, `[fd00::7]:8443`: the same, at that port only.
 *
 * Anything else matches nothing.
 *
 * @param url An `https:` URL.
 */
export function isExcluded(url: URL, list: string): boolean {
  return list.split(/[\s,]+/)
    .some((entry) => entry === "*" || matches(entry, url));
}

function matches(entry: string, url: URL): boolean {
  const isBareAddress = /^[^[]*:.*:/.test(entry); // its last group is no port
  const [, name = "", port] = isBareAddress
    ? [entry, `[${entry}]`]
    : /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (port !== undefined && Number(port) !== portOf(url)) return false;

  const other = hostOf(name.replace(/^\*?\./, ""));
  const host = withoutFinalDot(url.hostname);
  return other !== undefined && `.${host}`.endsWith(`.${other}`);
}

/** A host as the parser of URLs writes it, if it is one. */
function hostOf(text: string): string | undefined {
  if (!/^(?:\[.*\]|[^:/@?#\\]+)$/.test(text)) return undefined;
  const hostname = URL.parse(`https://${text}`)?.hostname;
  return hostname && withoutFinalDot(hostname);
}

function withoutFinalDot(host: string): string {
  return host.replace(/\.$/, "");
}
