/**
 * The proxy that the environment names. Deno's own parser ignores a value with a
 * mistake in it and connects directly, or looks a piece of the password up in the
 * DNS.
 *
 * @module
 */

import { environmentVariable } from "../io.ts";
import { isExcluded } from "./no_proxy.ts";
import { SettingsError } from "./settings_error.ts";

export interface Proxy {
  /** The environment variable that names it. */
  readonly variable: typeof NAMES[number];
  readonly scheme: "http" | "https" | "socks5" | "socks5h";
  /** User and password, decoded to one character for each byte; empty without a login. */
  readonly user: string;
  readonly password: string;
  /** Scheme, host and port: `http://proxy.example:3128`. */
  readonly origin: string;
}

// In each of these two lists, the first variable that is not empty is used.
const NAMES = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] as const;
const EXCEPTIONS = ["no_proxy", "NO_PROXY"];
/** What `fetch` would read. */
const PROXIES: readonly string[] = [...NAMES, "http_proxy", "HTTP_PROXY"];

/**
 * Whether the program may read, and so remove, each variable that names a proxy. `fetch`
 * (Deno 2.9.6) reads them by itself, also those that the program may not read: then only
 * a relay keeps `fetch` from them.
 */
export function mayReadProxyVariables(): boolean {
  return PROXIES.every((variable) => isGranted({ name: "env", variable }));
}

/** Whether the program may listen on loopback. Nobody is asked for the permission. */
export function mayListenOnLoopback(): boolean {
  return isGranted({ name: "net", host: "127.0.0.1" });
}

function isGranted(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}

/**
 * Removes the variables about proxies from the environment, so that `fetch` does not see
 * them, and returns the proxy that they name for a service, if they do. A service on
 * this machine has none: a proxy would see the key of an `http:` service in clear text.
 *
 * @throws {SettingsError} If the variable that is used is malformed, or if the program
 * may not keep `fetch` from other proxies. (A service that is its own proxy obeys no
 * variable, but gets the absolute form of HTTP, which Node.js and Python answer with
 * 404.)
 */
export function takeProxy(url: URL, isLocal: boolean): Proxy | undefined {
  const values = new Map(
    [...PROXIES, ...EXCEPTIONS].map((
      name,
    ) => [name, environmentVariable(name)]),
  );
  // Only now: at a terminal, reading asks for the permission.
  const isHttps = url.protocol === "https:";
  const hasRelay = isHttps && mayListenOnLoopback();
  if (!hasRelay && !mayReadProxyVariables()) {
    const missing = isHttps
      ? "--allow-net=127.0.0.1"
      : `--allow-env=${PROXIES}`;
    throw new SettingsError(
      `The proxy variables cannot be read: run Deno with ${missing} as well`,
    );
  }

  const exceptions = EXCEPTIONS.find((name) => values.get(name)) ?? "";
  const isDirect = isLocal || isExcluded(url, values.get(exceptions) ?? "");
  const variable = NAMES.find((name) => values.get(name));

  for (const [name, value] of values) {
    if (value !== undefined) Deno.env.delete(name);
  }
  if (isDirect || variable === undefined) return undefined;
  return parseProxy(variable, values.get(variable) ?? "");
}

const PORTS = { http: 80, https: 443, socks5: 1080, socks5h: 1080 } as const;

function parseProxy(variable: Proxy["variable"], value: string): Proxy {
  const refuse = (reason: string) =>
    new SettingsError(`${variable}: ${reason}`);
  if (/^[\s'"]|[\s'"]$/.test(value)) {
    throw refuse("remove the spaces or quotes around its value");
  }
  const [start, name = "http"] = /^([a-z\d+.-]+):\/\//i.exec(value) ?? [""];
  const scheme = name.toLowerCase();
  if (!isScheme(scheme)) {
    throw refuse("its scheme must be http, https, socks5 or socks5h");
  }

  const rest = value.slice(start.length);
  const login = rest.slice(0, Math.max(rest.lastIndexOf("@"), 0));
  if (/[^!-~]|[\/?#@\\]|%(?![\da-f]{2})/i.test(login)) {
    throw refuse(
      "the user name or password contains a special character; percent-encode it (@ is %40)",
    );
  }

  const [, host, digits] =
    /^(?:[^@]*@)?(\[[\da-f:.]+\]|[a-z\d._-]+)(?::(\d+))?\/?$/i.exec(rest) ?? [];
  const hostname = URL.parse(`http://${host}`)?.hostname;
  if (host === undefined || hostname === undefined) {
    throw refuse("it must look like http://user:password@host:port");
  }
  if (start === "" && digits === undefined) {
    throw refuse("it needs a scheme or a port");
  }

  const port = Number(digits ?? PORTS[scheme]);
  if (port < 1 || port > 65535) {
    throw refuse("its port must be between 1 and 65535");
  }

  const [, user = "", password = ""] = /^([^:]*):?(.*)$/.exec(login) ?? [];
  return {
    variable,
    scheme,
    user: decode(user),
    password: decode(password),
    origin: `${scheme}://${hostname}:${port}`,
  };
}

function isScheme(text: string): text is keyof typeof PORTS {
  return Object.hasOwn(PORTS, text);
}

/** Decodes percent-encoded bytes, to one character each. */
function decode(text: string): string {
  return text.replace(
    /%(..)/g,
    (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
