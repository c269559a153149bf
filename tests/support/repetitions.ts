/**
 * How often a test repeats what it generates or counts: `count` times if
 * `SLOW_TESTS` is set, as it is in CI, else a tenth of that.
 */
export function times(count: number): number {
  return Deno.env.has("SLOW_TESTS") ? count : count / 10;
}
