import { assertEquals } from "@std/assert";
import { traceHeaders } from "../../../../lib/gateway/http/trace_context.ts";

const GOOD = ["00-4bf9-00f0-01", "a=1, b=x y", "x", "~".repeat(512)];
const BAD = [
  ...["", " ", " a=1", "a=1\n", "a=1\r\nx-api-key: y", "ü", "\x7f", "\ud800"],
  ...["x".repeat(513), undefined, null, 1, ["a=1"]],
];

Deno.test("traceHeaders() takes printable ASCII, at most 512 characters, and no tracestate without a traceparent", () => {
  for (const good of GOOD) {
    const both = { traceparent: good, tracestate: good };
    assertEquals(traceHeaders(both), both);
    new Headers(both); // throws if the values are invalid in headers
    for (const bad of BAD) {
      const headers = traceHeaders({ traceparent: good, tracestate: bad });
      assertEquals(headers, { traceparent: good }, `${bad}`);
      assertEquals(traceHeaders({ traceparent: bad, tracestate: good }), {});
    }
  }
});
