import {
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertThrows,
} from "@std/assert";
import { loadSettings, SettingsError } from "../../../lib/settings.ts";
import { readDotenv } from "../../../lib/settings/dotenv_file.ts";
import {
  type Dotenv,
  loadSettingsIn,
  type SettingsSources,
  within,
} from "../../support/environment.ts";
import fc from "../../support/generated.ts";

const KEY = "test-key-0123456789";
const MIB = 1024 * 1024;
const onWindows = Deno.build.os === "windows";

const ELSEWHERE =
  "(?:save it as UTF-8, or )?set its variables in the environment instead";

/** The error of the settings that the given sources have. */
function errorIn(sources: SettingsSources): SettingsError {
  return assertThrows(() => loadSettingsIn(sources), SettingsError);
}

const LINK = (target: string) => (path: string) =>
  Deno.symlinkSync(target, path);

/** What `.env` is, and why it is not read. */
const UNREADABLE: Readonly<Record<string, readonly [Dotenv, RegExp]>> = {
  "a folder": [(path) => Deno.mkdirSync(path), /not a regular file/],
  "larger than 1 MiB": [
    `APP_API_KEY=${KEY}\n${"#".repeat(MIB)}`,
    /larger than 1 MiB/,
  ],
  "not UTF-8": [
    new TextEncoder().encode(`APP_API_KEY=${KEY}\n# `).with(-1, 0xff),
    /not UTF-8/,
  ],
  ...!onWindows && {
    "a link to a device": [
      LINK("/dev/zero"),
      /(?:not a regular file|permission denied)/,
    ],
    "a link to itself": [LINK(".env"), /[^\n]+/],
  },
};

for (const [what, [dotenv, reason]] of Object.entries(UNREADABLE)) {
  Deno.test(`.env: if it is ${what}, one line warns, and the environment alone counts`, () => {
    const env = { APP_API_KEY: KEY };
    const settings = loadSettingsIn({ env, dotenv });
    assertEquals(settings.apiKey, KEY);
    const error = errorIn({ dotenv });
    assertMatch(error.message, /^APP_API_KEY is not set: /);
    const warnings = [...settings.warnings, ...error.warnings];
    assertEquals(warnings.length, 2);
    for (const line of warnings) {
      assertMatch(
        line,
        RegExp(
          `^Cannot read \\.env, so it is ignored: ${reason.source}; ${ELSEWHERE}$`,
        ),
      );
    }
  });
}

Deno.test(".env: a file of 1 MiB is read", () => {
  const line = `APP_API_KEY=${KEY}\n`;
  const dotenv = line + "#".repeat(MIB - line.length);
  assertEquals(loadSettingsIn({ dotenv }).apiKey, KEY);
});

Deno.test({
  name: ".env: a link to a regular file is read",
  ignore: onWindows,
  fn() {
    const target = Deno.makeTempFileSync();
    Deno.writeTextFileSync(target, `APP_API_KEY=${KEY}\n`);
    const dotenv = (path: string) => Deno.symlinkSync(target, path);
    assertEquals(loadSettingsIn({ dotenv }).apiKey, KEY);
    Deno.removeSync(target);
  },
});

Deno.test({
  name: ".env: if it may not be read, one line warns",
  permissions: { env: true },
  fn() {
    assertEquals(readDotenv({ isNeeded: false }), {
      text: "",
      warning:
        "Cannot read .env, so it is ignored: run Deno with --allow-read=.env",
    });
  },
});

for (
  const [what, mode, warned] of [
    ["all users", 0o666, /^All users of this machine can change \.env, /],
    ["its group", 0o664, /^$/],
    ["its owner", 0o600, /^$/],
  ] as const
) {
  Deno.test({
    name: `.env: that ${what} can change it is a warning: ${
      warned.source !== "^$"
    }`,
    ignore: onWindows,
    fn() {
      const dotenv = (path: string) => {
        Deno.writeTextFileSync(path, `APP_API_KEY=${KEY}\n`);
        Deno.chmodSync(path, mode);
      };
      const { warnings } = loadSettingsIn({ dotenv });
      assertMatch(warnings.join("\n"), warned);
      const env = { APP_API_KEY: KEY }; // Then nothing of the file is used.
      assertEquals(loadSettingsIn({ env, dotenv }).warnings, []);
    },
  });
}

Deno.test(".env: nothing is exported into the process", () => {
  const dotenv =
    `APP_API_KEY=${KEY}\nAPP_BASE_URL=https://host.example\nEXPORTED=yes`;
  within({ dotenv }, () => {
    const before = Deno.env.toObject();
    assertEquals(loadSettings().apiKey, KEY);
    assertEquals(Deno.env.toObject(), before);
  });
});

