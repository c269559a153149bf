import { assertEquals, assertFalse, assertMatch } from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import { type Dotenv, Folder } from "../support/environment.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";

// What is wrong with the settings, as a script, the check and an editor show it.

const onWindows = Deno.build.os === "windows";

type Variables = Readonly<Record<string, string>>;

interface Start {
  readonly env?: Variables;
  readonly cwd?: string;
}

/** The lines of `-p` on standard error, without the program's name. */
async function scriptShows(start: Start): Promise<readonly string[]> {
  const args = ["-p", "6 * 7"];
  const { code, stdout, stderr } = await runClient({ ...start, args });
  assertEquals([code, stdout], [1, ""]);
  return stderr.trimEnd().replaceAll(/^agent-gateway: /gm, "").split("\n");
}

/** The lines of the check, without that of the version, by state, name and text. */
async function checkShows(start: Start): Promise<readonly string[]> {
  const args = ["--check", "--json"];
  const { code, stdout } = await runClient({ ...start, args });
  assertEquals(code, 1);
  return stdout.trimEnd().split("\n").slice(1).map((line) => {
    const { state, name, text } = JSON.parse(line);
    return `${state} ${name}: ${text}`;
  });
}

/** Requests up to the first connection to the service. */
const NEW_SESSION = [
  { jsonrpc: "2.0", id: 1, method: "initialize" },
  { jsonrpc: "2.0", id: 2, method: "session/new" },
].map((request) => JSON.stringify(request) + "\n").join("");

/** What an editor shows: the error of `session/new`. */
function errorIn(stdout: string): string {
  const [, answer = "{}"] = stdout.split("\n");
  const { id, error: { code, message, data } } = JSON.parse(answer);
  assertEquals([id, code, data], [2, -32010, { details: message }]);
  return message;
}

async function editorShows(start: Start): Promise<string> {
  const args = ["--bridge"];
  const { code, stdout } = await runClient({
    ...{ ...start, args, stdin: NEW_SESSION },
  });
  assertEquals(code, 1);
  return errorIn(stdout);
}

const LINE = `APP_API_KEY=${TEST_KEY}\n`;
const UTF16 = new Uint16Array(
  Array.from(`\ufeff${LINE}`, (c) => c.charCodeAt(0)),
);
const NOT_UTF8 =
  /^Cannot read \.env, so it is ignored: not UTF-8; save it as UTF-8, or set its variables in the environment/;
const NOT_A_FILE =
  /^Cannot read \.env, so it is ignored: not a regular file; set its/;
const NOT_SET = /^APP_API_KEY is not set: /;

function pipe(path: string): void {
  new Deno.Command("mkfifo", { args: [path] }).outputSync();
}

/** What is wrong, `.env` and the environment, the warning and the error. */
const WRONG: readonly (readonly [
  what: string,
  dotenv: Dotenv,
  env: Variables,
  warning: RegExp | undefined,
  error: RegExp,
])[] = [
  [
    ".env is UTF-16, as PowerShell 5 writes it",
    new Uint8Array(UTF16.buffer),
    {},
    NOT_UTF8,
    NOT_SET,
  ],
  [
    ".env has Latin-1 in a comment",
    new TextEncoder().encode(`${LINE}# ?`).with(-1, 0xe9),
    {},
    NOT_UTF8,
    NOT_SET,
  ],
  [".env is a folder", (path) => Deno.mkdirSync(path), {}, NOT_A_FILE, NOT_SET],
  [
    ".env is too large",
    LINE + "#".repeat(1024 * 1024),
    {},
    /larger than 1 MiB; set its/,
    NOT_SET,
  ],
  ...onWindows ? [] : [
    [".env is a pipe", pipe, {}, NOT_A_FILE, NOT_SET],
    [
      ".env is a link to itself",
      (path: string) => Deno.symlinkSync(".env", path),
      {},
      /; set its/,
      NOT_SET,
    ],
  ] as const,
  [
    "the base URL of .env is ignored, and the proxy is wrong",
    "APP_BASE_URL=https://host.example",
    { APP_API_KEY: TEST_KEY, HTTPS_PROXY: "ftp://a" },
    /^Ignoring APP_BASE_URL in \.env, because /,
    /^HTTPS_PROXY: /,
  ],
  [
    "the key has a space",
    "",
    { APP_API_KEY: "host.example secret" },
    undefined,
    /^APP_API_KEY is malformed: /,
  ],
  ...[
    "APP_API_KEY",
    "APP_BASE_URL",
    "HTTPS_PROXY",
    "ALL_PROXY",
    ...onWindows ? [] : ["https_proxy"],
  ].flatMap((name) =>
    [`'`, `"`].map((quote) =>
      [
        `${name} is in ${quote}`,
        "",
        {
          APP_API_KEY: TEST_KEY,
          [name]: `${quote}https://host.example:8443${quote}`,
        },
        undefined,
        RegExp(`^${name}\\b.*\\bquotes\\b`),
      ] as const
    )
  ),
];

