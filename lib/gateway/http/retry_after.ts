/**
 * How long `Retry-After` asks to wait, in milliseconds; 0 without one that can be read.
 * It gives whole seconds or a date (RFC 9110, 10.2.3). A date is compared with the
 * answer's own `Date`, because the local clock may be wrong. In other texts, the largest
 * number is used: "1.5", "5 seconds", "5, 10".
 */
export function retryAfterOf(headers: Headers): number {
  const text = headers.get("retry-after") ?? "";
  const isDate = text.includes(":");
  if (isDate) {
    const until = Date.parse(text);
    const sent = Date.parse(headers.get("date") ?? "");
    const now = Number.isNaN(sent) ? Date.now() : sent;
    return Number.isNaN(until) ? 0 : Math.max(0, until - now);
  }
  const numbers = text.match(/-?\d+(?:\.\d+)?/g) ?? [];
  const seconds = numbers.map((number) => Math.ceil(Number(number)));
  return Math.max(0, ...seconds) * 1000;
}
