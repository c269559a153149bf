/**
 * The proxies of the environment, as Deno's `fetch` uses them.
 *
 * @module
 */

import { environmentVariable } from "../../io.ts";

/** In the order in which `fetch` reads them. `HTTP_PROXY` is only for `http:`. */
const FOR_HTTPS = ["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"];
const FOR_HTTP = ["HTTP_PROXY", "http_proxy"];

/** A proxy between this machine and a service. */
export interface Proxy {
  /** The environment variable that names it. */
  readonly variable: string;
  /** Scheme, host and port, without a user or a password: `http://proxy.example:3128`. */
  readonly origin: string;
}

/**
 * The proxy through which `fetch` reaches a service that is not on this machine.
 *
 * @param url The service's URL, with `https:`.
 * @returns The proxy; `undefined` if `fetch` uses none.
 */
export function proxyFor(url: URL): Proxy | undefined {
  if (isExcluded(url.hostname)) return undefined;
  for (const variable of FOR_HTTPS) {
    const value = environmentVariable(variable) ?? "";
    // `fetch` ignores values that are not URLs, too.
    const proxy = URL.parse(value.includes("://") ? value : `http://${value}`);
    if (proxy === null) continue;
    return { variable, origin: `${proxy.protocol}//${proxy.host}` };
  }
  return undefined;
}

/**
 * Removes the proxies from the environment. Call it before the first request to a
 * service on this machine: a proxy would see the key of an `http:` service in
 * clear text.
 */
export function ignoreProxies(): void {
  for (const variable of [...FOR_HTTPS, ...FOR_HTTP]) Deno.env.delete(variable);
}

/** Whether `NO_PROXY` excludes a host. */
function isExcluded(hostname: string): boolean {
  const list = environmentVariable("NO_PROXY") ??
    environmentVariable("no_proxy") ?? "";
  const host = hostname.replace(/^\[|\]$/g, "");
  const isAddress = /^[\d.]+$|:/.test(host);
  return list.split(",").map((entry) => entry.trim()).some((entry) => {
    if (entry === "") return false;
    // A range of addresses. It is not evaluated here: only `fetch` knows the address.
    if (isAddress) return entry === host || entry.includes("/");
    const domain = entry.replace(/^\./, "");
    return entry === "*" || host === domain || host.endsWith(`.${domain}`);
  });
}
