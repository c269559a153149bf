import { assertEquals } from "@std/assert";
import {
  isWebPage,
  webPageReason,
} from "../../../../lib/gateway/http/web_page.ts";
import { Redactor } from "../../../../lib/text.ts";
import { testRows } from "../../../support/tables.ts";

const KEY = "test-key-0123456789abcdef";

/** Types and texts of answers, in JSON, and whether those are web pages. */
testRows(
  'isWebPage() of "{type}" and {text} is {is page}',
  "type | text | is page",
  String.raw`
text/html                  | "See <b>this</b>"                 | true
Text/HTML; charset=utf-8   | "a</p>"                           | true
application/xhtml+xml      | "<?xml?>"                         | true
text/html                  | "<!-- -->"                        | true
text/html                  | "Too many requests, 1 < 2"        | false
text/html                  | ""                                | false
text/html5                 | "<b>"                             | false
text/plain                 | "<html>"                          | true
                           | "\ufeff\r\n <!DOCTYPE html>"      | true
                           | "<HTML lang=en>"                  | true
                           | "<head><title>"                   | true
                           | "<htmlish>"                       | false
                           | "see <html>"                      | false
application/json           | "{}"                              | false
`,
  (row) => {
    const found = isWebPage(row.type || null, JSON.parse(row.text));
    assertEquals(`${found}`, row["is page"]);
  },
);

/** Pages, and what is quoted of their first title. */
testRows(
  "webPageReason() quotes this title of {page}: {quoted}",
  "page | quoted",
  `
<title>502 Bad Gateway</title>                  | ("502 Bad Gateway")
<html><head><TITLE lang='en'>Sign in</TITLE>    | ("Sign in")
<title>first</title><title>second</title>       | ("first")
<title>Hi ${KEY}                                | ("Hi ...")
<titles>none</titles>                           |
<title></title>                                 |
no title                                        |
<title                                          |
`,
  ({ page, quoted }) => {
    const name = quoted && ` ${quoted}`;
    assertEquals(
      webPageReason(200, page, new Redactor(KEY)),
      `The service answered 200 with a web page${name}, perhaps the sign-in page of a network or proxy`,
    );
  },
);
