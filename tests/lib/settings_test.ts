import { assertEquals, assertInstanceOf, assertMatch } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { environmentVariable } from "../../lib/io/environment_variable.ts";
import { loadSettings, SettingsError } from "../../lib/settings.ts";
import { readDotenv } from "../../lib/settings/dotenv_file.ts";
import { maskKey } from "../../lib/text/mask_key.ts";
import { blocksOf } from "../support/blocks.ts";
import {
  type Dotenv,
  loadSettingsIn,
  type SettingsSources,
  within,
} from "../support/environment.ts";
import fc from "../support/generated.ts";
import { stub } from "../support/stubs.ts";

const LONGEST = "k".repeat(8192);
const MIB = 1024 * 1024;
const onWindows = Deno.build.os === "windows";

type Sources = SettingsSources & { readonly baseUrl?: string };

/** The settings from these sources, or the error; then the warnings; as lines. */
function settingsIn(sources: Sources): string {
  const warnings: string[] = [];
  const warn = (line: string) => warnings.push(line);
  try {
    const { apiKey, baseUrl, isLocal, ...more } = loadSettingsIn(sources, warn);
    const { apiKey: keyFrom, baseUrl: urlFrom } = more.sources;
    const url = urlFrom === "built-in" ? urlFrom : `${urlFrom}: ${baseUrl}`;
    const place = isLocal ? " (this machine)" : "";
    const first = `${keyFrom}: ${apiKey}, ${url}${place}`;
    return [first, ...warnings].join("\n");
  } catch (error) {
    assertInstanceOf(error, SettingsError);
    return [error.message, ...warnings].join("\n");
  }
}

const env = (APP_API_KEY?: string, APP_BASE_URL?: string): Sources => ({
  env: { APP_API_KEY, APP_BASE_URL },
});
const file = (dotenv: Dotenv, key?: string): Sources => ({
  ...env(key),
  dotenv,
});

/** Asserts what comes of sources. */
function check(sources: Sources, outcome: string): void {
  const said = JSON.stringify(sources).slice(0, 200);
  assertEquals(settingsIn(sources), outcome, said);
}

const UNSET = `APP_API_KEY is not set: ${
  onWindows ? "set it with $env:APP_API_KEY = '...'" : "export it"
}, or put APP_API_KEY='...' into a .env file in the current folder`;
const IGNORED =
  "Ignoring APP_BASE_URL in .env, because APP_API_KEY does not come from there; set APP_BASE_URL in the environment, or use --base-url";
const VARIABLE = "environment: key, built-in";
const FILE = ".env: key, built-in";

/** How a text is given to the program. */
const GIVEN: Readonly<Record<string, (text: string) => Sources>> = {
  "APP_API_KEY": (key) => env(key),
  "APP_API_KEY over .env": (key) => file("APP_API_KEY=good", key),
  "APP_BASE_URL": (url) => env("key", url),
  "--base-url": (baseUrl) => ({ ...env("key", "https://a"), baseUrl }),
  ".env": (text) => file(text),
  ".env under a key": (text) => file(text, "key"),
  "APP_BASE_URL in .env": (url) => {
    const quote = url.includes("'") ? '"' : "'";
    return file(`APP_API_KEY=key\nAPP_BASE_URL=${quote}${url}${quote}`);
  },
};

/** Asserts what comes of texts that are given in one way. */
function test(how: string, texts: readonly string[], outcome: string): void {
  for (const text of texts) check(GIVEN[how]?.(text) ?? {}, outcome);
}

