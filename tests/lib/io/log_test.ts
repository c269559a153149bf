import { assert, assertEquals, assertMatch } from "@std/assert";
import { openLog } from "../../../lib/io/log.ts";
import { redacted } from "../../support/texts.ts";

const TIME = /^agent-gateway \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /;

Deno.test("openLog() writes the time, a text, and how long it took", () => {
  const lines: string[] = [];
  const log = openLog((line) => lines.push(line));
  log(redacted("create thread: 200"), 12.6);
  log(redacted("settings: a"));
  for (const line of lines) assertMatch(line, TIME);
  assertEquals(lines.map((line) => line.replace(TIME, "")), [
    "create thread: 200, 13 ms\n",
    "settings: a\n",
  ]);
});

Deno.test("openLog() keeps a line short, plain and one line, whatever an editor sends", () => {
  let line = "";
  const log = openLog((text) => line = text);
  log(redacted(`\x1b[31mred\r\n\x07${"m".repeat(1_000_000)}`), 0);
  assert(line.length < 600, `${line.length} characters`);
  assertMatch(line, /Z red m+, 0 ms\n$/);
});
