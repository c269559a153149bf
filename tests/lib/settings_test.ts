import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { environmentVariable } from "../../lib/io/environment_variable.ts";
import {
  DEFAULT_BASE_URL,
  loadSettings,
  SettingsError,
  type SettingSources,
} from "../../lib/settings.ts";
import { maskKey } from "../../lib/text/mask_key.ts";
import { loadSettingsIn, within } from "../support/environment.ts";

const KEY = "test-key-0123456789";

for (
  const [key, masked] of [
    ["", "undefined"],
    ["a", "****"],
    ["12345678", "****"],
    ["123456789", "1234...6789"],
    [KEY, "test...6789"],
  ] as const
) {
  Deno.test(`maskKey() shows ${JSON.stringify(key)} as ${masked} (interface 5.5)`, () => {
    assertEquals(maskKey(key), masked);
  });
}

const PRINTABLE = String.fromCharCode(
  ...Array.from({ length: 0x7e - 0x20 }, (_, index) => 0x21 + index),
);
const LONGEST = "k".repeat(8192);

/** What is taken as the key, by what is given. */
const KEYS: Readonly<Record<string, readonly [given: string, key: string]>> = {
  "trimmed": [` \t${KEY}\r\n`, KEY],
  "with any printable ASCII but the space": [PRINTABLE, PRINTABLE],
  "of 8,192 characters": [LONGEST, LONGEST],
};

for (const [what, [given, key]] of Object.entries(KEYS)) {
  Deno.test(`loadSettings() takes the key from APP_API_KEY, ${what} (interface 2, 5.2)`, () => {
    const { apiKey, sources } = loadSettingsIn({ env: { APP_API_KEY: given } });
    assertEquals([apiKey, sources.apiKey], [key, "environment"]);
  });
}

for (const key of [undefined, "", " ", "\t\r\n", "\u00a0"]) {
  Deno.test(`loadSettings() takes the key ${JSON.stringify(key)} for none (interface 7)`, () => {
    assertThrows(
      () => loadSettingsIn({ env: { APP_API_KEY: key } }),
      SettingsError,
      Deno.build.os === "windows"
        ? "APP_API_KEY is not set: set it with $env:APP_API_KEY = '...', or put "
        : "APP_API_KEY is not set: export it, or put ",
    );
  });
}

const MALFORMED = {
  "a key is printable ASCII without spaces": [
    ...["two words", "two\twords", "two\nlines", "no\u00a0break"],
    ...["zero\u200bwidth", "emoji\u{1f511}", "escape\x1b[2J", "delete\x7f"],
    ...["control\x01", "schl\u00fcssel", "\ufffd\ufffd"],
  ],
  "a key has at most 8192 characters": [`${LONGEST}k`],
};

for (const [reason, keys] of Object.entries(MALFORMED)) {
  for (const key of keys) {
    Deno.test(`loadSettings() refuses the key ${JSON.stringify(key.slice(0, 20))} without showing it`, () => {
      const good = `APP_API_KEY=${KEY}`; // It is not used in place of the bad one.
      const { message } = assertThrows(
        () => loadSettingsIn({ env: { APP_API_KEY: key }, dotenv: good }),
        SettingsError,
      );
      assertEquals(
        message,
        `APP_API_KEY is malformed: ${reason}; copy it again`,
      );
    });
  }
}

const [FLAG, VARIABLE, FILE] = [
  "https://flag.example",
  "https://a",
  "https://b",
];

/** The flag, the variable, the value in `.env`, and what counts of them. */
const PRECEDENCE: readonly (readonly [
  ...values: readonly [string | undefined, string | undefined, string],
  baseUrl: string,
  source: SettingSources["baseUrl"],
])[] = [
  [FLAG, VARIABLE, FILE, FLAG, "--base-url"],
  [undefined, VARIABLE, FILE, VARIABLE, "environment"],
  [undefined, " ", FILE, FILE, ".env"],
  [undefined, "", "' '", DEFAULT_BASE_URL, "built-in"],
];