/** What comes of the texts. \u0060 is a backtick. */
const OUTCOMES = blocksOf(String.raw`
APP_API_KEY: environment: key, built-in
    \tkey\r\n
APP_API_KEY: ${UNSET}
  \u0020
  \t\r\n
  \u00a0
APP_API_KEY over .env: APP_API_KEY is malformed: a key is printable ASCII without spaces; copy it again
  two words
  two\twords
  two\nlines
  no\u00a0break
  \ufffd
  zero\u200bwidth
  escape\u001b[2J
  delete\u007f
  control\u0001
APP_API_KEY over .env: APP_API_KEY is malformed: a key has at most 8192 characters; copy it again
  ${LONGEST}k
APP_API_KEY: APP_API_KEY is in quotes or backticks: remove them (docker --env-file does not)
  'key'
  ""
  \u0060key\u0060
APP_BASE_URL: APP_BASE_URL is in quotes or backticks: remove them (docker --env-file does not)
  \u0060https://a\u0060
--base-url: --base-url is in quotes or backticks: remove them (docker --env-file does not)
  "https://a"
APP_BASE_URL in .env: APP_BASE_URL in .env is in quotes or backticks: remove them (docker --env-file does not)
  "https://a"
.env: .env: key, built-in
  APP_API_KEY=key
  export APP_API_KEY=key
   \tAPP_API_KEY =  key\u0020
  APP_API_KEY=' key '
  APP_API_KEY=key#$A
  APP_API_KEY='key' # $A
  # APP_API_KEY='a\n\nAPP_API_KEY=key\n
  APP_API_KEY=a\nAPP_API_KEY=key\n
  A=1\r\nAPP_API_KEY=key\r\nB=2\r\n
  APP_API_KEY='\r\nkey\r\n'\r\n
  APP_API_KEY='\rkey\r'\rA=$A
  A='1'\rAPP_API_KEY=key\rB=$B:/x\r
  \ufeffAPP_API_KEY=key
  MY_APP_API_KEY=a\nAPP_API_KEY=key
  APP_API_KEY=key\nAPP_API_KEY_2=a
.env: .env: $A, built-in
  APP_API_KEY="$A"
  APP_API_KEY='\u2028$A\u2028'
.env: .env: a#$b\\n, built-in
  APP_API_KEY='a#$b\\n'
.env: .env: 'a#$b\\n", built-in
  APP_API_KEY=\u0060'a#$b\\n"\u0060
.env: .env: a=b==, built-in
  APP_API_KEY=a=b==
.env: ${UNSET}
  # APP_API_KEY=a\nAPP_API_KEY\nAPP_API_KEY: a
  APP_API_KEY= # none
  APP_API_KEY=' '
  APP_API_KEY=a\nAPP_API_KEY=
.env: APP_API_KEY in .env cannot be used: it contains an unquoted $; put the value into single quotes
  APP_API_KEY=a$b
  APP_API_KEY=\u0024{HOME}
  APP_API_KEY=$APP_API_KEY:a
  APP_API_KEY='$APP_API_KEY
.env: APP_API_KEY in .env cannot be used: it contains a line break
  APP_API_KEY='a\nb'
  APP_API_KEY='a\rA=$A'
  APP_API_KEY='$APP_API_KEY\u2028a'
  APP_API_KEY=\u0060a\nb\u0060
.env: APP_API_KEY in .env cannot be used: its quote is not closed
  APP_API_KEY='a
  APP_API_KEY="a
  APP_API_KEY=\u0060a
.env: APP_API_KEY in .env cannot be used: it is part of the quoted value that begins in line 1; close the quote there
  A='b\nAPP_API_KEY=key\nB='c'
.env: APP_API_KEY in .env cannot be used: it is part of the quoted value that begins in line 2; close the quote there
  A=1\nB=\u0060\nAPP_API_KEY='key'\nC=\u0060\u0060
.env: APP_API_KEY in .env cannot be used: it is part of the quoted value that begins in line 3; close the quote there
  # one\r\n\r\nA="b\r\n export APP_API_KEY = key\r\nB="c"
.env: APP_API_KEY in .env cannot be used: it is longer than 16384 characters
  APP_API_KEY=${LONGEST}${LONGEST}k
.env under a key: environment: key, built-in\n${IGNORED}
  APP_BASE_URL=https://a
  APP_BASE_URL=$unusable
  APP_BASE_URL='open
  APP_BASE_URL=no URL
  APP_BASE_URL=https://a\nAPP_API_KEY=b
.env under a key: environment: key, built-in
  APP_API_KEY=$unusable
  APP_BASE_URL=' '\nAPP_BASE_URL= # none
APP_BASE_URL: environment: key, environment: https://host.example
  https://host.example
    https://host.example\n
  HTTPS://HOST.EXAMPLE
  https://host.example:443
  https://host.example/
  https://host.example///
APP_BASE_URL: environment: key, environment: https://host.example:8443
  https://host.example:8443
APP_BASE_URL: environment: key, environment: https://host.example/api/v1
  https://host.example/api/v1
  https://host.example/api/v1//
APP_BASE_URL: environment: key, environment: https://host.example/a%20b
  https://host.example/a%20b
APP_BASE_URL: environment: key, environment: https://host.example/@team
  https://host.example/@team
APP_BASE_URL: environment: key, environment: https://xn--bcher-kva.example
  https://bücher.example
APP_BASE_URL: environment: key, environment: https://localhost.host.example
  https://localhost.host.example
APP_BASE_URL: environment: key, environment: https://127.0.0.1.host.example
  https://127.0.0.1.host.example
APP_BASE_URL: environment: key, environment: https://128.0.0.1
  https://128.0.0.1
APP_BASE_URL: environment: key, environment: https://host.example/localhost
  https://host.example/localhost
APP_BASE_URL: environment: key, environment: http://localhost:8080/api (this machine)
  http://LocalHost:8080/api/
APP_BASE_URL: environment: key, environment: https://localhost (this machine)
  https://localhost
APP_BASE_URL: environment: key, environment: http://127.255.255.254 (this machine)
  http://127.255.255.254
APP_BASE_URL: environment: key, environment: http://127.0.0.1 (this machine)
  http://127.1
APP_BASE_URL: environment: key, environment: http://[::1] (this machine)
  http://[0:0:0:0:0:0:0:1]
--base-url: --base-url must be an absolute URL such as https://host/path
  \u0020
`);

