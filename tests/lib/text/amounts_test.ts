import { assertEquals } from "@std/assert";
import { counted, duration, wholeDuration } from "../../../lib/text/amounts.ts";

const DURATIONS: readonly (readonly [number, string, string])[] = [
  [0, "0.0 s", "0 s"],
  [99, "0.0 s", "1 s"],
  [6_000, "6.0 s", "6 s"],
  [6_001, "6.0 s", "7 s"],
  [9_999, "9.9 s", "10 s"],
  [10_000, "10 s", "10 s"],
  [59_999, "59 s", "1 min"],
  [60_001, "1 min", "1 min 1 s"],
  [125_900, "2 min 5 s", "2 min 6 s"],
  [3_600_000, "60 min", "60 min"],
  [3_600_001, "60 min", "1 h 1 min"],
  [3_659_000, "60 min 59 s", "1 h 1 min"],
  [3_780_000, "1 h 3 min", "1 h 3 min"],
  [3_839_999, "1 h 3 min", "1 h 4 min"],
  [86_400_000, "24 h", "24 h"],
];

Deno.test("duration() rounds down, to tenths below 10 s, and wholeDuration() up to seconds; both to minutes beyond an hour", () => {
  for (const [time, down, up] of DURATIONS) {
    assertEquals([duration(time), wholeDuration(time)], [down, up]);
  }
});

Deno.test("counted() puts a noun into its number", () => {
  const counts = [0, 1, 2].map((count) => counted(count, "prompt"));
  assertEquals<string>(counts.join(), "0 prompts,1 prompt,2 prompts");
});
