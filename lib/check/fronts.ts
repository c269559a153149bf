/** How a server in front of a service is told not to hold events back. */
export interface Front {
  /** Its name, as in the header `Server` or `Via`. */
  readonly name: string;
  readonly setting: string;
}

const NGINX = "proxy_http_version 1.1; proxy_buffering off;";

/** The common ones. */
export const COMMON_FRONTS: readonly Front[] = [
  { name: "nginx", setting: NGINX },
  { name: "Apache", setting: "ProxyPass / http://... flushpackets=on" },
  { name: "Caddy", setting: "reverse_proxy { flush_interval -1 }" },
  { name: "HAProxy", setting: "no option http-buffer-response" },
];

const FRONTS = [
  ...COMMON_FRONTS,
  { name: "lighttpd", setting: "server.stream-response-body = 1" },
  { name: "OpenResty", setting: NGINX },
];

/** The fronts that headers name; none if they name none that is known. */
export function frontsIn(headers: Headers | undefined): readonly Front[] {
  const server = `${headers?.get("server")} ${headers?.get("via")}`
    .toLowerCase();
  return FRONTS.filter(({ name }) => server.includes(name.toLowerCase()));
}
