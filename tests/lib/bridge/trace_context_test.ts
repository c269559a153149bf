import { assertEquals } from "@std/assert";
import { traceHeaders } from "../../../lib/bridge/trace_context.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_ID = "00f067aa0ba902b7";
const TRACEPARENT = `00-${TRACE_ID}-${PARENT_ID}-01`;
const LONG = "x".repeat(250);

const TRACEPARENTS: Readonly<Record<"good" | "bad", readonly unknown[]>> = {
  good: [
    TRACEPARENT,
    `00-${TRACE_ID}-${PARENT_ID}-00`,
    `cc-${TRACE_ID}-${PARENT_ID}-01-`.padEnd(512, "x"),
  ],
  bad: [
    `${TRACEPARENT}-more`,
    `ff-${TRACE_ID}-${PARENT_ID}-01`,
    `00-${"0".repeat(32)}-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${"0".repeat(16)}-01`,
    `00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${PARENT_ID}`,
    ...[`${TRACEPARENT}\n`, `${TRACEPARENT}\r\nx: y`, ` ${TRACEPARENT}`],
    `cc-${TRACE_ID}-${PARENT_ID}-01-`.padEnd(513, "x"),
    ...["", null, [TRACEPARENT]],
  ],
};
Deno.test("traceHeaders() forwards a good traceparent, and drops a bad one", () => {
  for (const traceparent of TRACEPARENTS.good) {
    assertEquals<unknown>(traceHeaders({ traceparent }), { traceparent });
  }
  for (const traceparent of TRACEPARENTS.bad) {
    assertEquals(traceHeaders({ traceparent }), {}, `${traceparent}`);
  }
});

const members = (count: number) =>
  Array.from({ length: count }, (_, i) => `k${i}=1`).join();
const TRACESTATES: Readonly<Record<"good" | "bad", readonly unknown[]>> = {
  good: [
    ...["a=1", `tenant@system=x y,rojo=${PARENT_ID}`, "a=1 ,\t b=2"],
    ...["a=1,,b=2,", members(32), "a=1".padEnd(512), `a=${"x".repeat(256)}`],
  ],
  bad: [
    ...["a=1,a=2", "a", "A=1", "a=", "a=1=2", "a=ü", "a=1,\nb=2", ",", "", 1],
    ...["a=1\r\nx-api-key: y", "a=1,\u00a0b=2", "\ufeffa=1", members(33)],
    ...[
      `a=${"x".repeat(257)}`,
      "a=1".padEnd(513),
      `a=${LONG},b=${LONG},c=${LONG}`,
    ],
  ],
};
Deno.test("traceHeaders() forwards a good tracestate, and drops a bad one", () => {
  const traceparent = TRACEPARENT;
  for (const tracestate of TRACESTATES.good) {
    const headers = traceHeaders({ traceparent, tracestate });
    assertEquals<unknown>(headers, { traceparent, tracestate });
    new Headers(headers); // throws if the values are invalid in headers
  }
  for (const tracestate of TRACESTATES.bad) {
    const headers = traceHeaders({ traceparent, tracestate });
    assertEquals(headers, { traceparent }, `${tracestate}`);
  }
});

Deno.test("traceHeaders() finds no trace context without a traceparent", () => {
  for (const meta of [undefined, null, 1, "x", [], { tracestate: "a=1" }]) {
    assertEquals(traceHeaders(meta), {});
  }
});

const HOSTILE = [" ", "a=1 ", ",", "a=1,\t"];
for (const hostile of HOSTILE) {
  Deno.test(`traceHeaders() drops a million times ${JSON.stringify(hostile)} without matching them`, () => {
    const long = `${hostile.repeat(1_000_000)}x`;
    const traceparent = `cc-${TRACE_ID}-${PARENT_ID}-01-${long}`;
    assertEquals(traceHeaders({ traceparent }), {});
    assertEquals(
      traceHeaders({ traceparent: TRACEPARENT, tracestate: long }),
      { traceparent: TRACEPARENT },
    );
  });
}
