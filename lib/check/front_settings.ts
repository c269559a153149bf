const NGINX = "proxy_http_version 1.1; proxy_buffering off;";

/**
 * The settings by which servers in front of a service do not hold events back, by
 * words in the header `Server` or `Via`. The first four are the common ones.
 */
export const FRONTS: readonly (readonly [name: string, setting: string])[] = [
  ["nginx", NGINX],
  ["Apache", "ProxyPass / http://... flushpackets=on"],
  ["Caddy", "reverse_proxy { flush_interval -1 }"],
  ["HAProxy", "no option http-buffer-response"],
  ["lighttpd", "server.stream-response-body = 1"],
  ["OpenResty", NGINX],
];
