/** A value that can be a header: at most 512 printable characters of ASCII. */
const HEADER_VALUE = /^[\x21-\x7e][\x20-\x7e]{0,511}$/;

/**
 * The trace context of a turn (https://www.w3.org/TR/trace-context/), as the headers of
 * its requests. Values that cannot be headers are dropped; receivers ignore those that
 * they do not understand. `tracestate` never travels without `traceparent`.
 */
export function traceHeaders(
  { traceparent, tracestate }: {
    readonly traceparent?: unknown;
    readonly tracestate?: unknown;
  },
): Readonly<Record<string, string>> {
  if (!isHeaderValue(traceparent)) return {};
  return isHeaderValue(tracestate)
    ? { traceparent, tracestate }
    : { traceparent };
}

function isHeaderValue(value: unknown): value is string {
  return typeof value === "string" && HEADER_VALUE.test(value);
}
