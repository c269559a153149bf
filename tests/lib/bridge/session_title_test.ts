import { assertEquals } from "@std/assert";
import { titleIn } from "../../../lib/bridge/session_title.ts";

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
  ["##\n# Fix it", "# Fix it"],
  ["```\n~~~~ts\n```ts x\n```f()``` fails", "```f()``` fails"],
  ["<a>\n</a>\n<a b='c'/>\n<br>x", "<br>x"],
  ["<https://host.example/>", "<https://host.example/>"],
  ["```\n###\n<x>"],
];
Deno.test("titleIn() takes the first line that says something, clean, at most 80 characters of it", () => {
  for (const [prompt, title] of TITLES) {
    assertEquals(titleIn(prompt), title, JSON.stringify(prompt));
  }
});
