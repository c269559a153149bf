import { assert, assertEquals } from "@std/assert";
import { parseRetryAfter } from "../../../lib/gateway/retry_after.ts";

const RETRY_AFTER: readonly (readonly [string | null, number | undefined])[] = [
  ["0", 0],
  ["2", 2_000],
  [" 120 ", 120_000],
  ["9".repeat(400), Infinity],
  ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
  [null, undefined],
  ["", undefined],
  ["-1", undefined],
  ["1.5", undefined],
  ["1e3", undefined],
  ["0x10", undefined],
  ["soon, at 5", undefined],
  ["Sun, 99 Nov 1994 08:49:37 GMT", undefined],
];

for (const [value, expected] of RETRY_AFTER) {
  const name = JSON.stringify(value)?.slice(0, 40);
  Deno.test(`parseRetryAfter() takes ${name} for ${expected} ms`, () => {
    assertEquals(parseRetryAfter(value), expected);
  });
}

Deno.test("parseRetryAfter() counts from now to a date", () => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  const milliseconds = parseRetryAfter(inAMinute) ?? 0;
  assert(milliseconds > 30_000 && milliseconds <= 60_000, `${milliseconds}`);
});

const NOON = "Sun, 06 Nov 1994 12:00:00 GMT";
const DATES: readonly (readonly [string, string | null, number])[] = [
  ["Sun, 06 Nov 1994 12:00:20 GMT", NOON, 20_000],
  ["Sun, 06 Nov 1994 11:59:40 GMT", NOON, 0],
  [NOON, "yesterday", 0],
  [NOON, null, 0],
];

for (const [value, date, expected] of DATES) {
  Deno.test(`parseRetryAfter() counts from ${date} to ${value}`, () => {
    assertEquals(parseRetryAfter(value, date), expected);
  });
}