for (const [what, dotenv, env, warning, error] of WRONG) {
  Deno.test(`${what}: a script, the check and an editor say so in the same words`, async () => {
    using folder = new Folder(dotenv);
    const base = { APP_BASE_URL: "https://service.example" };
    const isOfFile = what.startsWith("the base URL");
    const start = {
      env: { ...isOfFile ? {} : base, ...env },
      cwd: folder.path,
    };

    const lines = await scriptShows(start);
    const [why, message = ""] = warning === undefined ? ["", ...lines] : lines;
    const cause = why?.replace("warning: ", "") ?? "";
    const reason = message.replace("error: ", "");
    assertMatch(cause, warning ?? /^$/);
    assertMatch(reason, error);
    const [first, second] = await checkShows(start);
    const failed = warning === undefined ? first : second;
    if (warning !== undefined) assertEquals(first, `note settings: ${cause}`);
    assertEquals(failed, `failed settings: ${reason}`);
    const shown = [cause, reason].filter((text) => text !== "").join(". ");
    assertEquals(await editorShows(start), shown);
    assertFalse(reason.includes("host.example"), reason);
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
    const [first = "", second = ""] = await checkShows({ cwd });
    if (!/^ok settings: key of \d+ characters from \.env/.test(first)) {
      assertMatch(first, /^note settings: Cannot read \.env, .*network folder/);
      assertMatch(second, /^failed settings: APP_API_KEY is not set/);
    }
    const lines = await checkShows({ env: { APP_API_KEY: TEST_KEY }, cwd });
    assertEquals(lines.filter((line) => line.startsWith("note")), []);
  });
}

/** Settings that work, and the warning. */
const RIGHT: readonly (readonly [string, Dotenv, Variables, string])[] = [
  ["an empty DENO_CERT is like none", "", { DENO_CERT: "" }, ""],
  ...onWindows ? [] : [[
    "a .env that is a pipe is not waited for",
    pipe,
    {},
    "agent-gateway: warning: Cannot read .env, so it is ignored: not a regular file; set its variables in the environment instead\n",
  ]] as const,
];

for (const [what, dotenv, env, warning] of RIGHT) {
  for (const args of [["-q", "-p", "6 * 7"], ["--bridge"]]) {
    Deno.test(`${what}, and the program starts: ${args[0]}`, async () => {
      await using service = ReferenceService.start();
      using folder = new Folder(dotenv);
      const { code, stderr } = await runClient({
        ...{ args, stdin: NEW_SESSION, cwd: folder.path, limit: 20_000 },
        env: { ...settings(service), ...env },
      });
      assertEquals([code, stderr], [0, warning]);
      assertEquals(service.requests[0]?.operation, "create thread");
    });
  }
}

Deno.test("--bridge with wrong usage refuses the session with the message: exit 2", async () => {
  await using client = new Client({ args: ["--bridge", "--nonsense"] });
  // Sent before the start, because the program waits for a request for 1 s only.
  await client.write('no JSON\n\n{"method":"note"}\n{"id":7,"result":{}}\n');
  await client.write(NEW_SESSION);
  const { code, stdout, stderr } = await client.output();

  assertEquals(code, 2);
  assertEquals(stderr, `agent-gateway: error: ${errorIn(stdout)}\n`);
});

Deno.test("--bridge without a key ends by itself when no request comes, and although nobody reads its answers: exit 1", async () => {
  for (const isRead of [true, false]) {
    await using client = new Client({
      args: ["--bridge"],
      env: {},
      limit: 60_000,
    });
    if (!isRead) client.stdout.pause();
    // Their answers are more than a pipe and a reader that has paused take.
    const requests = '{"id":1,"method":"initialize"}\n'.repeat(3000);
    // It ends before it has read them all.
    if (!isRead) client.write(requests).catch(() => {});

    const { code, signal } = await client.status;
    client.stdout.resume();
    assertEquals([code, signal], [1, null]);
  }
});
