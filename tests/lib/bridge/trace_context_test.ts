import { assertEquals } from "@std/assert";
import { traceHeaders } from "../../../lib/bridge/trace_context.ts";

/** A value, formatted for a test's name. */
function short(value: unknown): string {
  return (JSON.stringify(value) ?? "undefined").slice(0, 80);
}

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

const TRACEPARENTS: readonly (readonly [traceparent: unknown, ok: boolean])[] =
  [
    [TRACEPARENT, true],
    [`00-${TRACE_ID}-00f067aa0ba902b7-00`, true],
    [`cc-${TRACE_ID}-00f067aa0ba902b7-01-what-the-future-brings`, true],
    [`00-${TRACE_ID}-00f067aa0ba902b7-01-more`, false],
    [`ff-${TRACE_ID}-00f067aa0ba902b7-01`, false],
    [`00-${"0".repeat(32)}-00f067aa0ba902b7-01`, false],
    [`00-${TRACE_ID}-${"0".repeat(16)}-01`, false],
    [`00-${TRACE_ID.toUpperCase()}-00f067aa0ba902b7-01`, false],
    [`00-${TRACE_ID}-00f067aa0ba902b7`, false],
    [`${TRACEPARENT}\n`, false],
    [`${TRACEPARENT}\r\nx-api-key: y`, false],
    [` ${TRACEPARENT}`, false],
    [`cc-${TRACE_ID}-00f067aa0ba902b7-01-${"x".repeat(500)}`, false],
    ["", false],
    [null, false],
    [[TRACEPARENT], false],
  ];
for (const [traceparent, ok] of TRACEPARENTS) {
  Deno.test(`traceHeaders() ${ok ? "forwards" : "drops"} traceparent ${short(traceparent)}`, () => {
    assertEquals<unknown>(
      traceHeaders({ traceparent }),
      ok ? { traceparent } : {},
    );
  });
}

const TRACESTATES: readonly (readonly [tracestate: unknown, ok: boolean])[] = [
  ["a=1", true],
  ["tenant@system=x y,rojo=00f067aa0ba902b7", true],
  ["a=1 ,\t b=2", true],
  ["a=1,,b=2,", true],
  ["a=1,a=2", false],
  ["a", false],
  ["A=1", false],
  ["a=", false],
  ["a=1=2", false],
  ["a=ü", false],
  ["a=1,\nb=2", false],
  ["a=1\r\nx-api-key: y", false],
  ["a=1,\u00a0b=2", false],
  ["\ufeffa=1", false],
  [",", false],
  ["", false],
  [`a=${"x".repeat(257)}`, false],
  [Array.from({ length: 32 }, (_, i) => `k${i}=1`).join(), true],
  [Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(), false],
  [`a=${"x".repeat(250)},b=${"x".repeat(250)},c=${"x".repeat(10)}`, false],
  ["a=1".padEnd(512), true],
  ["a=1".padEnd(513), false],
  [1, false],
];
for (const [tracestate, ok] of TRACESTATES) {
  Deno.test(`traceHeaders() ${ok ? "forwards" : "drops"} tracestate ${short(tracestate)}`, () => {
    const headers = traceHeaders({ traceparent: TRACEPARENT, tracestate });

    assertEquals<unknown>(
      headers,
      ok
        ? { traceparent: TRACEPARENT, tracestate }
        : { traceparent: TRACEPARENT },
    );
    new Headers(headers); // throws if the values are invalid in headers
  });
}

for (const meta of [undefined, null, 1, "x", [], { tracestate: "a=1" }]) {
  Deno.test(`traceHeaders() finds no trace context in _meta ${JSON.stringify(meta)}`, () => {
    assertEquals(traceHeaders(meta), {});
  });
}

for (
  const hostile of [
    " ".repeat(10_000_000) + "x",
    "a=" + " ".repeat(10_000_000),
    ",".repeat(10_000_000),
    "a=1," + "\t".repeat(10_000_000) + ",b=2",
  ]
) {
  Deno.test(`traceHeaders() drops ${hostile.length} characters that begin with ${short(hostile.slice(0, 6))} without matching them`, () => {
    const traceparent = `cc-${TRACE_ID}-00f067aa0ba902b7-01-${hostile}`;

    assertEquals(traceHeaders({ traceparent }), {});
    assertEquals(
      traceHeaders({ traceparent: TRACEPARENT, tracestate: hostile }),
      { traceparent: TRACEPARENT },
    );
  });
}
