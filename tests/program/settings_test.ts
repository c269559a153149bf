import {
  assertEquals,
  assertFalse,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { Folder } from "../support/environment.ts";
import { runClient, settings } from "../support/client_process.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";

// What is wrong with the settings, as a script, the check and an editor show it.

const onWindows = Deno.build.os === "windows";

interface Start {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The lines of `-p` on standard error, without the program's name. */
async function scriptShows(start: Start): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runClient({
    ...start,
    args: ["-p", "6 * 7"],
  });
  assertEquals([code, stdout], [1, ""]);
  return stderr.trimEnd().replaceAll(/^agent-gateway: /gm, "").split("\n");
}

/** The lines of the check, by state, name and text. */
async function checkShows(start: Start): Promise<readonly string[]> {
  const { code, stdout } = await runClient({
    ...start,
    args: ["--check", "--json"],
  });
  assertEquals(code, 1);
  return stdout.trimEnd().split("\n").map((line) => {
    const { state, name, text } = JSON.parse(line);
    return `${state} ${name}: ${text}`;
  });
}

/** What an editor shows: the error of `session/new`. */
async function editorShows(start: Start): Promise<string> {
  const { stdout } = await runClient({
    ...start,
    args: ["--bridge"],
    stdin: '{"id":1,"method":"session/new"}\n',
  });
  const { error } = JSON.parse(stdout);
  assertEquals(error.data, { details: error.message });
  return error.message;
}

const LINE = `APP_API_KEY=${TEST_KEY}\n`;

/** `.env` that cannot be read, and why, as the warning says it. */
const UNREADABLE: Readonly<
  Record<string, readonly [ConstructorParameters<typeof Folder>[0], RegExp]>
> = {
  "UTF-16, as PowerShell 5 writes it": [
    new Uint8Array(
      new Uint16Array(
        Array.from(`\ufeff${LINE}`, (c) => c.charCodeAt(0)),
      ).buffer,
    ),
    /not UTF-8; save it as UTF-8, or set its variables in the environment/,
  ],
  "Latin-1 in a comment": [
    new TextEncoder().encode(`${LINE}# ?`).with(-1, 0xe9),
    /not UTF-8; save it as UTF-8, or set its variables in the environment/,
  ],
  "a folder": [(path) => Deno.mkdirSync(path), /not a regular file; set its/],
  "too large": [LINE + "#".repeat(1024 * 1024), /larger than 1 MiB; set its/],
  ...!onWindows && {
    "a pipe": [
      (path) => void new Deno.Command("mkfifo", { args: [path] }).outputSync(),
      /not a regular file; set its/,
    ],
    "a link to itself": [(path) => Deno.symlinkSync(".env", path), /; set its/],
  },
};

for (const [what, [dotenv, reason]] of Object.entries(UNREADABLE)) {
  Deno.test(`.env that is ${what}: a script, the check and an editor say why it is not read`, async () => {
    using folder = new Folder(dotenv);
    const start = { env: {}, cwd: folder.path };

    const [warning = "", error = ""] = await scriptShows(start);
    assertMatch(warning, /^warning: Cannot read \.env, so it is ignored: /);
    assertMatch(warning, reason);
    assertMatch(error, /^error: APP_API_KEY is not set: /);
    const [cause, message] = [warning, error].map((line) =>
      line.replace(/^\w+: /, "")
    );

    const [, note, failed] = await checkShows(start);
    assertEquals(note, `note settings: ${cause}`);
    assertEquals(failed, `failed settings: ${message}`);
    assertEquals(await editorShows(start), `${cause}. ${message}`);
  });
}

/** A new folder of this machine, by a name as of another one. */
function networkFolder(): { readonly path: string } & Disposable {
  const local = Deno.makeTempDirSync();
  Deno.writeTextFileSync(`${local}\\.env`, LINE);
  return {
    path: local.replace(/^(\w):/, "\\\\localhost\\$1$$"),
    [Symbol.dispose]: () => Deno.removeSync(local, { recursive: true }),
  };
}

// Wine starts no program in such a folder.
if (onWindows && !Deno.env.has("ON_WINE")) {
  Deno.test(".env in a network folder is read, or a note says why not if it is needed", async () => {
    using folder = networkFolder();
    const { path: cwd } = folder;
    const [, first = "", second = ""] = await checkShows({ env: {}, cwd });
    if (!/^ok settings: key of \d+ characters from \.env/.test(first)) {
      assertMatch(first, /^note settings: Cannot read \.env, .*network folder/);
      assertMatch(second, /^failed settings: APP_API_KEY is not set/);
    }
    const env = { APP_API_KEY: TEST_KEY };
    const lines = await checkShows({ env, cwd });
    assertFalse(
      lines.some((line) => line.startsWith("note")),
      lines.join("\n"),
    );
  });
}

/** What is ignored, where something else of the settings fails. */
Deno.test("the base URL of .env that is ignored is told by the check, and by the editor, in front of what failed", async () => {
  using folder = new Folder("APP_BASE_URL=https://host.example");
  const start = {
    env: { APP_API_KEY: TEST_KEY, HTTPS_PROXY: "ftp://a" },
    cwd: folder.path,
  };
  const ignored = "Ignoring APP_BASE_URL in .env, because ";
  const [, note, failed] = await checkShows(start);
  assertStringIncludes(note ?? "", `note settings: ${ignored}`);
  assertStringIncludes(failed ?? "", "failed settings: HTTPS_PROXY: ");
  const shown = await editorShows(start);
  assertMatch(shown, RegExp(`^${ignored}.*\\. HTTPS_PROXY: `));
});

const VARIABLES = [
  ...["APP_API_KEY", "APP_BASE_URL", "HTTPS_PROXY", "ALL_PROXY"],
  ...onWindows ? [] : ["https_proxy"],
];

for (const variable of VARIABLES) {
  Deno.test(`${variable} in quotes: a script, the check and an editor say that it is in quotes`, async () => {
    for (const quote of [`'`, `"`]) {
      const secret = "https://host.example:8443";
      const env = {
        APP_API_KEY: TEST_KEY,
        APP_BASE_URL: "https://service.example",
        [variable]: quote + secret + quote,
      };
      const [error = ""] = await scriptShows({ env });
      assertMatch(error, RegExp(`^error: ${variable}\\b.*\\bquotes\\b`));
      const message = error.replace("error: ", "");
      const [, failed] = await checkShows({ env });
      assertEquals(failed, `failed settings: ${message}`);
      assertEquals(await editorShows({ env }), message);
      assertFalse(error.includes(secret));
    }
  });
}

Deno.test("an empty DENO_CERT is like none", async () => {
  await using service = ReferenceService.start();
  const env = { ...settings(service), DENO_CERT: "" };
  const { code, stdout, stderr } = await runClient({
    args: ["-p", "6 * 7"],
    env,
  });
  assertEquals([code, stdout, stderr.match(/error/)], [
    0,
    "6 * 7 = 42\n",
    null,
  ]);
});
