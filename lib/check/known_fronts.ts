const NGINX = "proxy_http_version 1.1; proxy_buffering off;";

/**
 * Servers in front of a service, by words in the header `Server` or `Via`, each with
 * the setting that keeps it from holding events back. The first four are common.
 */
export const FRONTS: readonly (readonly [name: string, setting: string])[] = [
  ["nginx", NGINX],
  ["Apache", "ProxyPass / http://... flushpackets=on"],
  ["Caddy", "reverse_proxy { flush_interval -1 }"],
  ["HAProxy", "no option http-buffer-response"],
  ["lighttpd", "server.stream-response-body = 1"],
  ["OpenResty", NGINX],
];
