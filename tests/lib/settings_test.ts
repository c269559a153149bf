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

const LONGEST = "k".repeat(8192);
const MIB = 1024 * 1024;
const onWindows = Deno.build.os === "windows";

type Sources = SettingsSources & { readonly baseUrl?: string };

/** The settings from these sources, or the error; then the warnings; as lines. */
function settingsIn(sources: Sources): string {
  try {
    const { apiKey, baseUrl, isLocal, ...more } = loadSettingsIn(sources);
    const { apiKey: keyFrom, baseUrl: urlFrom } = more.sources;
    const url = urlFrom === "built-in" ? urlFrom : `${urlFrom}: ${baseUrl}`;
    const place = isLocal ? " (this machine)" : "";
    const first = `${keyFrom}: ${apiKey}, ${url}${place}`;
    return [first, ...more.warnings].join("\n");
  } catch (error) {
    assertInstanceOf(error, SettingsError);
    return [error.message, ...error.warnings].join("\n");
  }
}

const env = (APP_API_KEY?: string, APP_BASE_URL?: string): Sources => ({
  env: { APP_API_KEY, APP_BASE_URL },
});
const file = (dotenv: Dotenv, key?: string): Sources => ({
  ...env(key),
  dotenv,
});

/** For each way to give settings, what comes of it. */
function test(what: string, rows: readonly (readonly [Sources, string])[]) {
  Deno.test(`loadSettings() ${what}`, () => {
    for (const [sources, outcome] of rows) {
      const said = JSON.stringify(sources).slice(0, 200);
      assertEquals(settingsIn(sources), outcome, said);
    }
  });
}

type Blocks = ReturnType<typeof blocksOf>;

/** The rows of blocks: how their texts are given, and what comes of them. */
function rowsOf(
  blocks: Blocks,
  given: (text: string) => Sources,
  told: (outcome: string) => string,
): readonly (readonly [Sources, string])[] {
  return blocks.flatMap(([outcome, texts]) =>
    texts.map((text) => [given(text), told(outcome)] as const)
  );
}

const UNSET = `APP_API_KEY is not set: ${
  onWindows ? "set it with $env:APP_API_KEY = '...'" : "export it"
}, or put APP_API_KEY='...' into a .env file in the current folder`;
const VARIABLE = "environment: key, built-in";
const FILE = ".env: key, built-in";

const PRINTABLE = String.fromCharCode(
  ...Array.from({ length: 0x7e - 0x20 }, (_, index) => 0x21 + index),
);

test("takes the key from APP_API_KEY, trimmed (interface 2, 5.2)", [
  [env(" \tkey\r\n"), VARIABLE],
  ...[PRINTABLE, LONGEST, `'a`, `a"`, `"a'`, `a'b'c`]
    .map((key) => [env(key), `environment: ${key}, built-in`] as const),
  [file("APP_API_KEY=$unusable", "key"), VARIABLE],
  [file("APP_API_KEY=key", " "), FILE],
]);

test(
  "takes a blank key for none (interface 7)",
  [undefined, "", " ", "\t\r\n", "\u00a0"].map((key) => [env(key), UNSET]),
);

/** What is wrong with keys. The good one in `.env` is not used. */
const MALFORMED = blocksOf(String.raw`
a key is printable ASCII without spaces
  two words
  two\twords
  two\nlines
  no\u00a0break
  \ufffd
  zero\u200bwidth
  escape\u001b[2J
  delete\u007f
  control\u0001
`);
test(
  "refuses a key without showing it: a key has rules",
  rowsOf(
    [...MALFORMED, ["a key has at most 8192 characters", [`${LONGEST}k`]]],
    (key) => file("APP_API_KEY=good", key),
    (reason) => `APP_API_KEY is malformed: ${reason}; copy it again`,
  ),
);

const quoted = (source: string) =>
  `${source} is in quotes or backticks: remove them (docker --env-file does not)`;
test("says what is in quotes", [
  ...["'key'", '""', "`key`"]
    .map((key) => [env(key), quoted("APP_API_KEY")] as const),
  [env("key", "`https://a`"), quoted("APP_BASE_URL")],
  [{ ...env("key"), baseUrl: '"https://a"' }, quoted("--base-url")],
  [
    file(`APP_API_KEY=key\nAPP_BASE_URL="'https://a'"`),
    quoted("APP_BASE_URL in .env"),
  ],
]);

