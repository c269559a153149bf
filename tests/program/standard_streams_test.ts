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

const ignore = Deno.build.os === "windows"; // The scripts need a Unix shell.
const onLinux = { ignore: Deno.build.os !== "linux" };

const INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize"}\n';

/** A number of requests that are answered at once. */
function requests(count: number): string {
  const request = INITIALIZE.replace("initialize", "agents/list");
  return Array.from({ length: count }, (_, i) => request.replace("0,", `${i},`))
    .join("");
}

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

const FULL = 'exec "$@" > /dev/full';
/** The program starts with the first line of input, after its reader is gone. */
const GONE = 'read -r line && exec "$@"';
const RESET = `read -r line && ${onResetSocket("STDOUT")}`;
const RESET_INPUT = onResetSocket("STDIN");

const fullDisk =
  /^agent-gateway: error: Cannot write standard output: No space left on device \(os error 28\)\n$/;
const noInput = /^agent-gateway: error: Cannot read standard input: [^\n]+\n$/;
const defect = RegExp(
  "^agent-gateway: error: Internal error \\(TypeError at preloaded.js:1:15\\): this is a " +
    "defect, please report it at https://github.com/agent-gateway/agent-gateway/issues\n$",
);
const THROWS = `const error = new TypeError("line 1\\n${TEST_KEY}");
  // It happens while the bridge starts.
  Deno.addSignalListener = () => `;

/** What is done to the program, its arguments and input, and how it ends. */
const ENDS: readonly (readonly [
  what: string,
  how: { readonly script?: string; readonly preload?: string },
  args: string,
  input: string,
  ...ends: readonly [code: number, stdout: string, stderr: RegExp],
])[] = [
  ["a full disk", { script: FULL }, "--help", "", 1, "", fullDisk],
  ["a full disk", { script: FULL }, "--bridge", INITIALIZE, 1, "", fullDisk],
  ["a full disk", { script: FULL }, "--quiet", "hello\n", 1, "", fullDisk],
  [
    "a full disk under standard error",
    { script: 'exec "$@" 2> /dev/full' },
    ...["--quiet", "6 * 7\n", 0, "6 * 7 = 42\n", /^$/] as const,
  ],
  ["a reader that is gone", { script: GONE }, "--help", "", 0, "", /^$/],
  [
    "a reader that is gone",
    { script: GONE },
    "--bridge",
    INITIALIZE,
    0,
    "",
    /^$/,
  ],
  ["a reset", { script: RESET }, "--bridge", INITIALIZE, 0, "", /^$/],
  ["a reader that is gone", { script: GONE }, "--json", "", 1, "", /^$/],
  ["a reset", { script: RESET }, "--quiet", "hello\n", 1, "", /^$/],
  [
    "a folder as input",
    { script: 'exec "$@" < .' },
    "--bridge",
    "",
    1,
    "",
    noInput,
  ],
  ["a reset input", { script: RESET_INPUT }, "-q", "", 1, "", noInput],
  [
    "an error that nobody catches",
    { preload: `${THROWS} { setTimeout(() => { throw error; }); };` },
    ...["--bridge", "", 1, "", defect] as const,
  ],
  [
    "a rejection that nobody handles",
    { preload: `${THROWS} { Promise.reject(error); };` },
    ...["--bridge", "", 1, "", defect] as const,
  ],
];

for (const [what, { script, preload }, args, input, ...ends] of ENDS) {
  if (preload !== undefined && !RUN_BY_DENO) continue; // A binary preloads nothing.
  Deno.test({
    name: `${what} ends ${args} with ${ends[0]}, in at most one line`,
    ignore: script?.includes("/dev/full") ? onLinux.ignore : ignore,
    async fn() {
      await using service = ReferenceService.start();
      using folder = new Folder();
      await using client = new Client({
        ...script !== undefined && { startedBy: shell(script) },
        ...preload !== undefined && await preloaded(folder, preload),
        args: [args],
        env: settings(service),
      });
      const isGone = script === GONE || script === RESET;
      if (isGone) await client.stdout.close();
      await client.write(isGone ? `start\n${input}` : input).catch(() => {});
      // These end while the input stays open.
      if (!isGone && preload === undefined) await client.closeInput();

      const { code, stdout, stderr } = await client.output();

      assertEquals([code, stdout], ends.slice(0, 2));
      assertMatch(stderr, ends[2]);
    },
  });
}

/** A run with more progress than a pipe and the program's buffer hold. */
function serveLongRun(): ReferenceService {
  const service = ReferenceService.start();
  const step = progress("node", "x".repeat(1000));
  service.misbehave(
    "stream",
    events([...Array(3000).fill(step), complete("Done.")]),
  );
  return service;
}

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

/** After the first signal, limits are over after 20 times as long. */
const SLOW = `
  const { timeout } = AbortSignal;
  Deno.addSignalListener("SIGINT", () => {
    console.log("SIGINT");
    AbortSignal.timeout = (milliseconds) => timeout(20 * milliseconds);
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
      await using service = serveLongRun();
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

for (
  const [what, startedBy] of [
    ["a log that nobody reads", []],
    ["streams that do not block", shell(NONBLOCKING)],
  ] as const
) {
  Deno.test({
    name:
      `bridge mode with ${what} answers everything, and ends with its input`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      const env = settings(service);
      await using client = new Client({
        args: ["--bridge", "--verbose"],
        env,
        startedBy,
      });
      if (startedBy.length === 0) client.stderr.pause();

      await client.write(requests(10_000));
      await client.closeInput();

      assertEquals((await client.status).code, 0);
      client.stderr.resume();
      const { stdout } = await client.output();
      const ids = stdout.trimEnd().split("\n").map((line) =>
        JSON.parse(line).id
      );
      assertEquals(ids, Array.from(Array(10_000).keys()));
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

  Deno.test("a permission that is missing: one line that names it, exit 1", async () => {
    const program = commandLine()
      .filter((flag) => !flag.startsWith("--allow-env"));
    assertEquals(await runClient({ program }), {
      code: 1,
      stdout: "",
      stderr:
        "agent-gateway: error: APP_API_KEY cannot be read: run Deno with --allow-env=APP_API_KEY\n",
    });
  });
}
