import { assertEquals } from "@std/assert";
import { retryAfterOf } from "../../../../lib/gateway/http/retry_after.ts";
import { testRows } from "../../../support/tables.ts";

/** The ways in which services write `Retry-After`, and what they mean. */
testRows(
  'Retry-After "{text}" asks for {seconds} s',
  "text | seconds",
  `
5                                | 5
07                               | 7
1.5                              | 2
0.2                              | 1
+5                               | 5
5s                               | 5
5 seconds                        | 5
"5"                              | 5
5, 10                            | 10
-1                               | 0
0                                | 0
Sat, 28 Nov 2026 15:00:20 GMT    | 20
Sat, 28 Nov 2026 15:00:20 UTC    | 20
Saturday, 28-Nov-26 15:00:20 GMT | 20
2026-11-28T15:00:20Z             | 20
Sat, 28 Nov 2026 14:00:20 GMT    | 0
soon                             | 0
at 5:00 or so                    | 0
                                 | 0
`,
  ({ text, seconds }) => {
    const date = "Sat, 28 Nov 2026 15:00:00 GMT";
    const asked = retryAfterOf(new Headers({ date, "retry-after": text }));
    assertEquals(`${asked / 1000}`, seconds);
  },
);

Deno.test("a date in Retry-After counts from the local clock where the answer has none", () => {
  const until = new Date(Date.now() + 3_600_000).toUTCString();
  const asked = retryAfterOf(new Headers({ "retry-after": until }));
  assertEquals(Math.round(asked / 60_000), 60);
});
