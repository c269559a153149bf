import { assertEquals } from "@std/assert";
import { titleIn } from "../../lib/bridge/session_title.ts";
import { connectionFailure } from "../../lib/gateway/connection/connection_failure.ts";
import { errorDetail } from "../../lib/gateway/http/error_words.ts";
import { NotUnderstood } from "../../lib/gateway/stream/not_understood.ts";
import { isWebPage, pageTitle } from "../../lib/gateway/http/web_page.ts";
import { Redactor } from "../../lib/text.ts";
import { parseJson } from "../../lib/text/json.ts";
import { plainLine, plainText } from "../../lib/text/plain_text.ts";
import { SettingsError } from "../../lib/settings.ts";
import { dotenvValue, isAssigned } from "../../lib/settings/dotenv_file.ts";
import { blocksOf } from "../support/blocks.ts";
import { loadSettingsIn } from "../support/environment.ts";

// A million of each character: code in quadratic time takes hours instead of a
// fraction of a second, so the test would not end.
const MANY = 1_000_000;

const KEY = "test-key-0123456789";

function tryBaseUrl(baseUrl: string): void {
  try {
    loadSettingsIn({ env: { APP_API_KEY: KEY }, baseUrl });
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
  }
}

function tellCertificate(names: string): string {
  const cause = new Error(
    "error sending request for url (https://a/): client error (Connect): " +
      'invalid peer certificate: certificate not valid for name "a"; ' +
      `certificate is only valid for ${names}`,
  );
  const error = new TypeError("fetch failed", { cause });
  const redactor = new Redactor(KEY);
  const route = { url: new URL("https://a"), proxy: undefined, redactor };
  return connectionFailure(error, { operation: "create thread", route }).reason;
}

const RECORD = new NotUnderstood(new Redactor(KEY));

/** Each function that processes foreign text. */
const FUNCTIONS: Readonly<Record<string, (text: string) => unknown>> = {
  plainText,
  plainLine,
  titleIn,
  isWebPage: (text) => isWebPage(text, text),
  pageTitle,
  errorDetail: (text) => errorDetail(parseJson(text)),
  notUnderstood: (text) => RECORD.data(`${text.slice(0, 64_000)}x`, undefined),
  isAssigned: (text) => isAssigned(text, "APP_API_KEY"),
  dotenvValue: (text) => dotenvValue(`K='${text.slice(0, 16_000)}b'`, "K"),
  loadSettings: tryBaseUrl,
  connectionError: tellCertificate,
};

/** The texts that are hard for them; what is between bars is repeated to a million. */
const TEXTS = blocksOf(String.raw`
plainText
  \u001b[|0|
  |\u009b|
  |\u001b[0 |
  |\u001b]|
  \u001b]|a|
  \u001b| |
plainLine
  |\n|
  |\u001b]\n|
titleIn
  |x|
  |\n|
  |\u001b[0m\n|
  |\u001b]|
isWebPage
  | |
  <!doctype| |
  text/html| |x
pageTitle
  |<title|
  <title| |
  <title>|&#|
  <title>| |x
errorDetail
  |[|
  |{"error":|
  {"message":"| |"}
notUnderstood
  {"|\\"|
  {"a":|"\\|
  {|NaN,|
  | |x
isAssigned
  | |
  export| |
  |export |
  |A='\n|
  |APP_API_KEY=#\n|
  |APP_API_KEY='a\n|'
dotenvValue
  |\\n|
  |"|
  |#|
  a| |b
loadSettings
  https://a/|/|x
  https://|a.|
  https://a|?|
  | |x
connectionError
  |DnsName("a|
  |DnsName("a"), |
  | (os error 1|
  (os error |1|
  |: client error (Connect)|
`);

for (const [name, texts] of TEXTS) {
  for (const text of texts) {
    Deno.test(`${name}() takes linear time for ${JSON.stringify(text)}`, () => {
      const [start, unit = "", end] = text.split("|");
      FUNCTIONS[name]?.(`${start}${unit.repeat(MANY / unit.length)}${end}`);
    });
  }
}

Deno.test("each function that takes linear time is there", () => {
  assertEquals(TEXTS.map(([name]) => name), Object.keys(FUNCTIONS));
});
