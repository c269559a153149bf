import { assertEquals, assertMatch } from "@std/assert";
import {
  Client,
  commandLine,
  RUN_BY_DENO,
  runClient,
  settings,
  shell,
} from "../support/client_process.ts";
import { complete, events, progress } from "../support/service/behaviours.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { Folder } from "../support/environment.ts";

const ignore = Deno.build.os === "windows"; // The scripts need a Unix shell.
const onLinux = { ignore: Deno.build.os !== "linux" };

const INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize"}\n';

/** A number of requests that are answered at once, with ids from 1 on. */
function requests(count: number): string {
  return Array.from(
    { length: count },
    (_, i) => `{"jsonrpc":"2.0","id":${i + 1},"method":"agents/list"}\n`,
  ).join("");
}

/** The ids of the answers in the output of the bridge. */
function answered(stdout: string): number[] {
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line).id);
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

/** A run with more progress than a pipe and the program's buffer hold. */
function serveLongRun(): ReferenceService {
  const service = ReferenceService.start();
  const status = "x".repeat(1000);
  const steps = Array.from(
    { length: 3000 },
    (_, i) => progress(`${i}`, status),
  );
  service.misbehave("stream", events([...steps, complete("Done.")]));
  return service;
}

/** Options for the program in which this code runs first; only Deno can do that. */
async function preloaded(folder: Folder, code: string) {
  if (!RUN_BY_DENO) return {};
  const file = `${folder.path}/preloaded.js`;
  await Deno.writeTextFile(file, code);
  const [deno, run = "", ...rest] = commandLine();
  return { program: [deno, run, "--preload", file, ...rest] };
}

/**
 * A program in which timers of more than a second never fire, and after a
 * signal those of more than half a second.
 */
const IMPATIENT = `
  const { setTimeout } = globalThis;
  let limit = 1000;
  for (const signal of ["SIGINT", "SIGTERM"]) {
    Deno.addSignalListener(signal, () => limit = 500);
  }
  globalThis.setTimeout = (onDue, milliseconds) =>
    milliseconds > limit ? 0 : setTimeout(onDue, milliseconds);`;

for (
  const [how, code] of [["SIGINT", 130], ["SIGTERM", 143], ["exit", 0]] as const
) {
  Deno.test({
    name:
      `standard error that nobody reads holds up neither a run nor ${how}: interactive mode exits with ${code}`,
    ignore,
    async fn() {
      await using service = serveLongRun();
      using folder = new Folder();
      const env = settings(service);
      const program = await preloaded(folder, IMPATIENT);
      await using client = new Client({ env, ...program });
      client.stderr.pause();
      await client.write("hello\n");

      await client.stdout.waitFor("Done.\n");
      if (how === "exit") await client.closeInput();
      else client.kill(how);

      assertEquals((await client.status).code, code);
      client.stderr.resume();
    },
  });
}

if (RUN_BY_DENO) {
  Deno.test({
    name: "a second signal does not wait for a reader of standard error",
    ignore,
    async fn() {
      await using service = serveLongRun();
      using folder = new Folder();
      // The first signal waits for 10 s, and says so.
      const program = await preloaded(
        folder,
        `const { setTimeout } = globalThis;
         Deno.addSignalListener("SIGINT", () => {
           console.log("SIGINT");
           globalThis.setTimeout = (onDue, ms) => setTimeout(onDue, 20 * ms);
         });`,
      );
      const env = settings(service);
      await using client = new Client({ env, ...program });
      client.stderr.pause();
      await client.write("hello\n");
      await client.stdout.waitFor("Done.\n");

      client.kill("SIGINT");
      await client.stdout.waitFor("SIGINT\n");
      client.kill("SIGTERM");

      assertEquals((await client.status).code, 143);
      client.stderr.resume();
    },
  });
}

Deno.test("bridge mode with a log that nobody reads ends with the input: exit 0", async () => {
  await using service = ReferenceService.start();
  await using client = new Client({
    args: ["--bridge", "--verbose"],
    env: settings(service),
  });
  client.stderr.pause();

  await client.write(requests(3000));
  await client.closeInput();

  assertEquals((await client.status).code, 0);
  client.stderr.resume();
  assertEquals(answered((await client.output()).stdout), numbers(3000));
});

Deno.test({
  name: "standard streams that do not block lose nothing",
  ignore,
  async fn() {
    await using service = ReferenceService.start();
    const { code, stdout, stderr } = await runClient({
      startedBy: shell(`exec perl -MFcntl -e '
        for my $stream (*STDIN, *STDOUT, *STDERR) {
          my $flags = fcntl($stream, F_GETFL, 0);
          fcntl($stream, F_SETFL, $flags | O_NONBLOCK) or die;
        }
        exec @ARGV' "$@"`),
      args: ["--bridge", "--verbose"],
      env: settings(service),
      stdin: INITIALIZE + requests(10_000),
    });

    assertEquals(code, 0);
    assertEquals(answered(stdout), [0, ...numbers(10_000)]);
    const answeredLines = stderr.match(/ agents\/list id=/g);
    assertEquals(answeredLines?.length, 10_000);
  },
});

