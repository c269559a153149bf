import { assertEquals, assertInstanceOf, assertMatch } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { environmentVariable } from "../../lib/io/environment_variable.ts";
import { loadSettings, SettingsError } from "../../lib/settings.ts";
import { readDotenv } from "../../lib/settings/dotenv_file.ts";
import { maskKey } from "../../lib/text/mask_key.ts";
import {
  type Dotenv,
  loadSettingsIn,
  type SettingsSources,
  within,
} from "../support/environment.ts";
import fc from "../support/generated.ts";

const KEY = "test-key-0123456789";
const LONGEST = "k".repeat(8192);
const MIB = 1024 * 1024;
const onWindows = Deno.build.os === "windows";

type Sources = SettingsSources & { readonly baseUrl?: string };

/** The settings from these sources, or the error, and the warnings, as lines. */
function settingsIn(sources: Sources): string {
  let settings;
  try {
    const { apiKey, baseUrl, ...more } = loadSettingsIn(sources);
    const url = more.sources.baseUrl === "built-in" ? "" : ` ${baseUrl}`;
    const text =
      `${apiKey} (${more.sources.apiKey})${url} (${more.sources.baseUrl})`;
    settings = { text, warnings: more.warnings };
  } catch (error) {
    assertInstanceOf(error, SettingsError);
    settings = { text: error.message, warnings: error.warnings };
  }
  return [settings.text, ...settings.warnings].join("\n");
}

