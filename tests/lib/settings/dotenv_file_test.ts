import {
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertThrows,
} from "@std/assert";
import { loadSettings, SettingsError } from "../../../lib/settings.ts";
import { loadSettingsIn, within } from "../../support/settings_environment.ts";

const KEY = "test-key-0123456789";
const MIB = 1024 * 1024;
const onWindows = Deno.build.os === "windows";

for (
  const [what, dotenv, warning] of [
    [
      "a folder",
      (path: string) => Deno.mkdirSync(path),
      /^Cannot read \.env: not a regular file; it is ignored, set what it holds in the environment instead$/,
    ],
    [
      "larger than 1 MiB",
      `APP_API_KEY=${KEY}\n${"#".repeat(MIB)}`,
      /^Cannot read \.env: larger than 1 MiB; it is ignored, set what it holds in the environment instead$/,
    ],
    [
      "not UTF-8",
      new TextEncoder().encode(`APP_API_KEY=${KEY}\n# `).with(-1, 0xff),
      /^Cannot read \.env: not UTF-8; it is ignored, set what it holds in the environment instead$/,
    ],
    ...onWindows ? [] : [
      [
        "a link to a device",
        (path: string) => Deno.symlinkSync("/dev/zero", path),
        /^Cannot read \.env: (?:not a regular file|permission denied); it is ignored, set what it holds in the environment instead$/,
      ],
      [
        "a link to itself",
        (path: string) => Deno.symlinkSync(".env", path),
        /^Cannot read \.env: [^\n]+; it is ignored, set what it holds in the environment instead$/,
      ],
    ] as const,
  ] as const
) {
  Deno.test(`.env: if it is ${what}, one line warns, and the environment alone counts`, () => {
    const warnings: string[] = [];
    const env = { APP_API_KEY: KEY };
    assertEquals(loadSettingsIn({ env, dotenv }, warnings).apiKey, KEY);
    assertEquals(warnings.length, 1);
    assertMatch(warnings[0] ?? "", warning);
  });

  Deno.test(`.env: if it is ${what} and there is no key, the warning comes before the error`, () => {
    const warnings: string[] = [];
    assertThrows(
      () => loadSettingsIn({ dotenv }, warnings),
      SettingsError,
      "APP_API_KEY is not set: ",
    );
    assertEquals(warnings.length, 1);
    assertMatch(warnings[0] ?? "", warning);
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
    const warnings: string[] = [];
    try {
      loadSettings({ warn: (line) => warnings.push(line) });
    } catch (error) {
      assertInstanceOf(error, SettingsError); // unless there is a key here
    }
    assertEquals(warnings, [
      "Cannot read .env: permission denied; it is ignored, set what it holds in the environment instead",
    ]);
  },
});

Deno.test(".env: nothing is exported into the process", () => {
  const dotenv =
    `APP_API_KEY=${KEY}\nAPP_BASE_URL=https://host.example\nEXPORTED=yes`;
  within({ dotenv }, () => {
    const before = Deno.env.toObject();
    assertEquals(loadSettings({ warn() {} }).apiKey, KEY);
    assertEquals(Deno.env.toObject(), before);
  });
});

Deno.test({
  name: ".env: a link to nothing is like no file",
  ignore: onWindows,
  fn() {
    const dotenv = (path: string) => Deno.symlinkSync("nothing", path);
    const warnings: string[] = [];
    const env = { APP_API_KEY: KEY };
    assertEquals(loadSettingsIn({ env, dotenv }, warnings).apiKey, KEY);
    assertEquals(warnings, []);
  },
});
