import { assertEquals } from "@std/assert";
import { traceHeaders } from "../../../../lib/gateway/http/trace_context.ts";

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const GOOD = [traceparent, "a=1, b=x y", "x", "~".repeat(512)];
const BAD = [
  ...["", " ", " a=1", "a=1\n", "a=1\r\nx-api-key: y", "ü", "\x7f", "\ud800"],
  ...["x".repeat(513), undefined, null, 1, [traceparent]],
];

Deno.test("traceHeaders() takes printable ASCII, at most 512 characters", () => {
  for (const value of GOOD) {
    const both = { traceparent: value, tracestate: value };
    assertEquals(traceHeaders(both), both);
    new Headers(traceHeaders(both)); // throws if the values are invalid in headers
  }
  for (const tracestate of BAD) {
    const headers = traceHeaders({ traceparent, tracestate });
    assertEquals(headers, { traceparent }, `${tracestate}`);
  }
});

Deno.test("traceHeaders() drops a tracestate without a good traceparent", () => {
  for (const traceparent of BAD) {
    assertEquals(traceHeaders({ traceparent, tracestate: "a=1" }), {});
  }
});
