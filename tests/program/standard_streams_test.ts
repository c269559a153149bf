import { assertEquals, assertMatch } from "@std/assert";
import {
  Client,
  commandLine,
  RUN_BY_DENO,
  runClient,
  settings,
  shell,
} from "../support/client_process.ts";
import { Folder } from "../support/environment.ts";
import { complete, events, progress } from "../support/service/behaviours.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { rowsOf } from "../support/tables.ts";

const ignore = Deno.build.os === "windows"; // The scripts need a Unix shell.
const onLinux = { ignore: Deno.build.os !== "linux" };

const INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize"}';

/** Options for the program in which this code runs first; only Deno can do that. */
async function preloaded(folder: Folder, code: string) {
  const file = `${folder.path}/preloaded.js`;
  await Deno.writeTextFile(file, code);
  const [deno, run = "", ...rest] = commandLine();
  return { program: [deno, run, "--preload", file, ...rest] };
}

/** Runs a program with one of its streams on a connection that was reset. */
function onResetSocket(stream: "STDIN" | "STDOUT"): string {
  return `exec perl -MSocket -e '
    socket(my $listener, PF_INET, SOCK_STREAM, 0) or die;
    bind($listener, sockaddr_in(0, INADDR_LOOPBACK)) or die;
    listen($listener, 1) or die;
    socket(my $socket, PF_INET, SOCK_STREAM, 0) or die;
    connect($socket, getsockname($listener)) or die;
    accept(my $peer, $listener) or die;
    setsockopt($peer, SOL_SOCKET, SO_LINGER, pack("ii", 1, 0)) or die;
    close($peer);
    open(${stream}, "+<&", $socket) or die;
    exec @ARGV' "$@"`;
}

const THROWS = `const error = new TypeError("line 1\\n${TEST_KEY}");
  // It happens while the bridge starts.
  Deno.addSignalListener = () => `;

/** What is done to the program. */
const HOW: Readonly<Record<string, string>> = {
  "a full disk": 'exec "$@" > /dev/full',
  "a full log": 'exec "$@" 2> /dev/full',
  // The program starts with the first line of input, after its reader is gone.
  "a reader that is gone": 'read -r line && exec "$@"',
  "a reset": `read -r line && ${onResetSocket("STDOUT")}`,
  "a folder as input": 'exec "$@" < .',
  "a reset input": onResetSocket("STDIN"),
  "an error that nobody catches":
    `${THROWS} { setTimeout(() => { throw error; }); };`,
  "a rejection that nobody handles": `${THROWS} { Promise.reject(error); };`,
};

const ENDS = rowsOf<"what" | "args" | "input" | "code" | "out" | "error">(`
what                            | args     | input  | code | out        | error
a full disk                     | --help   |        | 1    |            | Cannot write standard output: No space left on device (os error 28)
a full disk                     | --bridge | START  | 1    |            | Cannot write standard output: No space left on device (os error 28)
a full disk                     | --quiet  | hello  | 1    |            | Cannot write standard output: No space left on device (os error 28)
a full log                      | -q       | 6 * 7  | 0    | 6 * 7 = 42 |
a reader that is gone           | --help   |        | 0    |            |
a reader that is gone           | --bridge | START  | 0    |            |
a reader that is gone           | --json   |        | 1    |            |
a reset                         | --bridge | START  | 0    |            |
a reset                         | --quiet  | hello  | 1    |            |
a folder as input               | --bridge |        | 1    |            | Cannot read standard input: ...
a reset input                   | -q       |        | 1    |            | Cannot read standard input: ...
an error that nobody catches    | --bridge |        | 1    |            | Internal error (TypeError at preloaded.js:1:15): this is a defect, please report it at https://github.com/agent-gateway/agent-gateway/issues
a rejection that nobody handles | --bridge |        | 1    |            | Internal error (TypeError at preloaded.js:1:15): this is a defect, please report it at https://github.com/agent-gateway/agent-gateway/issues
`);

for (const { what, args, input, code, out, error } of ENDS) {
  const how = HOW[what] ?? "";
  const isPreload = how.startsWith(THROWS);
  if (isPreload && !RUN_BY_DENO) continue; // A binary preloads nothing.
  Deno.test({
    name: `${what} ends ${args} with ${code}, in at most one line`,
    ignore: how.includes("/dev/full") ? onLinux.ignore : ignore,
    async fn() {
      await using service = ReferenceService.start();
      using folder = new Folder();
      await using client = new Client({
        ...isPreload ? await preloaded(folder, how) : { startedBy: shell(how) },
        args: [args],
        env: settings(service),
      });
      const isGone = how.startsWith("read ");
      if (isGone) await client.stdout.close();
      const lines = [...isGone ? ["start"] : [], input, ""].join("\n");
      await client.write(lines.replace("START", INITIALIZE)).catch(() => {});
      // These end while the input stays open.
      if (!isGone && !isPreload) await client.closeInput();

      const { stderr, ...ended } = await client.output();

      assertEquals(ended, { code: Number(code), stdout: out && `${out}\n` });
      const told = error && `agent-gateway: error: ${error}\n`;
      const any = told.endsWith("...\n") ? stderr.slice(told.length - 4) : "";
      assertEquals(stderr, told.replace("...\n", any));
    },
  });
}

