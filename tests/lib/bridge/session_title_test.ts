import { assertEquals } from "@std/assert";
import { titleIn } from "../../../lib/bridge/session_title.ts";
import { blocksOf } from "../../support/blocks.ts";

const [LONG, MEN] = ["x".repeat(80), "👨".repeat(79)];

/** Titles, and prompts that get them; \u0060 is a backtick. */
const TITLES = blocksOf(String.raw`
hello
  hello
hello  world
    hello  world \nmore
first
   \n\t\n\u2028\r\nfirst\r\nsecond
red
  \u001b[31mred\u001b[31m
second
  \u001b[31m\nsecond
a bc
  a\tb\u202ec
${LONG}
  ${LONG}x
${MEN}👨
  ${MEN}👨👨
x${MEN}
  x${MEN}👨
undefined
  \u001b[31m
  \u0060\u0060\u0060\n###\n<x>
# Fix it
  ##\n# Fix it
\u0060\u0060\u0060f()\u0060\u0060\u0060 fails
  \u0060\u0060\u0060\n~~~~ts\n\u0060\u0060\u0060ts x\n\u0060\u0060\u0060f()\u0060\u0060\u0060 fails
<br>x
  <a>\n</a>\n<a b='c'/>\n<br>x
<https://host.example/>
  <https://host.example/>
`);

Deno.test("titleIn() takes the first line that says something, clean, at most 80 characters of it", () => {
  for (const [title, prompts] of TITLES) {
    for (const prompt of prompts) assertEquals(`${titleIn(prompt)}`, title);
  }
});
