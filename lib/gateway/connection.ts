/**
 * Connections to the service: a `fetch` for one call, and what is known when it fails.
 *
 * `fetch` (Deno 2.9.6) would be enough, but for four things. It leaves Nagle's algorithm
 * on: over a network with 100 ms from end to end and back, a turn takes 519 ms over
 * HTTP/1.1 and 666 over HTTP/2, with the relay 434 and 416, and with a connection that
 * is opened ahead 332 and 314. It tries a name's addresses one by one. It does not
 * report whether anything was sent, which decides whether a prompt may be retried. And it
 * sends the login of an HTTP proxy to the service.
 *
 * So each call with `https:` has a relay on loopback, which makes the connection. When
 * `fetch` sets `TCP_NODELAY` (denoland/deno#35581), measure again what the relay gains.
 *
 * Read it in this order:
 *
 * - `call_connection.ts`: the connection of one call.
 * - `relay.ts`: between `fetch` and the service; `login_listener.ts` lets `fetch` in.
 * - `route.ts`: the way to the service, and the connection that is opened ahead;
 *   `direct_connection.ts` and `proxy_connection.ts` with its tunnels are the two ways.
 * - `known_failures.ts`: what a failure means, by the tables of `connection_rows.ts`;
 *   `connection_failure.ts`, `tunnel_error.ts` and `loopback.ts` say it in words.
 *
 * @module
 */

export { CallConnection } from "./connection/call_connection.ts";
export { Route } from "./connection/route.ts";
