/**
 * Parses a `Retry-After` header, which holds seconds or a date (RFC 9110, 10.2.3).
 *
 * @param value The header.
 * @param date The `Date` header of the same answer. A date is compared with it,
 * because the local clock may be wrong. Without a `Date` the local clock is used.
 * @returns The delay in milliseconds, or `undefined` if the value is malformed.
 */
export function parseRetryAfter(
  value: string | null,
  date: string | null = null,
): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const until = parseDate(text);
  if (until === undefined) return undefined;
  return Math.max(0, until - (parseDate(date ?? "") ?? Date.now()));
}

function parseDate(text: string): number | undefined {
  // `Date.parse` alone would accept "-1" and "1.5" as dates.
  const time = text.endsWith(" GMT") ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
