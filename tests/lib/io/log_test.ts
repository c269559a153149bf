import { assertMatch } from "@std/assert";
import { openLog } from "../../../lib/io/log.ts";
import { redacted } from "../../support/texts.ts";

Deno.test("openLog() writes the time, a text on one line, and how long it took", () => {
  let line = "";
  const log = openLog((text) => line = text);
  for (
    const [text, milliseconds, written] of [
      ["create thread: 200", 12.6, /create thread: 200, 13 ms/],
      ["settings: a", undefined, /settings: a/],
      ["\x1b[31mred\r\n\x07text", 0, /red text, 0 ms/],
    ] as const
  ) {
    log(redacted(text), milliseconds);
    const time = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";
    assertMatch(line, RegExp(`^agent-gateway ${time} ${written.source}\n$`));
  }
});
