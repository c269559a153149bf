import { assertEquals } from "@std/assert";
import { isWebPage, pageTitle } from "../../../lib/gateway/web_page.ts";

for (
  const [contentType, text, expected] of [
    ["text/html", "", true],
    ["Text/HTML; charset=utf-8", "{}", true],
    ["application/xhtml+xml", "", true],
    ["text/html5", "", false],
    ["text/plain", "<html>", true],
    [null, "\ufeff\r\n <!DOCTYPE html>", true],
    [null, "<HTML lang=en>", true],
    [null, "<head><title>", true],
    [null, "<htmlish>", false],
    [null, "see <html>", false],
    ["application/json", "{}", false],
    [null, "", false],
  ] as const
) {
  Deno.test(`isWebPage() of ${contentType} and ${JSON.stringify(text)} is ${expected}`, () => {
    assertEquals(isWebPage(contentType, text), expected);
  });
}

for (
  const [html, title] of [
    ["<title>502 Bad Gateway</title>", "502 Bad Gateway"],
    ["<html><head>\n<TITLE lang='en'>\r\n Sign\n\tin </TITLE>", "Sign in"],
    [
      "<title>a &amp; b&#32;&#x3C;c&gt; &quot;&apos;&nbsp;&#39;",
      "a & b <c> \"' '",
    ],
    ["<title>&copy; &#1114112; &bogus</title>", "&copy; &#1114112; &bogus"],
    ["<title>&#27;[31mred&#x202e;</title>", "red"],
    ["<title>first</title><title>second</title>", "first"],
    ["<titles>none</titles>", ""],
    ["<title></title>", ""],
    ["no title", ""],
    ["<title", ""],
  ] as const
) {
  Deno.test(`pageTitle() of ${JSON.stringify(html)} is ${JSON.stringify(title)}`, () => {
    assertEquals(pageTitle(html), title);
  });
}
