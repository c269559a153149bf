import { assertEquals } from "@std/assert";
import { PlainProgress } from "../../../lib/interactive/plain_progress.ts";
import type { Step } from "../../../lib/interactive/view.ts";
import { PLAIN } from "../../../lib/text.ts";
import { FakeClock } from "../../support/clocks.ts";
import { redacted, serviceId } from "../../support/texts.ts";

const progress = (node: string): Step => ({
  type: "progress",
  node: redacted(node),
  status: redacted("on"),
});
const BEGIN: Step = { type: "begin" };
const RUN: Step = { type: "run", runId: serviceId("r") };
const WAIT: Step = {
  type: "wait",
  reason: "service busy",
  milliseconds: 5_100,
};
const END: Step = { type: "end", completed: true, total: 1_700 };

/** Steps at their times in seconds, and the lines with the times when they came. */
const RUNS: Readonly<
  Record<string, readonly [steps: readonly [number, Step][], lines: string[]]>
> = {
  "a line for each step, but one that equals the line before it": [
    [
      ...[[0, BEGIN], [0, RUN], [1, WAIT], [2, progress("a")]] as const,
      ...[[3, progress("a")], [4, progress("b")], [5, progress("a")]] as const,
      [6, END],
    ].map(([time, step]) => [time, step] as [number, Step]),
    ["1 service busy, again in 6 s", "2 a: on", "4 b: on", "5 a: on"],
  ],
  "what it waits for after 10, 20, 40, ... s without a line, and then no more":
    [
      [[0, BEGIN], [75, RUN], [85, END], [999, END]],
      ["10", "20", "40"].map((time) =>
        `${time} The service has not answered for ${time} s`
      ).concat("80 running, 1 min 20 s"),
    ],
  "silences from the last line on": [
    [[0, BEGIN], [8, progress("a")], [9, progress("a")], [20, WAIT], [31, END]],
    [
      ...["8 a: on", "18 running, 10 s", "20 service busy, again in 6 s"],
      "30 waiting, 10 s",
    ],
  ],
};
for (const [what, [steps, lines]] of Object.entries(RUNS)) {
  Deno.test(`PlainProgress shows ${what}; with --quiet nothing`, () => {
    for (const isQuiet of [false, true]) {
      using clock = new FakeClock();
      const shown: string[] = [];
      const write = (line: string) => {
        if (line !== "") shown.push(`${clock.time / 1000} ${line.trimEnd()}`);
      };
      const look = { isTyped: false, isPlain: true, isQuiet, style: PLAIN };
      const view = new PlainProgress({ look, write });
      for (const [time, step] of steps) {
        clock.elapse(time * 1000 - clock.time);
        write(view.advance(step));
      }
      assertEquals(shown, isQuiet ? [] : lines);
      assertEquals(clock.pending, 0);
    }
  });
}

Deno.test("PlainProgress of a process that was stopped tells its silence once", () => {
  using clock = new FakeClock();
  const shown: string[] = [];
  const look = { isTyped: false, isPlain: false, isQuiet: false, style: PLAIN };
  const view = new PlainProgress({ look, write: (line) => shown.push(line) });
  view.advance(BEGIN);
  view.advance(RUN);
  clock.passTo(60_000);
  clock.elapse(20_000);
  assertEquals(shown, ["running, 1 min 5 s\n"]);
});
