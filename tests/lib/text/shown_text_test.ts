import { assertEquals } from "@std/assert";
import { shownText } from "../../../lib/text/shown_text.ts";

const KEY = "test-key-0123456789abcdef";
const LEFT_OUT = "left out, because it holds the API key";

const TEXTS: Readonly<Record<string, string>> = {
  "  No\ttea\r\n\n today ": "No tea today",
  "a\x1b[31mb\x07c\u202e": "abc",
  ["x".repeat(501)]: "x".repeat(500),
  [`${"x".repeat(499)}👩`]: `${"x".repeat(499)}\ufffd`,
  [`Unknown: ${KEY}.`]: LEFT_OUT,
  ["x".repeat(600) + KEY]: LEFT_OUT,
  [KEY.replace("-", "\x1b[0m-\x07")]: LEFT_OUT,
  [KEY.slice(0, 20)]: KEY.slice(0, 20),
};

Deno.test("shownText() is one clean line of 500 characters, or nothing if the key is in the text", () => {
  const shown = Object.keys(TEXTS)
    .map((text) => shownText(text, { apiKey: KEY }));
  assertEquals(shown, Object.values(TEXTS));
});

Deno.test("shownText() leaves out a text that is cut where the key may have begun", () => {
  const text = `end ${KEY.slice(0, 16)}`;
  assertEquals(shownText(text, { apiKey: KEY, isCut: true }), LEFT_OUT);
  assertEquals(shownText("end", { apiKey: KEY, isCut: true }), "end");
  const wide = " ".repeat(64 * 1024 - 16) + KEY; // more than is looked at
  assertEquals(shownText(wide, { apiKey: KEY }), LEFT_OUT);
});