/** A run with more progress than a pipe and the program's buffer hold. */
const longRun = events([
  ...Array(3000).fill(progress("node", "x".repeat(1000))),
  complete("Done."),
]);

/**
 * A program in which limits of more than a second are never over, and after a signal
 * those of more than half a second.
 */
const IMPATIENT = `
  const { timeout } = AbortSignal;
  let limit = 1000;
  for (const signal of ["SIGINT", "SIGTERM"]) {
    Deno.addSignalListener(signal, () => limit = 500);
  }
  AbortSignal.timeout = (milliseconds) =>
    milliseconds > limit ? new AbortController().signal : timeout(milliseconds);`;

/** After the first signal, limits are over after 100 times as long. */
const SLOW = `
  const { timeout } = AbortSignal;
  Deno.addSignalListener("SIGINT", () => {
    console.log("SIGINT");
    AbortSignal.timeout = (milliseconds) => timeout(100 * milliseconds);
  });`;

for (
  const [how, code, preload] of [
    ["SIGINT", 130, IMPATIENT],
    ["SIGTERM", 143, IMPATIENT],
    ["exit", 0, IMPATIENT],
    ["a second signal", 143, SLOW],
  ] as const
) {
  if (!RUN_BY_DENO) continue;
  Deno.test({
    name:
      `standard error that nobody reads holds up neither a run nor ${how}: interactive mode exits with ${code}`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      service.misbehave("stream", longRun);
      using folder = new Folder();
      const program = await preloaded(folder, preload);
      await using client = new Client({ env: settings(service), ...program });
      client.stderr.pause();
      await client.write("hello\n");
      await client.stdout.waitFor("Done.\n");

      if (how === "exit") await client.closeInput();
      else if (how !== "a second signal") client.kill(how);
      else {
        client.kill("SIGINT");
        await client.stdout.waitFor("SIGINT\n");
        client.kill("SIGTERM");
      }

      assertEquals((await client.status).code, code);
      client.stderr.resume();
    },
  });
}

const NONBLOCKING = `exec perl -MFcntl -e '
  for my $stream (*STDIN, *STDOUT, *STDERR) {
    my $flags = fcntl($stream, F_GETFL, 0);
    fcntl($stream, F_SETFL, $flags | O_NONBLOCK) or die;
  }
  exec @ARGV' "$@"`;

for (const script of ['exec "$@"', NONBLOCKING]) {
  const isUnread = script !== NONBLOCKING;
  const what = isUnread ? "a log that nobody reads" : "non-blocking streams";
  Deno.test({
    name:
      `bridge mode with ${what} answers everything, and ends with its input`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      await using client = new Client({
        args: ["--bridge", "--verbose"],
        env: settings(service),
        startedBy: shell(script),
      });
      if (isUnread) client.stderr.pause();
      const ids = Array.from(Array(10_000).keys());
      const requests = ids.map((id) => `{"id":${id},"method":"agents/list"}\n`);

      await client.write(requests.join(""));
      await client.closeInput();

      assertEquals((await client.status).code, 0);
      client.stderr.resume();
      const { stdout } = await client.output();
      const lines = stdout.trimEnd().split("\n");
      assertEquals(lines.map((line) => JSON.parse(line).id), ids);
    },
  });
}

Deno.test({
  name:
    "a terminal that goes away ends interactive mode with 129, whatever is seen first",
  ...onLinux, // Other systems have another script(1).
  async fn() {
    await using service = ReferenceService.start();
    using folder = new Folder();
    const program = commandLine().map((word) => `'${word}'`).join(" ");
    await Deno.writeTextFile(
      `${folder.path}/in-terminal`,
      // In a session of its own: SIGHUP would end it before it can notice, and
      // Deno 2.6 does not let a parent ignore that signal for it.
      `trap "" HUP; setsid --wait ${program} -q 2>&3; echo "exit $?" >&3`,
    );
    await using client = new Client({
      startedBy: shell(
        "exec 3>&2; exec script -qec 'sh ./in-terminal' /dev/null",
      ),
      env: settings(service),
      cwd: folder.path,
    });
    await (await service.waitFor("create thread")).ended;

    client.kill("SIGKILL");

    // A read that waits fails; one that begins later finds the end of the input.
    assertMatch(
      (await client.output()).stderr,
      /^(?:agent-gateway: error: Cannot read standard input: Input\/output error \(os error 5\)\n)?(?:Hangup\n)?exit 129\n$/,
    );
  },
});

if (RUN_BY_DENO) {
  Deno.test({
    name: "an error that nobody catches leaves the terminal as it was",
    ...onLinux, // Other systems have another script(1).
    async fn() {
      await using service = ReferenceService.start();
      using folder = new Folder();
      const { code, stdout } = await runClient({
        // The program has entered key mode when it sends its first request.
        ...await preloaded(
          folder,
          `globalThis.fetch = () => {
             setTimeout(() => { throw new TypeError("error"); });
             return new Promise(() => {});
           };`,
        ),
        startedBy: shell('exec script -qec "$*" /dev/null'),
        env: { ...settings(service), TERM: "xterm" },
      });

      assertEquals(code, 1);
      assertMatch(stdout, /\?2004h[^]*\?2004l[^]*Internal error/); // bracketed paste
    },
  });
}
