import { assertEquals } from "@std/assert";
import {
  isWebPage,
  pageTitle,
  webPageReason,
} from "../../../../lib/gateway/http/web_page.ts";
import { Redactor } from "../../../../lib/text.ts";

const KEY = "test-key-0123456789abcdef";

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

Deno.test("webPageReason() names the page, without the key", () => {
  const pages = { ' ("Hi")': "Hi", "": "", ' ("Hi ...")': `Hi ${KEY}` };
  for (const [named, title] of Object.entries(pages)) {
    const page = `<title>${title}</title>`;
    assertEquals(
      webPageReason(200, page, new Redactor(KEY)),
      `The service answered 200 with a web page${named}, perhaps the sign-in page of a network or proxy`,
    );
  }
});