/** What the texts of `.env` make the key. \u0060 is a backtick. */
const KEYS = blocksOf(String.raw`
key
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
$A
  APP_API_KEY="$A"
  APP_API_KEY='\u2028$A\u2028'
a#$b\\n
  APP_API_KEY='a#$b\\n'
'a#$b\\n"
  APP_API_KEY=\u0060'a#$b\\n"\u0060
a=b==
  APP_API_KEY=a=b==
`);

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

test("takes the key from .env, and is not disturbed by what else is in it", [
  ...rowsOf(KEYS, file, (key) => `.env: ${key}, built-in`),
  ...OTHERS.flatMap((other) => [
    [file(`APP_API_KEY=key\n${other}\n`), FILE] as const,
    [file(`${other}\nAPP_API_KEY=key\n`), FILE] as const,
  ]),
  ...[
    ...["", "# APP_API_KEY=a\nAPP_API_KEY\nAPP_API_KEY: a"],
    ...[
      "APP_API_KEY= # none",
      "APP_API_KEY=' '",
      "APP_API_KEY=a\nAPP_API_KEY=",
    ],
  ].map((text) => [file(text), UNSET] as const),
]);

/** Why the texts of `.env` are refused. */
const UNUSABLE = blocksOf(String.raw`
it contains an unquoted $; put the value into single quotes
  APP_API_KEY=a$b
  APP_API_KEY=\u0024{HOME}
  APP_API_KEY=$APP_API_KEY:a
  APP_API_KEY='$APP_API_KEY
it contains a line break
  APP_API_KEY='a\nb'
  APP_API_KEY='a\rA=$A'
  APP_API_KEY='$APP_API_KEY\u2028a'
  APP_API_KEY=\u0060a\nb\u0060
its quote is not closed
  APP_API_KEY='a
  APP_API_KEY="a
  APP_API_KEY=\u0060a
it is part of the quoted value that begins in line 1; close the quote there
  A='b\nAPP_API_KEY=key\nB='c'
it is part of the quoted value that begins in line 2; close the quote there
  A=1\nB=\u0060\nAPP_API_KEY='key'\nC=\u0060\u0060
it is part of the quoted value that begins in line 3; close the quote there
  # one\r\n\r\nA="b\r\n export APP_API_KEY = key\r\nB="c"
`);
test(
  "refuses the key in .env without showing it, and says why",
  rowsOf(
    [
      ...UNUSABLE,
      [
        "it is longer than 16384 characters",
        [`APP_API_KEY=${"a".repeat(20_000)}`],
      ],
    ],
    file,
    (reason) => `APP_API_KEY in .env cannot be used: ${reason}`,
  ),
);

const IGNORED =
  `${VARIABLE}\nIgnoring APP_BASE_URL in .env, because APP_API_KEY does not come from there; set APP_BASE_URL in the environment, or use --base-url`;
test("never lets .env choose where the key of the environment goes", [
  ...["https://a", "$unusable", "'open", "no URL", "https://a\nAPP_API_KEY=b"]
    .map((url) => [file(`APP_BASE_URL=${url}`, "key"), IGNORED] as const),
  [file("APP_BASE_URL=' '\nAPP_BASE_URL= # none", "key"), VARIABLE],
]);

/** The variable, the value in `.env`, the flag, and what takes effect of them. */
const PRECEDENCE: readonly (readonly [string, string, Sources, string])[] = [
  ["https://a", "https://b", { baseUrl: "https://c" }, "--base-url: https://c"],
  ["https://a", "https://b", {}, "environment: https://a"],
  [" ", "https://b", {}, ".env: https://b"],
  ["", "' '", {}, "built-in"],
];
test(
  "takes the base URL of the flag, the environment, .env, in this order",
  PRECEDENCE.map(([variable, value, flag, told]) => [{
    ...file(`APP_API_KEY=key\nAPP_BASE_URL=${value}`),
    ...env(undefined, variable),
    ...flag,
  }, `.env: key, ${told}`]),
);

