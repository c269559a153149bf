import { assertEquals } from "@std/assert";
import { titleUpdate } from "../../../lib/bridge/session_updates.ts";

const ESCAPE = "\x1b[31m";
const MAN = "👨";

/** Prompts and the titles of their sessions. */
const TITLES: readonly (readonly [prompt: string, title?: string])[] = [
  ["hello", "hello"],
  ["  hello  world \nmore", "hello  world"],
  [" \n\t\n\u2028\r\nfirst\r\nsecond", "first"],
  [`${ESCAPE}red${ESCAPE}`, "red"],
  [`${ESCAPE}\nsecond`, "second"],
  ["a\tb\u202ec", "a bc"],
  ["x".repeat(81), "x".repeat(80)],
  [MAN.repeat(81), MAN.repeat(80)],
  [`x${MAN.repeat(80)}`, `x${MAN.repeat(79)}`],
  [ESCAPE],
];

Deno.test("titleUpdate() takes the first line that is not blank, clean, at most 80 characters of it", () => {
  for (const [prompt, title] of TITLES) {
    assertEquals(titleUpdate(prompt)?.title, title, JSON.stringify(prompt));
  }
});