const env = (key?: string, baseUrl?: string): Sources => ({
  env: { APP_API_KEY: key, APP_BASE_URL: baseUrl },
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

const UNSET = `APP_API_KEY is not set: ${
  onWindows ? "set it with $env:APP_API_KEY = '...'" : "export it"
}, or put APP_API_KEY='...' into a .env file in the current folder`;
const fromEnvironment = (key: string) => `${key} (environment) (built-in)`;
const fromFile = (key: string) => `${key} (.env) (built-in)`;

const PRINTABLE = String.fromCharCode(
  ...Array.from({ length: 0x7e - 0x20 }, (_, index) => 0x21 + index),
);

test("takes the key from APP_API_KEY, trimmed (interface 2, 5.2)", [
  [env(` \t${KEY}\r\n`), fromEnvironment(KEY)],
  ...[KEY, PRINTABLE, LONGEST, `'a`, `a"`, `"a'`, `a'b'c`]
    .map((key) => [env(key), fromEnvironment(key)] as const),
  [file("APP_API_KEY=$unusable", KEY), fromEnvironment(KEY)],
  [file(`APP_API_KEY=${KEY}`, " "), fromFile(KEY)],
]);

test("takes a blank key for none (interface 7)", [
  ...[undefined, "", " ", "\t\r\n", "\u00a0"]
    .map((key) => [env(key), UNSET] as const),
  ...["", "# APP_API_KEY=a\nAPP_API_KEY\nAPP_API_KEY: a", "APP_API_KEY= # none"]
    .map((text) => [file(text), UNSET] as const),
  ...["APP_API_KEY=' '", "APP_API_KEY=a\nAPP_API_KEY="]
    .map((text) => [file(text), UNSET] as const),
]);

/** What is wrong with keys, without showing them; the good one in `.env` is not used. */
const MALFORMED = {
  "a key is printable ASCII without spaces": [
    ...["two words", "two\twords", "two\nlines", "no\u00a0break", "\ufffd"],
    ...["zero\u200bwidth", "escape\x1b[2J", "delete\x7f", "control\x01"],
  ],
  "a key has at most 8192 characters": [`${LONGEST}k`],
};
for (const [reason, keys] of Object.entries(MALFORMED)) {
  const told = `APP_API_KEY is malformed: ${reason}; copy it again`;
  const good = `APP_API_KEY=${KEY}`;
  test(
    `refuses a key without showing it: ${reason}`,
    keys.map((key) => [file(good, key), told]),
  );
}

const quoted = ["https://host.example", KEY, "a", ""].flatMap((value) =>
  ["'", '"', "`"].map((quote) => quote + value + quote)
);
for (
  const [source, sources] of Object.entries({
    APP_API_KEY: (value: string) => env(value),
    APP_BASE_URL: (value: string) => env(KEY, value),
    "--base-url": (value: string) => ({ ...env(KEY), baseUrl: value }),
    "APP_BASE_URL in .env": (value: string) => {
      const quote = value.startsWith("'") ? '"' : "'";
      const line = `APP_BASE_URL=${quote}${value}${quote}`;
      return file(`APP_API_KEY=${KEY}\n${line}`);
    },
  })
) {
  const told =
    `${source} is in quotes or backticks: remove them (docker --env-file does not)`;
  const rows = quoted.map((value) => [sources(value), told] as const);
  test(`says that ${source} is in quotes`, rows);
}

/** What a line, or several, of `.env` make the key. */
// deno-fmt-ignore: a table
const KEYS: readonly (readonly [dotenv: string, key: string])[] = [
  [`APP_API_KEY=${KEY}`, KEY], ["APP_API_KEY='a#$b\\n'", "a#$b\\n"], ['APP_API_KEY="$A"', "$A"],
  ["APP_API_KEY=`'a#$b\\n\"`", "'a#$b\\n\""], [`export APP_API_KEY=${KEY}`, KEY], [` \tAPP_API_KEY =  ${KEY} `, KEY],
  [`APP_API_KEY=' ${KEY} '`, KEY], [`APP_API_KEY=${KEY}#$A`, KEY], [`APP_API_KEY='${KEY}' # $A`, KEY],
  [`# APP_API_KEY='a\n\nAPP_API_KEY=${KEY}\n`, KEY], [`APP_API_KEY=a\nAPP_API_KEY=${KEY}\n`, KEY],
  [`A=1\r\nAPP_API_KEY=${KEY}\r\nB=2\r\n`, KEY], [`APP_API_KEY='\r\n${KEY}\r\n'\r\n`, KEY], [`APP_API_KEY='\r${KEY}\r'\rA=$A`, KEY],
  [`APP_API_KEY='\u2028$A\u2028'`, "$A"], [`A='1'\rAPP_API_KEY=${KEY}\rB=$B:/x\r`, KEY], [`\ufeffAPP_API_KEY=${KEY}`, KEY],
  [`MY_APP_API_KEY=a\nAPP_API_KEY=${KEY}`, KEY], [`APP_API_KEY=${KEY}\nAPP_API_KEY_2=a`, KEY], ["APP_API_KEY=a=b==", "a=b=="],
];
test(
  "takes the key from .env",
  KEYS.map(([text, key]) => [file(text), fromFile(key)]),
);

/** What belongs to other tools, before or after the key. */
const OTHERS = [
  ...["PATH=$PATH:/x", "A=$HOME", "A=${A}", "A=${B:-$A}", "A=$B\nB=$C\nC=$A"],
  ...["A='\nAPP_API_KEY=no\n'", 'A="b\nAPP_API_KEY=no\nc" # d'],
  ...["A=`b\nAPP_API_KEY=no\n` # d", "A='\r\nAPP_API_KEY=no\r\n'\r"],
  ...["A='\rAPP_API_KEY=no\r'\r", "a.b-c='\nAPP_API_KEY=no\n'", "A='b"],
  ...["A=it's\nB=5\" wide", "APP_API_KEY\n=\n-\nAPP_API_KEY: no"],
  "__proto__=a\nconstructor=b",
];
test(
  "is not disturbed by what else is in .env",
  OTHERS.flatMap((other) => [
    [file(`APP_API_KEY=${KEY}\n${other}\n`), fromFile(KEY)],
    [file(`${other}\nAPP_API_KEY=${KEY}\n`), fromFile(KEY)],
  ]),
);

const [UNQUOTED, OPEN, BREAK] = [
  "it contains an unquoted $; put the value into single quotes",
  "its quote is not closed",
  "it contains a line break",
];
const partOf = (line: number) =>
  `it is part of the quoted value that begins in line ${line}; close the quote there`;

/** Texts of `.env` that are refused, and why; the value is not shown. */
// deno-fmt-ignore: a table
const UNUSABLE: readonly (readonly [dotenv: string, reason: string])[] = [
  ...["a$b", "${HOME}", "$APP_API_KEY:a", "'$APP_API_KEY"].map((value) => [`APP_API_KEY=${value}`, UNQUOTED] as const),
  ...["'a\nb'", "'a\rA=$A'", "'$APP_API_KEY\u2028a'", "`a\nb`"].map((value) => [`APP_API_KEY=${value}`, BREAK] as const),
  ...["'a", '"a', "`a"].map((value) => [`APP_API_KEY=${value}`, OPEN] as const),
  [`APP_API_KEY=${"a".repeat(20_000)}`, "it is longer than 16384 characters"],
  [`A='b\nAPP_API_KEY=${KEY}\nB='c'`, partOf(1)],
  [`# one\r\n\r\nA="b\r\n export APP_API_KEY = ${KEY}\r\nB="c"`, partOf(3)],
  [`A=1\nB=\`\nAPP_API_KEY='${KEY}'\nC=\`\``, partOf(2)],
];
test(
  "refuses the key in .env without showing it, and says why",
  UNUSABLE.map((
    [text, reason],
  ) => [file(text), `APP_API_KEY in .env cannot be used: ${reason}`]),
);

const IGNORED =
  "Ignoring APP_BASE_URL in .env, because APP_API_KEY does not come from there; set APP_BASE_URL in the environment, or use --base-url";
test("never lets .env choose where the key of the environment goes", [
  ...["https://other.example", "$unusable", "'open", "not a URL"]
    .map((url) =>
      [
        file(`APP_BASE_URL=${url}`, KEY),
        `${fromEnvironment(KEY)}\n${IGNORED}`,
      ] as const
    ),
  [
    file(`APP_BASE_URL=https://a\nAPP_API_KEY=other`, KEY),
    `${fromEnvironment(KEY)}\n${IGNORED}`,
  ],
  [file("APP_BASE_URL=' '\nAPP_BASE_URL= # none", KEY), fromEnvironment(KEY)],
]);

/** The flag, the variable, the value in `.env`, and what takes effect of them. */
// deno-fmt-ignore: a table
const PRECEDENCE: readonly (readonly [flag: string | undefined, variable: string | undefined, file: string, told: string])[] = [
  ["https://flag", "https://a", "https://b", " https://flag (--base-url)"],
  [undefined, "https://a", "https://b", " https://a (environment)"],
  [undefined, " ", "https://b", " https://b (.env)"],
  [undefined, "", "' '", " (built-in)"],
];
test(
  "takes the base URL of the flag, the environment, .env, in this order",
  PRECEDENCE.map(
    ([flag, variable, value, told]) => [{
      ...env(undefined, variable),
      dotenv: `APP_API_KEY=${KEY}\nAPP_BASE_URL=${value}`,
      ...flag !== undefined && { baseUrl: flag },
    }, `${KEY} (.env)${told}`],
  ),
);

/** The texts that become a base URL, by that URL. */
const BASE_URLS: Readonly<Record<string, readonly string[]>> = {
  "https://host.example": [
    ...["https://host.example", "  https://host.example\n"],
    ...["HTTPS://HOST.EXAMPLE", "https://host.example:443"],
    ...["https://host.example/", "https://host.example///"],
  ],
  "https://host.example:8443": ["https://host.example:8443"],
  "https://host.example/api/v1": [
    ...["https://host.example/api/v1", "https://host.example/api/v1//"],
  ],
  "https://host.example/a%20b": ["https://host.example/a%20b"],
  "https://host.example/@team": ["https://host.example/@team"],
  "https://xn--bcher-kva.example": ["https://b\u00fccher.example"],
  "http://localhost:8080/api": ["http://LocalHost:8080/api/"],
  "http://127.255.255.254": ["http://127.255.255.254"],
  "http://127.0.0.1": ["http://127.1"],
  "http://[::1]": ["http://[0:0:0:0:0:0:0:1]"],
};
for (const [baseUrl, urls] of Object.entries(BASE_URLS)) {
  const told = `${KEY} (environment) ${baseUrl} (environment)`;
  test(
    `makes ${urls.length} texts the base URL ${baseUrl}`,
    urls.map((url) => [env(KEY, url), told]),
  );
}

/** The base URLs that are refused, by the reason. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "must be an absolute URL such as https://host/path": [
    ...["host.example", "/threads", "//host.example", "https:", "https://"],
    ...["https:host.example", "https:/host.example", "https:///host.example"],
    ...["https:\\\\host.example", "https://host.example\\@other.example"],
    ...["http://127.0.0.1\\.other.example", "https://host.exa\tmple"],
    ...["https://host.example/two words", "https://host.example:99999"],
  ],
  "must begin with https://": ["ftp://host.example", "file:///etc/passwd"],
  "must not contain a user name; the key goes into APP_API_KEY": [
    ...["https://user@host.example", `https://user:${KEY}@host.example`],
    ...["https://:secret@host.example", "https://@host.example"],
    ...["http://127.0.0.1@host.example"],
  ],
  "must not contain a query or a fragment": [
    ...["https://host.example?tenant=a", "https://host.example/?"],
    ...["https://host.example/#", "http://localhost#@host.example"],
  ],
  "must have a host name of at most 253 characters, and 63 between dots": [
    ...[
      `https://${"a".repeat(64)}.example`,
      `https://${"a.".repeat(124)}test.com`,
    ],
  ],
  "cannot be used: http: would send the key in clear text; use https: (http: is for localhost, 127.0.0.0/8 and [::1])":
    [
      ...["http://host.example", "http://10.0.0.1", "http://0.0.0.0"],
      ...["http://128.0.0.1", "http://127.0.0.1.host.example"],
      ...["http://localhost.host.example", "http://notlocalhost"],
      ...["http://[::2]", "http://[::]"],
    ],
};
for (const [reason, urls] of Object.entries(REFUSED)) {
  test(
    `refuses a base URL that ${reason}`,
    urls.flatMap((url) => [
      [env(KEY, url), `APP_BASE_URL ${reason}`],
      [{ ...env(KEY), baseUrl: url }, `--base-url ${reason}`],
      [
        file(`APP_API_KEY=${KEY}\nAPP_BASE_URL='${url}'`),
        `APP_BASE_URL in .env ${reason}`,
      ],
    ]),
  );
}
test("refuses a blank --base-url, whatever else is set", [
  [
    { ...env(KEY, "https://a"), baseUrl: " " },
    "--base-url must be an absolute URL such as https://host/path",
  ],
]);

const HERE = [
  ...["http://localhost:8080", "https://localhost", "http://127.0.0.1"],
  ...["http://127.9.8.7/api", "http://[::1]:8080"],
];
const ELSEWHERE = [
  ...["https://localhost.host.example", "https://127.0.0.1.host.example"],
  ...["https://128.0.0.1", "https://host.example/localhost"],
];
Deno.test("loadSettings() tells this machine from others", () => {
  const isLocal = (url: string) => loadSettingsIn(env(KEY, url)).isLocal;
  assertEquals([...HERE, ...ELSEWHERE].filter(isLocal), HERE);
});

Deno.test("loadSettings() removes an empty DENO_CERT, and no other", () => {
  for (const value of ["", "/certificates.pem"]) {
    within({ env: { APP_API_KEY: KEY, DENO_CERT: value } }, () => {
      loadSettings();
      assertEquals(Deno.env.get("DENO_CERT"), value || undefined);
    });
  }
});

Deno.test("loadSettings() takes the key and the URL from .env, and nothing else that the program reads", () => {
  const values: Readonly<Record<string, string>> = {
    APP_API_KEY: KEY,
    APP_BASE_URL: "https://host.example",
  };
  const lines = config.permissions.client.env
    .map((name) => `${name}=${values[name] ?? "http://proxy.example:80"}`);
  within({ dotenv: lines.join("\n") }, () => {
    const before = Deno.env.toObject();
    const { apiKey, baseUrl, proxy } = loadSettings();
    assertEquals([apiKey, baseUrl, proxy], [
      ...Object.values(values),
      undefined,
    ]);
    assertEquals(Deno.env.toObject(), before);
    for (const name of config.permissions.client.env) {
      assertEquals(environmentVariable(name), before[name], name);
    }
  });
});

const link = (target: string) => (path: string) =>
  Deno.symlinkSync(target, path);
const line = `APP_API_KEY=${KEY}\n`;
const ELSE = "set its variables in the environment instead";

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
        `\nCannot read \\.env, so it is ignored: ${reason.source};? ${ELSE}$`;
      const [first] = fromEnvironment(KEY).split("(");
      assertMatch(
        settingsIn(file(dotenv, KEY)),
        RegExp(`^${first}.*${warning}`),
      );
      assertMatch(
        settingsIn(file(dotenv)),
        RegExp(`^APP_API_KEY is not set: .*${warning}`),
      );
    },
  });
}

Deno.test({
  name:
    ".env: a file of 1 MiB and a link to a file are read, and a link to nothing is no file",
  ignore: onWindows,
  fn() {
    const target = Deno.makeTempFileSync();
    Deno.writeTextFileSync(target, line);
    const outcomes = [line + "#".repeat(MIB - line.length), link(target)]
      .map((dotenv) => settingsIn(file(dotenv)));
    assertEquals(outcomes, [fromFile(KEY), fromFile(KEY)]);
    assertEquals(settingsIn(file(link("nothing"), KEY)), fromEnvironment(KEY));
    Deno.removeSync(target);
  },
});

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
  name:
    ".env: that all users can change it is a warning, if something of it is used",
  ignore: onWindows,
  fn() {
    const writable = (mode: number) => (path: string) => {
      Deno.writeTextFileSync(path, line);
      Deno.chmodSync(path, mode);
    };
    const risk =
      "\nAll users of this machine can change .env, and so choose where prompts go; run chmod o-w .env";
    for (
      const [mode, warning] of [[0o666, risk], [0o664, ""], [
        0o600,
        "",
      ]] as const
    ) {
      const dotenv = writable(mode);
      assertEquals(settingsIn(file(dotenv)), fromFile(KEY) + warning);
      assertEquals(settingsIn(file(dotenv, KEY)), fromEnvironment(KEY));
    }
  },
});

Deno.test(".env: whatever it contains, the settings are usable or a SettingsError says why not", () => {
  const text = fc.array(
    fc.constantFrom(
      ...["APP_API_KEY=", "APP_BASE_URL=", "https://", "A=", "export ", "="],
      ...["$APP_API_KEY", "${A:-$A}", "$", "'", '"', "`", "#", "\\", "a"],
      ...["\u00e9", "\n", "\r\n", "\r", "\u2028", " ", "\t", "\0"],
    ),
    { maxLength: 30 },
  ).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (dotenv) => {
      try {
        const { apiKey, baseUrl } = loadSettingsIn({ dotenv });
        assertMatch(apiKey, /^[!-~]+$/);
        assertMatch(baseUrl, /^https:\/\/[^?#]*[^/?#]$/);
      } catch (error) {
        assertInstanceOf(error, SettingsError);
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("maskKey() shows four characters at each end of a long key (interface 5.5)", () => {
  const keys = ["", "a", "12345678", "123456789", KEY];
  assertEquals(keys.map(maskKey), [
    ...["undefined", "****", "****", "1234...6789", "test...6789"],
  ]);
});

Deno.test({
  name: "environmentVariable() is undefined if the variable may not be read",
  permissions: { env: false },
  fn() {
    assertEquals(environmentVariable("A_VARIABLE"), undefined);
  },
});

Deno.test({
  name: "environmentVariable() is U+FFFD if the value is not Unicode",
  ignore: onWindows,
  async fn() {
    const module = import.meta.resolve("../../lib/io/environment_variable.ts");
    const script = `import { environmentVariable } from "${module}";
      console.log(environmentVariable("A_VARIABLE"));`;
    const command = `A_VARIABLE=$(printf '\\377') exec "$@"`;
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", command, "sh", Deno.execPath(), "eval", script],
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "\ufffd\n");
  },
});
