import type { Clocks } from "../lib/clocks.ts";

/**
 * Clocks for tests: what is repeated is repeated at once, and no time runs out
 * on a slow machine. A test sets the one clock that it is about.
 */
export const QUICK_CLOCKS: Clocks = {
  answer: 60_000,
  idle: 60_000,
  drain: 60_000,
  retry: [1, 1, 1],
  retryAfter: 1,
};