for (const [flag, variable, file, baseUrl, source] of PRECEDENCE) {
  Deno.test(`loadSettings() takes ${source} for the base URL, of ${flag}, "${variable}" and ${file}`, () => {
    const env = { APP_BASE_URL: variable };
    const dotenv = `APP_API_KEY=${KEY}\nAPP_BASE_URL=${file}`;
    const given = { env, dotenv, ...flag && { baseUrl: flag } };
    const { sources, warnings, ...settings } = loadSettingsIn(given);
    assertEquals([settings.baseUrl, sources.baseUrl], [baseUrl, source]);
    assertEquals(warnings, []);
  });
}

/** The texts that become a base URL, by that URL. */
const BASE_URLS: Readonly<Record<string, readonly string[]>> = {
  "https://host.example": [
    ...["https://host.example", "  https://host.example\n"],
    ...["HTTPS://HOST.EXAMPLE", "https://host.example:443"],
    ...["https://host.example/", "https://host.example///"],
  ],
  "https://host.example:8443": ["https://host.example:8443"],
  "https://host.example:2": ["https://host.example:2"],
  "https://host.example/api/v1": [
    ...["https://host.example/api/v1", "https://host.example/api/v1//"],
  ],
  "https://host.example/a%20b": ["https://host.example/a%20b"],
  "https://host.example/@team": ["https://host.example/@team"],
  "https://xn--bcher-kva.example": ["https://b\u00fccher.example"],
  "https://10.0.0.1": ["https://10.0.0.1"],
  "http://localhost": ["http://localhost"],
  "http://localhost:8080/api": ["http://LocalHost:8080/api/"],
  "http://127.0.0.1:8080": ["http://127.0.0.1:8080"],
  "http://127.255.255.254": ["http://127.255.255.254"],
  "http://127.0.0.1": ["http://127.1"],
  "http://[::1]:8080": ["http://[::1]:8080"],
  "http://[::1]": ["http://[0:0:0:0:0:0:0:1]"],
};

for (const [baseUrl, urls] of Object.entries(BASE_URLS)) {
  Deno.test(`loadSettings() makes ${urls.join(", ").trim()} the base URL ${baseUrl}`, () => {
    for (const given of urls) {
      const env = { APP_API_KEY: KEY, APP_BASE_URL: given };
      assertEquals(loadSettingsIn({ env }).baseUrl, baseUrl);
    }
  });
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
  "must begin with https://": [
    "ftp://host.example",
    "file:///etc/passwd",
    `${KEY}://host.example`,
  ],
  "must not contain a user name": [
    ...["https://user@host.example", "https://user:secret@host.example"],
    ...["https://:secret@host.example", "https://@host.example"],
    ...["http://127.0.0.1@host.example"],
  ],
  "must not contain a query or a fragment": [
    ...["https://host.example?tenant=a", "https://host.example/?"],
    ...["https://host.example/#", "https://host.example/#part"],
    ...["http://localhost#@host.example"],
  ],
  "must have a host name of at most 253 characters, and 63 between dots": [
    `https://${"a".repeat(64)}.example`,
    `https://${"a.".repeat(123)}example.`,
  ],
  "cannot be used: http: would send the key in clear text": [
    ...["http://host.example", "http://10.0.0.1", "http://0.0.0.0"],
    ...["http://128.0.0.1", "http://127.0.0.1.host.example"],
    ...["http://localhost.host.example", "http://notlocalhost", "http://[::2]"],
    ...["http://[::]"],
  ],
};

for (const [reason, urls] of Object.entries(REFUSED)) {
  Deno.test(`loadSettings() refuses a base URL: ${reason}`, () => {
    for (const given of urls) {
      for (
        const [source, surroundings] of [
          ["APP_BASE_URL", { env: { APP_API_KEY: KEY, APP_BASE_URL: given } }],
          ["--base-url", { env: { APP_API_KEY: KEY }, baseUrl: given }],
          ["APP_BASE_URL in .env", {
            dotenv: `APP_API_KEY=${KEY}\nAPP_BASE_URL='${given}'`,
          }],
        ] as const
      ) {
        const { message } = assertThrows(
          () => loadSettingsIn(surroundings),
          SettingsError,
          `${source} `,
          given,
        );
        assertStringIncludes(message, reason, given);
      }
    }
  });
}