for (
  const [mode, args, stdin] of [
    ["--help", ["--help"], ""],
    ["bridge mode", ["--bridge"], INITIALIZE],
    ["interactive mode", ["--quiet"], "hello\n"],
  ] as const
) {
  Deno.test({
    name: `${mode} on a full disk: one line that says so, exit 1`,
    ...onLinux, // The others have no /dev/full.
    async fn() {
      await using service = ReferenceService.start();
      const output = await runClient({
        startedBy: shell('exec "$@" > /dev/full'),
        args,
        env: settings(service),
        stdin,
      });

      assertEquals(output, {
        code: 1,
        stdout: "",
        stderr: "agent-gateway: error: Cannot write standard output: " +
          "No space left on device (os error 28)\n",
      });
    },
  });
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

/** The program starts with the first line of input, after its reader is gone. */
const GONE = 'read -r line && exec "$@"';
const RESET = `read -r line && ${onResetSocket("STDOUT")}`;

for (
  const [mode, args, input, code, script] of [
    ["--help", ["--help"], "", 0, GONE],
    ["bridge mode", ["--bridge"], INITIALIZE, 0, GONE],
    ["bridge mode", ["--bridge"], INITIALIZE, 0, RESET],
    ["--json", ["--json"], "", 1, GONE],
    ["interactive mode", ["--quiet"], "hello\n", 1, RESET],
  ] as const
) {
  const what = script === GONE ? "is gone" : "has reset its connection";
  Deno.test({
    name:
      `a reader of standard output that ${what} ends ${mode} with ${code}, silently`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      await using client = new Client({
        startedBy: shell(script),
        args,
        env: settings(service),
      });
      await client.stdout.close();
      await client.write(`start\n${input}`);

      // Standard input stays open, so its end does not end the program.
      const output = await client.output();

      assertEquals([output.code, output.stderr], [code, ""]);
    },
  });
}

for (
  const [flag, what, script] of [
    ["--bridge", "a folder", 'exec "$@" < .'],
    ["-q", "a connection that is reset", onResetSocket("STDIN")],
  ] as const
) {
  Deno.test({
    name:
      `${flag} with ${what} for standard input: one line that says so, exit 1`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      const { code, stdout, stderr } = await runClient({
        startedBy: shell(script),
        args: [flag],
        env: settings(service),
      });

      assertEquals([code, stdout], [1, ""]);
      assertMatch(
        stderr,
        /^agent-gateway: error: Cannot read standard input: [^\n]+\n$/,
      );
    },
  });
}

Deno.test({
  name: "a full disk under standard error changes nothing",
  ...onLinux, // The others have no /dev/full.
  async fn() {
    await using service = ReferenceService.start();
    const { code, stdout } = await runClient({
      startedBy: shell('exec "$@" 2> /dev/full'),
      env: settings(service),
      stdin: "6 * 7\n",
    });

    assertEquals([code, stdout], [0, "6 * 7 = 42\n"]);
  },
});

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
  for (
    const [what, source] of [
      ["an error that nobody catches", "setTimeout(() => { throw error; });"],
      ["a rejection that nobody handles", "Promise.reject(error);"],
    ] as const
  ) {
    Deno.test(`${what} ends the program with one line without its message, exit 1`, async () => {
      using folder = new Folder();
      const program = await preloaded(
        folder,
        `const error = new TypeError("line 1\\n${TEST_KEY}");
         // It happens while the bridge starts.
         Deno.addSignalListener = () => { ${source} };`,
      );
      await using client = new Client({ args: ["--bridge"], ...program });

      const { code, stderr } = await client.output();

      assertEquals([code, stderr], [
        1,
        "agent-gateway: error: Internal error (TypeError at preloaded.js:1:15): this is a defect, " +
        "please report it at https://github.com/agent-gateway/agent-gateway/issues\n",
      ]);
    });
  }

  Deno.test({
    name: "an error that nobody catches leaves the terminal as it was",
    ...onLinux, // Other systems have another script(1).
    async fn() {
      await using service = ReferenceService.start();
      using folder = new Folder();
      const program = await preloaded(
        folder,
        // The program has entered key mode when it sends its first request.
        `globalThis.fetch = () => {
           setTimeout(() => { throw new TypeError("error"); });
           return new Promise(() => {});
         };`,
      );
      await using client = new Client({
        ...program,
        startedBy: shell('exec script -qec "$*" /dev/null'),
        env: { ...settings(service), TERM: "xterm" },
      });

      const { code, stdout } = await client.output();

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
