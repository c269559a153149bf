import { titleIn } from "../../lib/bridge/session_title.ts";
import { connectionError } from "../../lib/gateway/connection/connection_failure.ts";
import { errorDetail } from "../../lib/gateway/http/error_words.ts";
import { NotUnderstood } from "../../lib/gateway/stream/not_understood.ts";
import { isWebPage, pageTitle } from "../../lib/gateway/http/web_page.ts";
import { Redactor } from "../../lib/text.ts";
import { parseJson } from "../../lib/text/json.ts";
import { plainLine, plainText } from "../../lib/text/plain_text.ts";
import { SettingsError } from "../../lib/settings.ts";
import { dotenvValue, isAssigned } from "../../lib/settings/dotenv_file.ts";
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
  return connectionError(error, { operation: "create thread", route }).message;
}

const RECORD = new NotUnderstood(new Redactor(KEY));

/** Each function that processes foreign text, with the texts that are hard for it. */
const TABLE: readonly (readonly [
  name: string,
  act: (text: string) => unknown,
  texts: readonly string[],
])[] = [
  ["plainText", plainText, [
    "\x1b[" + "0".repeat(MANY),
    "\x9b".repeat(MANY),
    "\x1b[0 ".repeat(MANY),
    "\x1b]".repeat(MANY),
    "\x1b]" + "a".repeat(MANY),
    "\x1b" + " ".repeat(MANY),
  ]],
  ["plainLine", plainLine, [
    "\n".repeat(MANY),
    "\x1b]\n".repeat(MANY),
  ]],
  ["titleIn", titleIn, [
    "x".repeat(MANY),
    "\n".repeat(MANY),
    "\x1b[0m\n".repeat(MANY),
    "\x1b]".repeat(MANY),
  ]],
  ["isWebPage", (text) => isWebPage(text, text), [
    " ".repeat(MANY),
    "<!doctype" + " ".repeat(MANY),
    "text/html" + " ".repeat(MANY) + "x",
  ]],
  ["pageTitle", pageTitle, [
    "<title".repeat(MANY),
    "<title" + " ".repeat(MANY),
    "<title>" + "&#".repeat(MANY),
    "<title>" + " ".repeat(MANY) + "x",
  ]],
  ["errorDetail", (text) => errorDetail(parseJson(text)), [
    "[".repeat(MANY),
    '{"error":'.repeat(MANY / 10),
    `{"message":"${" ".repeat(MANY)}"}`,
  ]],
  ["NotUnderstood.data", (text) => RECORD.data(text, undefined), [
    '{"' + '\\"'.repeat(32_000),
    '{"a":' + '"\\'.repeat(30_000),
    "{" + "NaN,".repeat(16_000),
    " ".repeat(MANY) + "x",
  ]],
  ["isAssigned", (text) => isAssigned(text, "APP_API_KEY"), [
    " ".repeat(MANY),
    "export" + " ".repeat(MANY),
    "export ".repeat(MANY / 7),
    "A='\n".repeat(MANY / 4),
    "APP_API_KEY=#\n".repeat(MANY / 14),
    "APP_API_KEY='a\n".repeat(MANY / 15) + "'",
  ]],
  ["dotenvValue", (text) => dotenvValue(`K='${text}'`, "K"), [
    "\\n".repeat(8_000),
    '"'.repeat(16_000),
    "#".repeat(16_000),
    `a${" ".repeat(16_000)}b`,
  ]],
  ["loadSettings", tryBaseUrl, [
    `https://a/${"/".repeat(MANY)}x`,
    `https://${"a.".repeat(MANY)}`,
    `https://a${"?".repeat(MANY)}`,
    " ".repeat(MANY) + "x",
  ]],
  ["connectionError", tellCertificate, [
    'DnsName("a'.repeat(MANY / 10),
    'DnsName("a"), '.repeat(MANY / 10),
    " (os error 1".repeat(MANY / 10),
    "(os error " + "1".repeat(MANY),
    ": client error (Connect)".repeat(MANY / 20),
  ]],
];

for (const [name, act, texts] of TABLE) {
  for (const text of texts) {
    const start = JSON.stringify(text.slice(0, 12));
    Deno.test(`${name}() takes linear time for ${text.length} characters that begin with ${start}`, () => {
      act(text);
    });
  }
}
