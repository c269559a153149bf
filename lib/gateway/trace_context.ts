/**
 * W3C trace context (https://www.w3.org/TR/trace-context/).
 *
 * @module
 */

/** A value that can be a header: at most 512 printable characters of ASCII. */
const HEADER_VALUE = /^[\x21-\x7e][\x20-\x7e]{0,511}$/;

/**
 * The trace context of a turn, as the headers of its requests. Values of another
 * type, with other characters or of more than 512 are dropped. Whether they are
 * well formed is left to the receiver, which ignores what it does not understand.
 * `tracestate` never travels without `traceparent`.
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
