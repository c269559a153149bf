/**
 * The milliseconds that a `Retry-After` header asks for, given in seconds or as
 * a date (RFC 9110, 10.2.3), or `undefined` if it says nothing that can be read.
 */
export function parseRetryAfter(value: string | null): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // `Date.parse` alone takes "-1" and "1.5" for dates, too.
  const date = text.endsWith(" GMT") ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
