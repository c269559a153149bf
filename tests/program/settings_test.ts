import { assertEquals, assertMatch } from "@std/assert";
import {
  AFTER_A_LINE,
  Client,
  runClient,
  settings,
} from "../support/client_process.ts";
import { type Dotenv, Folder } from "../support/environment.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";

// What is wrong with the settings, as a script, the check and an editor show it; which
// words belong to what is in tests/lib/settings_test.ts.

const onWindows = Deno.build.os === "windows";

type Variables = Readonly<Record<string, string>>;

/** Requests up to the first connection to the service. */
const NEW_SESSION = [
  { jsonrpc: "2.0", id: 1, method: "initialize" },
  { jsonrpc: "2.0", id: 2, method: "session/new" },
].map((request) => JSON.stringify(request) + "\n").join("");

/** After a wrong start, the program waits for a request for 1 s only. */
const AT_ONCE = { startedBy: AFTER_A_LINE };

/** What an editor shows: the error of `session/new`. */
function errorIn(stdout: string): string {
  const [, answer = "{}"] = stdout.split("\n");
  const { id, error: { code, message, data } } = JSON.parse(answer);
  assertEquals([id, code, data], [2, -32010, { details: message }]);
  return message;
}

/** The lines of the check, without that of the version, by state, name and text. */
async function checkShows(env: Variables, cwd: string) {
  const args = ["--check", "--json"];
  const { code, stdout } = await runClient({ args, env, cwd });
  assertEquals(code, 1);
  return stdout.trimEnd().split("\n").slice(1).map((line) => {
    const { state, name, text } = JSON.parse(line);
    return `${state} ${name}: ${text}`;
  });
}

function pipe(path: string): void {
  new Deno.Command("mkfifo", { args: [path] }).outputSync();
}

const LINE = `APP_API_KEY=${TEST_KEY}\n`;
const UTF16 = new Uint16Array(
  Array.from(`\ufeff${LINE}`, (c) => c.charCodeAt(0)),
);
const UNREAD = "Cannot read .env, so it is ignored: ";
const ELSE = "set its variables in the environment instead";

/** What is wrong, `.env` and the environment, the warning and the error. */
const WRONG: readonly (readonly [
  what: string,
  dotenv: Dotenv,
  env: Variables,
  warning: string,
  error: RegExp,
])[] = [
  [
    ".env is UTF-16, as PowerShell 5 writes it",
    new Uint8Array(UTF16.buffer),
    {},
    `${UNREAD}not UTF-8; save it as UTF-8, or ${ELSE}`,
    /^APP_API_KEY is not set: /,
  ],
  [
    "the base URL of .env is ignored, and the proxy is wrong",
    "APP_BASE_URL=https://host.example",
    { APP_API_KEY: TEST_KEY, HTTPS_PROXY: "'https://host.example'" },
    "Ignoring APP_BASE_URL in .env, because APP_API_KEY does not come from there; set APP_BASE_URL in the environment, or use --base-url",
    /^HTTPS_PROXY: remove the spaces or quotes around its value$/,
  ],
  [
    "the key has a space",
    "",
    { APP_API_KEY: "host.example secret" },
    "",
    /^APP_API_KEY is malformed: [^.]+$/,
  ],
];

for (const [what, dotenv, env, warning, error] of WRONG) {
  Deno.test(`${what}: a script, the check and an editor say so in the same words`, async () => {
    using folder = new Folder(dotenv);
    const { path: cwd } = folder;

    const lines = await checkShows(env, cwd);
    const script = await runClient({ args: ["-p", "6 * 7"], env, cwd });
    const stdin = `\n${NEW_SESSION}`;
    const args = ["--bridge"];
    const editor = await runClient({ ...AT_ONCE, args, env, cwd, stdin });

    const reason = lines.at(-1)?.replace("failed settings: ", "") ?? "";
    assertMatch(reason, error);
    const before = warning === "" ? [] : [warning];
    assertEquals(
      lines.slice(0, -1),
      before.map((it) => `note settings: ${it}`),
    );
    const told = [
      ...before.map((it) => `agent-gateway: warning: ${it}\n`),
      `agent-gateway: error: ${reason}\n`,
    ];
    assertEquals([script.code, script.stdout], [1, ""]);
    assertEquals(script.stderr, told.join(""));
    assertEquals(editor.code, 1);
    assertEquals(errorIn(editor.stdout), [...before, reason].join(". "));
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
    const [first = "", second = ""] = await checkShows({}, folder.path);
    if (!/^ok settings: key of \d+ characters from \.env/.test(first)) {
      assertMatch(first, /^note settings: Cannot read \.env, .*network folder/);
      assertMatch(second, /^failed settings: APP_API_KEY is not set/);
    }
    const lines = await checkShows({ APP_API_KEY: TEST_KEY }, folder.path);
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
    `agent-gateway: warning: ${UNREAD}not a regular file; ${ELSE}\n`,
  ]] as const,
];

for (const [what, dotenv, env, warning] of RIGHT) {
  for (const args of [["-q", "-p", "6 * 7"], ["--bridge"]]) {
    Deno.test(`${what}, and the program starts: ${args[0]}`, async () => {
      await using service = ReferenceService.start();
      using folder = new Folder(dotenv);
      const { code, stderr } = await runClient({
        ...{ args, stdin: NEW_SESSION, cwd: folder.path },
        env: { ...settings(service), ...env },
      });
      assertEquals([code, stderr], [0, warning]);
      assertEquals(service.requests[0]?.operation, "create thread");
    });
  }
}

Deno.test("--bridge with wrong usage refuses the session with the message: exit 2", async () => {
  const args = ["--bridge", "--nonsense"];
  await using client = new Client({ ...AT_ONCE, args });
  const skipped = 'no JSON\n\n{"method":"note"}\n{"id":7,"result":{}}\n';
  await client.write(`\n${skipped}${NEW_SESSION}`);
  const { code, stdout, stderr } = await client.output();

  assertEquals(code, 2);
  assertEquals(stderr, `agent-gateway: error: ${errorIn(stdout)}\n`);
});

Deno.test("--bridge without a key ends by itself when no request comes, and although nobody reads its answers: exit 1", async () => {
  for (const isRead of [true, false]) {
    await using client = new Client({ args: ["--bridge"], env: {} });
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