for (const [header, texts] of OUTCOMES) {
  const [, how = "", outcome = ""] = /^(.*?): (.*)$/s.exec(header) ?? [];
  Deno.test(`loadSettings() makes of ${texts.length} texts as ${how}: ${outcome}`, () =>
    test(how, texts, outcome));
}

/** Why base URLs are refused, however they are given. */
const REFUSED = blocksOf(
  String.raw`
must be an absolute URL such as https://host/path
  host.example
  /threads
  //host.example
  https:
  https://
  https:host.example
  https:/host.example
  https:///host.example
  https:\\\\host.example
  https://host.example\\@other.example
  http://127.0.0.1\\.other.example
  https://host.exa\tmple
  https://host.example/two words
  https://host.example:99999
must begin with https://
  ftp://host.example
  file:///etc/passwd
must not contain a user name; the key goes into APP_API_KEY
  https://user@host.example
  https://user:key@host.example
  https://:secret@host.example
  https://@host.example
  http://127.0.0.1@host.example
must not contain a query or a fragment
  https://host.example?tenant=a
  https://host.example/?
  https://host.example/#
  http://localhost#@host.example
must have a host name of at most 253 characters, and 63 between dots
  https://LABEL.example
  https://NAME
cannot be used: http: would send the key in clear text; use https: (http: is for localhost, 127.0.0.0/8 and [::1])
  http://host.example
  http://10.0.0.1
  http://0.0.0.0
  http://128.0.0.1
  http://127.0.0.1.host.example
  http://localhost.host.example
  http://notlocalhost
  http://[::2]
  http://[::]
`.replace("LABEL", "a".repeat(64)).replace(
    "NAME",
    `${"a.".repeat(124)}test.com`,
  ),
);