/** A value in quotes, by what takes it as it is: not `.env`, whose quotes are its own. */
const IN_QUOTES: Readonly<
  Record<string, (value: string) => Parameters<typeof loadSettingsIn>[0]>
> = {
  APP_API_KEY: (value) => ({ env: { APP_API_KEY: value } }),
  APP_BASE_URL: (value) => ({
    env: { APP_API_KEY: KEY, APP_BASE_URL: value },
  }),
  "--base-url": (value) => ({ env: { APP_API_KEY: KEY }, baseUrl: value }),
  "APP_BASE_URL in .env": (value) => {
    const quote = value.startsWith("'") ? '"' : "'";
    return {
      dotenv: `APP_API_KEY=${KEY}\nAPP_BASE_URL=${quote}${value}${quote}`,
    };
  },
};

for (const [source, sources] of Object.entries(IN_QUOTES)) {
  Deno.test(`loadSettings() says that ${source} is in quotes, and does not show it`, () => {
    for (const quote of [`'`, `"`, "`"]) {
      for (const inner of ["https://host.example", KEY, "a", ""]) {
        const value = quote + inner + quote;
        const { message } = assertThrows(
          () => loadSettingsIn(sources(value)),
          SettingsError,
        );
        assertEquals(
          message,
          `${source} is in ${
            quote === "`" ? "backticks" : "quotes"
          }: remove them (docker --env-file does not)`,
        );
      }
    }
  });
}

Deno.test("loadSettings() takes a key that has quotes elsewhere", () => {
  for (const key of [`'a`, `a"`, `"a'`, `a'b'c`]) {
    const env = { APP_API_KEY: key };
    assertEquals(loadSettingsIn({ env }).apiKey, key);
  }
});

Deno.test("loadSettings() removes an empty DENO_CERT, and no other", () => {
  const path = "/certificates.pem";
  for (const [value, left] of [["", undefined], [path, path]] as const) {
    const env = { APP_API_KEY: KEY, DENO_CERT: value };
    const seen = within({ env }, () => {
      loadSettings();
      return Deno.env.get("DENO_CERT");
    });
    assertEquals(seen, left);
  }
});

Deno.test("loadSettings() does not show the base URL that it refuses", () => {
  const env = {
    APP_API_KEY: KEY,
    APP_BASE_URL: `https://me:${KEY}@host.example`,
  };
  const { message } = assertThrows(
    () => loadSettingsIn({ env }),
    SettingsError,
  );
  assertEquals(
    message,
    "APP_BASE_URL must not contain a user name; the key goes into APP_API_KEY",
  );
});

Deno.test("loadSettings() refuses a blank --base-url, whatever else is set", () => {
  assertThrows(
    () =>
      loadSettingsIn({
        baseUrl: " ",
        env: { APP_API_KEY: KEY, APP_BASE_URL: "https://host.example" },
      }),
    SettingsError,
    "--base-url must be an absolute URL",
  );
});

const HERE = [
  ...["http://localhost:8080", "https://localhost", "http://127.0.0.1"],
  ...["http://127.9.8.7/api", "http://[::1]:8080"],
];
const ELSEWHERE = [
  ...["https://localhost.host.example", "https://127.0.0.1.host.example"],
  ...["https://128.0.0.1", "https://host.example/localhost"],
];

Deno.test("loadSettings() tells this machine from others", () => {
  const env = { APP_API_KEY: KEY };
  const isLocal = (baseUrl: string) => loadSettingsIn({ baseUrl, env }).isLocal;
  assertEquals([...HERE, ...ELSEWHERE].filter(isLocal), HERE);
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
  ignore: Deno.build.os === "windows",
  async fn() {
    const module = import.meta.resolve(
      "../../lib/io/environment_variable.ts",
    );
    const script = `import { environmentVariable } from "${module}";
      console.log(environmentVariable("A_VARIABLE"));`;
    const { stdout } = await new Deno.Command("sh", {
      args: [
        "-c",
        `A_VARIABLE=$(printf '\\377') exec "$@"`,
        "sh",
        Deno.execPath(),
        "eval",
        script,
      ],
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "\ufffd\n");
  },
});
