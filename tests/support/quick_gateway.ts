import type { Timeouts } from "../../lib/gateway/timeouts.ts";
import { RemoteGateway } from "../../lib/gateway.ts";
import { TEST_KEY } from "./service/service.ts";

/**
 * Timeouts for tests: retries follow at once, and no timeout expires on a slow
 * machine. A test sets the timeout that it tests.
 */
export const QUICK_TIMEOUTS: Timeouts = {
  answer: 60_000,
  idle: 60_000,
  grace: 60_000,
  drain: 60_000,
  retry: [1, 1, 1],
  reconnect: [1],
  outage: 120_000,
  resume: 600_000,
  retryAfter: 1,
};

/** A gateway to a service, with {@linkcode QUICK_TIMEOUTS} unless others are given. */
export function gatewayTo(
  service: { readonly url: string },
  timeouts: Partial<Timeouts> = {},
): RemoteGateway {
  return new RemoteGateway({
    baseUrl: service.url,
    apiKey: TEST_KEY,
    timeouts: { ...QUICK_TIMEOUTS, ...timeouts },
  });
}
