import { assertEquals } from "@std/assert";
import { counted, duration, wholeDuration } from "../../../lib/text/amounts.ts";
import { testRows } from "../../support/tables.ts";

testRows(
  "duration() of {time} ms rounds down to {down}, and wholeDuration() up to {up}",
  "time | down | up",
  `
0        | 0.0 s       | 0 s
99       | 0.0 s       | 1 s
6000     | 6.0 s       | 6 s
6001     | 6.0 s       | 7 s
9999     | 9.9 s       | 10 s
10000    | 10 s        | 10 s
59999    | 59 s        | 1 min
60001    | 1 min       | 1 min 1 s
125900   | 2 min 5 s   | 2 min 6 s
3600000  | 60 min      | 60 min
3600001  | 60 min      | 1 h 1 min
3659000  | 60 min 59 s | 1 h 1 min
3780000  | 1 h 3 min   | 1 h 3 min
3839999  | 1 h 3 min   | 1 h 4 min
86400000 | 24 h        | 24 h
`,
  ({ time, down, up }) => {
    assertEquals<string>(duration(Number(time)), down);
    assertEquals<string>(wholeDuration(Number(time)), up);
  },
);

Deno.test("counted() puts a noun into its number", () => {
  const counts = [0, 1, 2].map((count) => counted(count, "prompt"));
  assertEquals<string>(counts.join(), "0 prompts,1 prompt,2 prompts");
});