Deno.test({
  name: ".env: a link to nothing is like no file",
  ignore: onWindows,
  fn() {
    const dotenv = (path: string) => Deno.symlinkSync("nothing", path);
    const env = { APP_API_KEY: KEY };
    const { apiKey, warnings } = loadSettingsIn({ env, dotenv });
    assertEquals([apiKey, warnings], [KEY, []]);
  },
});

for (
  const [what, dotenv, key] of [
    ["a bare value", `APP_API_KEY=${KEY}`, KEY],
    ["a value in single quotes, as it is", "APP_API_KEY='a#$b\\n'", "a#$b\\n"],
    ["a value in double quotes, without expanding $", 'APP_API_KEY="$A"', "$A"],
    [
      "a value in backticks, as it is",
      "APP_API_KEY=`'a#$b\\n\"`",
      "'a#$b\\n\"",
    ],
    ["an exported variable", `export APP_API_KEY=${KEY}`, KEY],
    ["blanks around name and value", ` \tAPP_API_KEY =  ${KEY} `, KEY],
    ["blanks inside quotes, trimmed", `APP_API_KEY=' ${KEY} '`, KEY],
    ["a bare value up to #", `APP_API_KEY=${KEY}#$A`, KEY],
    ["a quoted value before a comment", `APP_API_KEY='${KEY}' # $A`, KEY],
    ["a line after comments", `# APP_API_KEY='a\n\nAPP_API_KEY=${KEY}\n`, KEY],
    ["the last of several", `APP_API_KEY=a\nAPP_API_KEY=${KEY}\n`, KEY],
    ["a file with CRLF", `A=1\r\nAPP_API_KEY=${KEY}\r\nB=2\r\n`, KEY],
    ["quoted lines with CRLF", `APP_API_KEY='\r\n${KEY}\r\n'\r\n`, KEY],
    ["quoted lines with CR", `APP_API_KEY='\r${KEY}\r'\rA=$A`, KEY],
    ["quoted between U+2028", `APP_API_KEY='\u2028$A\u2028'`, "$A"],
    ["a file with CR", `A='1'\rAPP_API_KEY=${KEY}\rB=$B:/x\r`, KEY],
    ["a file with a byte order mark", `\ufeffAPP_API_KEY=${KEY}`, KEY],
    ["a name alone, not its end", `MY_APP_API_KEY=a\nAPP_API_KEY=${KEY}`, KEY],
    ["a name alone, not its start", `APP_API_KEY=${KEY}\nAPP_API_KEY_2=a`, KEY],
    ["an equals sign in the value", "APP_API_KEY=a=b==", "a=b=="],
  ] as const
) {
  Deno.test(`.env: the key is ${what}`, () => {
    const { apiKey, warnings } = loadSettingsIn({ dotenv });
    assertEquals([apiKey, warnings], [key, []]);
  });
}

for (
  const [what, others] of [
    ["PATH=$PATH:/x", "PATH=$PATH:/x"],
    ["A=$HOME", "A=$HOME"],
    ["A=${A}", "A=${A}"],
    ["A=${B:-$A}", "A=${B:-$A}"],
    ["a ring of references", "A=$B\nB=$C\nC=$A"],
    ["single quotes around an assignment", "A='\nAPP_API_KEY=no\n'"],
    ["double quotes around an assignment", 'A="b\nAPP_API_KEY=no\nc" # d'],
    ["backticks around an assignment", "A=`b\nAPP_API_KEY=no\n` # d"],
    ["quotes around it and CRLF", "A='\r\nAPP_API_KEY=no\r\n'\r"],
    ["quotes around it and CR", "A='\rAPP_API_KEY=no\r'\r"],
    ["quotes around it and an odd name", "a.b-c='\nAPP_API_KEY=no\n'"],
    ["a quote that is not closed", "A='b"],
    ["a quote inside a value", "A=it's\nB=5\" wide"],
    ["lines that assign nothing", "APP_API_KEY\n=\n-\nAPP_API_KEY: no"],
    ["a prototype", "__proto__=a\nconstructor=b"],
  ] as const
) {
  Deno.test(`.env: ${what} disturbs nothing`, () => {
    for (
      const dotenv of [
        `APP_API_KEY=${KEY}\n${others}\n`,
        `${others}\nAPP_API_KEY=${KEY}\n`,
      ]
    ) {
      const { apiKey, warnings } = loadSettingsIn({ dotenv });
      assertEquals([apiKey, warnings], [KEY, []]);
    }
  });
}

const UNQUOTED = "it contains an unquoted $; put the value into single quotes";
const OPEN = "its quote is not closed";
const LINE_BREAK = "it contains a line break";
const TOO_LONG = "it is longer than 16384 characters";