/** What texts become as a base URL. */
const BASE_URLS = blocksOf(String.raw`
https://host.example
  https://host.example
    https://host.example\n
  HTTPS://HOST.EXAMPLE
  https://host.example:443
  https://host.example/
  https://host.example///
https://host.example:8443
  https://host.example:8443
https://host.example/api/v1
  https://host.example/api/v1
  https://host.example/api/v1//
https://host.example/a%20b
  https://host.example/a%20b
https://host.example/@team
  https://host.example/@team
https://xn--bcher-kva.example
  https://bücher.example
https://localhost.host.example
  https://localhost.host.example
https://127.0.0.1.host.example
  https://127.0.0.1.host.example
https://128.0.0.1
  https://128.0.0.1
https://host.example/localhost
  https://host.example/localhost
http://localhost:8080/api (this machine)
  http://LocalHost:8080/api/
https://localhost (this machine)
  https://localhost
http://127.255.255.254 (this machine)
  http://127.255.255.254
http://127.0.0.1 (this machine)
  http://127.1
http://[::1] (this machine)
  http://[0:0:0:0:0:0:0:1]
`);
test(
  "makes texts the base URL, and tells this machine from others",
  rowsOf(
    BASE_URLS,
    (url) => env("key", url),
    (baseUrl) => `environment: key, environment: ${baseUrl}`,
  ),
);

/** The base URLs that are refused, by the reason. */
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
const WAYS: Readonly<Record<string, (url: string) => Sources>> = {
  APP_BASE_URL: (url) => env("key", url),
  "--base-url": (baseUrl) => ({ ...env("key"), baseUrl }),
  "APP_BASE_URL in .env": (url) =>
    file(`APP_API_KEY=key\nAPP_BASE_URL='${url}'`),
};
for (const [source, given] of Object.entries(WAYS)) {
  test(
    `refuses a base URL that breaks a rule: ${source}`,
    rowsOf(REFUSED, given, (reason) => `${source} ${reason}`),
  );
}
test("refuses a blank --base-url, whatever else is set", [
  [
    { ...env("key", "https://a"), baseUrl: " " },
    "--base-url must be an absolute URL such as https://host/path",
  ],
]);

Deno.test("loadSettings() removes an empty DENO_CERT, and no other", () => {
  for (const value of ["", "/certificates.pem"]) {
    within({ env: { APP_API_KEY: "key", DENO_CERT: value } }, () => {
      loadSettings();
      assertEquals(Deno.env.get("DENO_CERT"), value || undefined);
    });
  }
});

Deno.test("loadSettings() takes the key and the URL from .env, and nothing else that the program reads", () => {
  const names = config.permissions.client.env;
  const lines = names.map((name) => `${name}=https://${name}.example:80`);
  within({ dotenv: lines.join("\n") }, () => {
    const before = Deno.env.toObject();
    const { apiKey, baseUrl, proxy } = loadSettings();
    assertEquals([apiKey, baseUrl, proxy], [
      "https://APP_API_KEY.example:80",
      "https://app_base_url.example:80",
      undefined,
    ]);
    assertEquals(Deno.env.toObject(), before);
    const read = names.map(environmentVariable);
    assertEquals(read, names.map((name) => before[name]));
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

const writable = (mode: number) => (path: string) => {
  Deno.writeTextFileSync(path, line);
  Deno.chmodSync(path, mode);
};
const RISK =
  `${FILE}\nAll users of this machine can change .env, and so choose where prompts go; run chmod o-w .env`;

if (!onWindows) {
  test("warns of a .env that all users can change, and reads links", [
    [file(writable(0o666)), RISK],
    [file(writable(0o666), "key"), VARIABLE],
    [file(writable(0o664)), FILE],
    [file(line + "#".repeat(MIB - line.length)), FILE],
    [
      file((path) => {
        Deno.writeTextFileSync(`${path}2`, line);
        link(`${path}2`)(path);
      }),
      FILE,
    ],
    [file(link("nothing"), "key"), VARIABLE],
  ]);
}

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
  const { get } = Deno.env;
  Deno.env.get = () => {
    throw new Deno.errors.InvalidData("secret");
  };
  const value = environmentVariable("A_VARIABLE");
  Deno.env.get = get;
  assertEquals(value, "\ufffd");
});