for (const [reason, urls] of REFUSED) {
  Deno.test(`loadSettings() refuses a base URL that ${reason}`, () => {
    for (const how of ["APP_BASE_URL", "--base-url", "APP_BASE_URL in .env"]) {
      test(how, urls, `${how} ${reason}`);
    }
  });
}

/** What belongs to other tools, before or after the key, is no key. */
const OTHERS = blocksOf(String.raw`
nothing of it is a key
  PATH=$PATH:/x
  A=$HOME
  A=\u0024{A}
  A=\u0024{B:-$A}
  A=$B\nB=$C\nC=$A
  A='\nAPP_API_KEY=no\n'
  A="b\nAPP_API_KEY=no\nc" # d
  A=\u0060b\nAPP_API_KEY=no\n\u0060 # d
  A='\r\nAPP_API_KEY=no\r\n'\r
  A='\rAPP_API_KEY=no\r'\r
  a.b-c='\nAPP_API_KEY=no\n'
  A='b
  A=it's\nB=5" wide
  APP_API_KEY\n=\n-\nAPP_API_KEY: no
  __proto__=a\nconstructor=b
`).flatMap(([, texts]) => texts);

Deno.test("loadSettings() is not disturbed by what else is in .env", () => {
  for (const other of OTHERS) {
    check(file(`APP_API_KEY=key\n${other}\n`), FILE);
    check(file(`${other}\nAPP_API_KEY=key\n`), FILE);
  }
});

Deno.test("loadSettings() takes every key of printable ASCII, of up to 8192 characters", () => {
  const printable = String.fromCharCode(
    ...Array.from({ length: 0x7e - 0x20 }, (_, index) => 0x21 + index),
  );
  for (const key of [printable, LONGEST, `'a`, `a"`, `"a'`, `a'b'c`]) {
    check(env(key), `environment: ${key}, built-in`);
  }
  check(file("APP_API_KEY=key", " "), FILE);
  check({}, UNSET);
});

/** The variable, the value in `.env`, the flag, and what takes effect of them. */
const PRECEDENCE: readonly (readonly [string, string, Sources, string])[] = [
  ["https://a", "https://b", { baseUrl: "https://c" }, "--base-url: https://c"],
  ["https://a", "https://b", {}, "environment: https://a"],
  [" ", "https://b", {}, ".env: https://b"],
  ["", "' '", {}, "built-in"],
];

Deno.test("loadSettings() takes the base URL of the flag, the environment, .env, in this order", () => {
  for (const [variable, value, flag, told] of PRECEDENCE) {
    const dotenv = `APP_API_KEY=key\nAPP_BASE_URL=${value}`;
    const sources = { ...env(undefined, variable), dotenv, ...flag };
    check(sources, `.env: key, ${told}`);
  }
});

Deno.test("loadSettings() removes an empty DENO_CERT, and no other", () => {
  for (const value of ["", "/certificates.pem"]) {
    within({ env: { APP_API_KEY: "key", DENO_CERT: value } }, () => {
      loadSettings(undefined, () => {});
      assertEquals(Deno.env.get("DENO_CERT"), value || undefined);
    });
  }
});

Deno.test("loadSettings() takes the key and the URL from .env, and nothing else that the program reads", () => {
  const names = config.permissions.client.env;
  const lines = names.map((name) => `${name}=https://${name}.example:80`);
  within({ dotenv: lines.join("\n") }, () => {
    const before = Deno.env.toObject();
    const { apiKey, baseUrl, proxy } = loadSettings(undefined, () => {});
    assertEquals([apiKey, baseUrl, proxy], [
      "https://APP_API_KEY.example:80",
      "https://app_base_url.example:80",
      undefined,
    ]);
    assertEquals(Deno.env.toObject(), before);
    assertEquals(names.filter(environmentVariable), []);
  });
});

const link = (target: string) => (path: string) =>
  Deno.symlinkSync(target, path);