/** Values that are refused, with the reason. */
const REFUSED: readonly (readonly [string, string])[] = [
  ["a$b", UNQUOTED],
  ["${HOME}", UNQUOTED],
  ["$APP_API_KEY:a", UNQUOTED],
  ["'$APP_API_KEY", UNQUOTED],
  ["'a\nb'", LINE_BREAK],
  ["'a\rA=$A'", LINE_BREAK],
  ["'$APP_API_KEY\u2028a'", LINE_BREAK],
  ["'a", OPEN],
  ['"a', OPEN],
  ["`a", OPEN],
  ["`a\nb`", LINE_BREAK],
  ["a".repeat(20_000), TOO_LONG],
];

for (const [value, reason] of REFUSED) {
  Deno.test(`.env: ${JSON.stringify(value.slice(0, 30))} is an error that does not show the value: ${reason}`, () => {
    const dotenv = `APP_API_KEY=${value}`;
    const error = assertThrows(() => loadSettingsIn({ dotenv }), SettingsError);
    const message = `APP_API_KEY in .env cannot be used: ${reason}`;
    assertEquals(error.message, message);
  });
}

/** Files in which a quote that was left open contains our line, and where it begins. */
const SWALLOWED: readonly (readonly [dotenv: string, line: number])[] = [
  [`A='b\nAPP_API_KEY=${KEY}\nB='c'`, 1],
  [`# one\r\n\r\nA="b\r\n export APP_API_KEY = ${KEY}\r\nB="c"`, 3],
  [`A=1\nB=\`\nAPP_API_KEY='${KEY}'\nC=\`\``, 2],
];

for (const [dotenv, line] of SWALLOWED) {
  Deno.test(`.env: ${JSON.stringify(dotenv)} is an error that names line ${line}`, () => {
    assertEquals(
      errorIn({ dotenv }).message,
      `APP_API_KEY in .env cannot be used: it is part of the quoted value that begins in line ${line}; close the quote there`,
    );
  });
}

for (
  const dotenv of [
    ...["", "# APP_API_KEY=a\nAPP_API_KEY\nAPP_API_KEY: a"],
    ...[
      "APP_API_KEY= # none",
      "APP_API_KEY=' '",
      "APP_API_KEY=a\nAPP_API_KEY=",
    ],
  ]
) {
  Deno.test(`.env: ${JSON.stringify(dotenv)} sets no key`, () => {
    assertThrows(
      () => loadSettingsIn({ dotenv }),
      SettingsError,
      "APP_API_KEY is not set: ",
    );
  });
}

for (
  const [variable, dotenv] of [
    [KEY, "APP_API_KEY=$unusable"],
    [" ", `APP_API_KEY=${KEY}`],
  ] as const
) {
  Deno.test(`APP_API_KEY of the environment, "${variable}", wins over .env unless it is blank (interface 5.2)`, () => {
    const env = { APP_API_KEY: variable };
    assertEquals(loadSettingsIn({ env, dotenv }).apiKey, KEY);
  });
}

for (
  const dotenv of [
    "APP_BASE_URL=https://other.example",
    "APP_BASE_URL=https://other.example\nAPP_API_KEY=other-key-9876",
    "APP_BASE_URL=$unusable",
    "APP_BASE_URL='open",
    "APP_BASE_URL=not a URL",
  ]
) {
  Deno.test(`.env: ${JSON.stringify(dotenv)} never chooses where the key of the environment goes`, () => {
    const env = { APP_API_KEY: KEY };
    const { apiKey, sources, warnings } = loadSettingsIn({ env, dotenv });
    assertEquals([apiKey, sources.baseUrl], [KEY, "built-in"]);
    assertEquals(warnings, [
      "Ignoring APP_BASE_URL in .env, because APP_API_KEY does not come from there; set APP_BASE_URL in the environment, or use --base-url",
    ]);
  });
}

Deno.test(".env: a blank base URL is ignored without a word", () => {
  const { warnings } = loadSettingsIn({
    env: { APP_API_KEY: KEY },
    dotenv: "APP_BASE_URL=' '\nAPP_BASE_URL= # none",
  });
  assertEquals(warnings, []);
});

Deno.test(".env: whatever it contains, the settings are usable or a SettingsError says why not", () => {
  const text = fc.array(
    fc.constantFrom(
      ...["APP_API_KEY=", "APP_BASE_URL=", "https://", "A=", "export ", "="],
      ...[
        "$APP_API_KEY",
        "${A:-$A}",
        "$",
        "'",
        '"',
        "`",
        "#",
        "\\",
        "a",
        "\u00e9",
      ],
      ...["\n", "\r\n", "\r", "\u2028", " ", "\t", "\0"],
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
