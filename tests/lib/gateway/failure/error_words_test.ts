import { assertEquals } from "@std/assert";
import {
  errorDetail,
  isWebPage,
  pageTitle,
} from "../../../../lib/gateway/failure/error_words.ts";
import { shownText } from "../../../../lib/text.ts";

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

const BODIES: readonly (readonly [body: unknown, reason?: string])[] = [
  [{ message: "No", error: "E" }, "No"],
  [{ error: "No", detail: "D" }, "No"],
  [{ detail: "No", title: "T" }, "No"],
  [{ error: { message: "No", code: 1 } }, "No"],
  [{ message: " ", error: true, detail: "No" }, "No"],
  [{ statusCode: 400, error: "E", message: ["No", "Nor"] }, "No, Nor"],
  [{ errors: [{ code: 1, message: "No" }, { message: "Nor" }] }, "No, Nor"],
  [{ type: "about:blank", title: "No", errors: { name: ["?"] } }, "No"],
  [{ detail: [{ loc: ["body"], msg: "No" }] }, "No"],
  [{ Message: "No" }, "No"],
  [{ type: "error", errorText: "No" }, "No"],
  [{ event: "error", data: { message: "No" } }, "No"],
  [{ message: [], errors: [{}], error: { code: 1 } }],
  [["No"]],
  ["No"],
];

for (const [body, detail] of BODIES) {
  Deno.test(`errorDetail() of ${JSON.stringify(body)} is ${detail}`, () => {
    assertEquals(errorDetail(body), detail);
  });
}

Deno.test("errorDetail() looks at a few levels, however deep a body is nested", () => {
  const nested = (depth: number) =>
    '{"error":'.repeat(depth) + '"No"' + "}".repeat(depth);
  assertEquals(errorDetail(JSON.parse(nested(8))), "No");
  assertEquals(errorDetail(JSON.parse(nested(100_000))), undefined);
});

const PAGES: readonly (readonly [string | null, string, boolean])[] = [
  ["text/html", "See <b>this</b>", true],
  ["Text/HTML; charset=utf-8", "a</p>", true],
  ["application/xhtml+xml", "<?xml?>", true],
  ["text/html", "<!-- -->", true],
  ["text/html", "Too many requests, 1 < 2", false], // as Express labels plain words
  ["text/html", "", false],
  ["text/html5", "<b>", false],
  ["text/plain", "<html>", true],
  [null, "\ufeff\r\n <!DOCTYPE html>", true],
  [null, "<HTML lang=en>", true],
  [null, "<head><title>", true],
  [null, "<htmlish>", false],
  [null, "see <html>", false],
  ["application/json", "{}", false],
];

for (const [contentType, text, expected] of PAGES) {
  Deno.test(`isWebPage() of ${contentType} and ${JSON.stringify(text)} is ${expected}`, () => {
    assertEquals(isWebPage(contentType, text), expected);
  });
}

const TITLES: Readonly<Record<string, string>> = {
  "<title>502 Bad Gateway</title>": "502 Bad Gateway",
  "<html><head>\n<TITLE lang='en'>Sign in</TITLE>": "Sign in",
  "<title>first</title><title>second</title>": "first",
  "<titles>none</titles>": "",
  "<title></title>": "",
  "no title": "",
  "<title": "",
};

Deno.test("pageTitle() is the first title of a page, if it has one", () => {
  const told = Object.keys(TITLES).map(pageTitle);
  assertEquals(told, Object.values(TITLES));
});