const line = "APP_API_KEY=key\n";

/** What `.env` is, and why it is not read. */
// deno-fmt-ignore: a table
const UNREADABLE: readonly (readonly [what: string, dotenv: Dotenv, reason: RegExp])[] = [
  ["a folder", (path) => Deno.mkdirSync(path), /not a regular file/],
  ["larger than 1 MiB", line + "#".repeat(MIB), /larger than 1 MiB/],
  ["not UTF-8", new TextEncoder().encode(`${line}# `).with(-1, 0xff), /not UTF-8; save it as UTF-8, or/],
  ["UTF-16 without a mark", line.split("").join("\0"), /not UTF-8; save it as UTF-8, or/],
  ["a link to a device", link("/dev/zero"), /(?:not a regular file|permission denied)/],
  ["a link to itself", link(".env"), /[^\n]+/],
];
for (const [what, dotenv, reason] of UNREADABLE) {
  Deno.test({
    name:
      `.env: if it is ${what}, one line warns, and the environment alone counts`,
    ignore: onWindows && what.startsWith("a link"),
    fn() {
      const warning =
        `\nCannot read \\.env, so it is ignored: ${reason.source};? set its variables in the environment instead$`;
      assertMatch(settingsIn(file(dotenv, "key")), RegExp(VARIABLE + warning));
      assertMatch(settingsIn(file(dotenv)), RegExp(`current folder${warning}`));
    },
  });
}

Deno.test({
  name: ".env: if it may not be read, one line warns",
  permissions: { env: true },
  fn() {
    const { text, warning } = readDotenv({ isNeeded: false });
    const words =
      "Cannot read .env, so it is ignored: run Deno with --allow-read=.env";
    assertEquals([text, warning], ["", words]);
  },
});

Deno.test({
  name: ".env: a file of 1 MiB and links are read",
  ignore: onWindows,
  fn() {
    check(file(line + "#".repeat(MIB - line.length)), FILE);
    const linked = (path: string) => {
      Deno.writeTextFileSync(`${path}2`, line);
      link(`${path}2`)(path);
    };
    check(file(linked), FILE);
    check(file(link("nothing"), "key"), VARIABLE);
  },
});

Deno.test(".env: whatever it contains, the settings are usable or a SettingsError says why not", () => {
  const parts = fc.constantFrom(
    ...blocksOf(String.raw`
parts
  APP_API_KEY=
  APP_BASE_URL=
  https://
  A=
  export\u0020
  =
  $APP_API_KEY
  \u0024{A:-$A}
  $
  '
  "
  \u0060
  #
  \\
  a
  é
  \n
  \r\n
  \r
  \u2028
  \u0020
  \t
  \u0000
`).flatMap(([, texts]) => texts),
  );
  const text = fc.array(parts, { maxLength: 30 });
  fc.assert(
    fc.property(text, (parts) => {
      const outcome = settingsIn({ dotenv: parts.join("") });
      assertMatch(
        outcome,
        /^(?:APP_|\.env: [!-~]+, (?:built-in|\.env: https:\/\/[^?#]*[^\/?#]$))/,
      );
    }),
    { numRuns: 500 },
  );
});

Deno.test("maskKey() shows four characters at each end of a long key (interface 5.5)", () => {
  const masked = ["", "a", "12345678", "123456789"].map(maskKey).join();
  assertEquals(masked, "undefined,****,****,1234...6789");
});

Deno.test({
  name: "environmentVariable() is undefined if the variable may not be read",
  permissions: { env: false },
  fn: () => assertEquals(environmentVariable("A_VARIABLE"), undefined),
});

Deno.test("environmentVariable() is U+FFFD if the value is not Unicode", () => {
  using _ = stub(Deno.env, {
    get() {
      throw new Deno.errors.InvalidData("secret");
    },
  });
  assertEquals(environmentVariable("A_VARIABLE"), "\ufffd");
});
