/**
 * The settings of the servers that are put in front of a service, which keep a
 * stream from being held back, compressed or cut.
 *
 * @module
 */

/** The problem that a setting of a proxy solves. */
export type Trouble = "held back" | "compressed" | "cut";

interface FrontSettings {
  readonly name: string;
  /** Matches the header `Server` or `Via`. */
  readonly pattern: RegExp;
  readonly settings: Readonly<Record<Trouble, string>>;
}

const FRONTS: readonly FrontSettings[] = [
  {
    name: "nginx",
    pattern: /nginx|openresty/i,
    settings: {
      "held back": "proxy_http_version 1.1; proxy_buffering off;",
      "compressed": "gzip_types without text/event-stream",
      "cut": "proxy_read_timeout 10m;",
    },
  },
  {
    name: "Apache",
    pattern: /apache/i,
    settings: {
      "held back": "ProxyPass / http://... flushpackets=on",
      "compressed": "SetEnvIf Accept text/event-stream no-gzip",
      "cut": "ProxyTimeout 600",
    },
  },
  {
    name: "Caddy",
    pattern: /caddy/i,
    settings: {
      "held back": "reverse_proxy { flush_interval -1 }",
      "compressed": "encode with a matcher that leaves text/event-stream out",
      "cut": "reverse_proxy { transport http { read_timeout 10m } }",
    },
  },
  {
    name: "HAProxy",
    pattern: /haproxy/i,
    settings: {
      "held back": "no option http-buffer-response",
      "compressed": "compression type without text/event-stream",
      "cut": "timeout server 10m",
    },
  },
  {
    name: "lighttpd",
    pattern: /lighttpd/i,
    settings: {
      "held back": "server.stream-response-body = 1",
      "compressed": "deflate.mimetypes without text/event-stream",
      "cut": 'proxy.server with "read-timeout" => 600',
    },
  },
];

/** How many fronts are named if the one that answered is not known. */
const COMMON = 4;

/** Whether headers name a front whose settings are known. */
export function isKnownFront(server: string): boolean {
  return FRONTS.some(({ pattern }) => pattern.test(server));
}

/**
 * The setting of the front that answered; those of the common ones if it is not
 * known.
 *
 * @param server The headers `Server` and `Via`.
 */
export function frontSetting(trouble: Trouble, server: string): string {
  const known = FRONTS.filter(({ pattern }) => pattern.test(server));
  const shown = known.length > 0 ? known : FRONTS.slice(0, COMMON);
  return shown.map(({ name, settings }) => `${name}: ${settings[trouble]}`)
    .join(", or ");
}
