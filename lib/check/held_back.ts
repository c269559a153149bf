/**
 * Whether events come as they happen, and what may hold them back.
 *
 * @module
 */

import type { Proxy } from "../settings.ts";
import type { Finding } from "./report.ts";
import type { StreamObservation } from "./stream_observation.ts";

/** Events that arrive within this time count as one lump, in milliseconds. */
const TOGETHER = 100;

/** A shorter run does not show whether its events were held back, in milliseconds. */
const LONG_ENOUGH = 2_000;

const NGINX = "proxy_http_version 1.1; proxy_buffering off;";

/**
 * Servers in front of a service, by words in the header `Server` or `Via`, each with
 * the setting that keeps it from holding events back. The first four are common.
 */
const FRONTS: readonly (readonly [name: string, setting: string])[] = [
  ["nginx", NGINX],
  ["Apache", "ProxyPass / http://... flushpackets=on"],
  ["Caddy", "reverse_proxy { flush_interval -1 }"],
  ["HAProxy", "no option http-buffer-response"],
  ["lighttpd", "server.stream-response-body = 1"],
  ["OpenResty", NGINX],
];

/** Whether all events came at once, so late that something must have held them. */
export function isHeldBack(
  { count, firstAt, lastAt }: StreamObservation,
): boolean {
  return count > 1 && lastAt - firstAt <= TOGETHER && firstAt > LONG_ENOUGH;
}

/** The finding about whether events came live. */
export function liveness(
  observation: StreamObservation,
  { isLocal, proxy }: {
    readonly isLocal: boolean;
    readonly proxy: Pick<Proxy, "origin"> | undefined;
  },
): Finding {
  const { count, firstAt, lastAt, headers } = observation;
  const at = count > 0 ? firstAt : undefined;
  if (lastAt - firstAt > TOGETHER) {
    return ["ok", "events came as they happened", { at }];
  }
  if (!isHeldBack(observation)) {
    const text = "a run of several events, longer than 2 s, would tell";
    return ["-", text, { at }];
  }
  const server = `${headers?.get("server")} ${headers?.get("via")}`;
  const named = FRONTS.filter(([name]) => RegExp(name, "i").test(server));
  const isUnbuffered =
    headers?.get("x-accel-buffering")?.toLowerCase() === "no";
  const causes = ["the service, if it does not flush after each event"];
  if (named.length > 0 || !isLocal && !isUnbuffered) {
    const accel = isUnbuffered ? "" : "answer with X-Accel-Buffering: no, or ";
    const settings = (named.length > 0 ? named : FRONTS.slice(0, 4))
      .map((front) => front.join(": ")).join(", or ");
    causes.push(`a front (${accel}set ${settings})`);
  }
  if (proxy !== undefined) causes.push(`your own proxy ${proxy.origin}`);
  const text =
    "all events came together, so something holds them back, the likeliest first: ";
  return ["note", text + causes.join("; "), { at }];
}
