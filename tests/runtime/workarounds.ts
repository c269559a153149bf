/**
 * What the program does only because of a runtime, a library or another program, and
 * whether that is still needed. `deno task docs` makes CONTRIBUTING.md's table of it,
 * and `runtime_test.ts` fails when a workaround can go. As a program, it reports about
 * the Deno that runs it:
 *
 *     deno task workarounds
 *
 * @module
 */
import { TextLineStream } from "jsr:@std/streams@^1.1.1/text-line-stream";
import { cpuUsage } from "node:process";
import { sameFlags } from "../../tools/deno.ts";
import { tunnels } from "../support/faulty_service/answers.ts";
import {
  FaultyService,
  type Script,
  unreachable,
} from "../support/faulty_service/service.ts";
import { LocalCa } from "../support/local_ca.ts";

/** A workaround. */
export interface Workaround {
  /** What is done, and where. */
  readonly what: string;
  /** What would happen without it. */
  readonly why: string;
  /** The issue of the project that could make it unnecessary. */
  readonly issue?: string;
  /** The first release that needs it, as far as it is known. */
  readonly since?: string;
  /** The first release that does not need it any more. */
  readonly goneIn?: string;
  /** Tries whether this Deno still needs it; missing if a test cannot tell. */
  readonly isNeeded?: () => boolean | Promise<boolean>;
}

type Row = readonly [what: string, why: string, Partial<Workaround>?];

const ROWS: readonly Row[] = [
  [
    "A relay on loopback makes the connections to the service (`lib/gateway/connection/relay.ts`)",
    "`fetch` leaves Nagle's algorithm on: one more round trip for each turn. It also tries one address of a name only",
    { issue: "denoland/deno#35581", isNeeded: delaysSmallWrites },
  ],
  [
    "The program connects to an `http:` proxy itself (`lib/gateway/connection/http_tunnel.ts`)",
    "`fetch` sends the proxy's password to the service",
    { isNeeded: sendsProxyPassword },
  ],
  [
    "Prompts are sent as a `Blob` (`lib/gateway/http/requests.ts`)",
    "`fetch` sends a request again by itself if its body is a string: a prompt would run twice",
    { issue: "denoland/deno#32566", since: "2.7.6", isNeeded: repeatsRequests },
  ],
  [
    "A turn of the event loop passes between the `POST` and the `GET` (`lib/gateway.ts`)",
    "`fetch` would open a second connection",
    { isNeeded: opensSecondConnection },
  ],
  [
    "Failures of connections are recognised by their texts (`lib/gateway/connection/connection_rows.ts`)",
    "An error of `fetch` has no code",
    { isNeeded: hidesReasons },
  ],
  [
    "The variables about proxies are removed from the environment (`lib/settings.ts`)",
    "`fetch` reads them by its own rules, whatever `--allow-env` allows",
    { isNeeded: readsProxyVariables },
  ],
  [
    "An empty `DENO_CERT` is removed from the environment (`lib/settings.ts`)",
    "Deno looks for a file without a name, and fails",
    { isNeeded: failsOnEmptyCertificate },
  ],
  [
    "Errors of `Deno.env` are not shown (`lib/io/environment_variable.ts`)",
    "They quote the value, which may be the key",
    { isNeeded: quotesVariables },
  ],
  [
    "Time limits are `AbortSignal.timeout()` (`lib/io/timeout.ts`)",
    "The first `setTimeout()` of a process takes 7 ms",
    { since: "2.9.0", isNeeded: () => isSlow("setTimeout(() => {}, 1);") },
  ],
  [
    "Standard streams are not web streams (`lib/io/standard_streams.ts`)",
    "The first `ReadableStream` of a process takes 2 ms",
    { since: "2.9.0", isNeeded: () => isSlow("new ReadableStream({});") },
  ],
  [
    "Standard output is written in pieces that a pipe accepts as a whole (`lib/io/standard_streams.ts`)",
    "If the pipe does not block, a write fails and does not say how much was written",
    { isNeeded: hidesWrittenBytes },
  ],
  [
    "Reads of standard input are repeated after pauses if it does not block (`lib/io/standard_streams.ts`)",
    "Deno could not wait until a standard stream is ready",
    { goneIn: "2.7.14", isNeeded: cannotWaitForInput },
  ],
  [
    "The program listens to `SIGUSR1` (`lib/process.ts`)",
    "Deno would open a debugger that has no password",
    { issue: "denoland/deno#35738", since: "2.9.2", isNeeded: opensDebugger },
  ],
  [
    "Where the program cannot send a signal to itself, it exits, and Ctrl-Z has no effect (`lib/process.ts`, `lib/editor/key_mode.ts`)",
    "Deno did not allow it without `--allow-run`",
    { goneIn: "2.9.0", isNeeded: forbidsOwnSignals },
  ],
  [
    "The npm launcher removes `NODE_OPTIONS` (`tools/release/npm/agent-gateway.cjs`)",
    "Deno runs the code that it names in the program's process",
    { since: "2.7.6", isNeeded: obeysNodeOptions },
  ],
  [
    "The npm launcher passes `--v8-flags=--no-lazy` (`tools/release/npm_package.ts`)",
    "V8 caches only what it compiles when a file is loaded; the rest is compiled in each process",
  ],
  [
    "The npm launcher stays, and passes signals on, with Node.js before 22.15 (`tools/release/npm/agent-gateway.cjs`)",
    "Node.js could not replace its process by another program",
  ],
  [
    "`TextLineStream` gets whole lines only (`lib/gateway/stream/stream_lines.ts`)",
    "`@std/streams` 1.1.1 takes quadratic time for a line that comes in many chunks; 1.1.2 does not",
    { issue: "denoland/std#7231", isNeeded: isQuadratic },
  ],
  [
    "The parser of `.env` gets the one line that is needed (`lib/settings/dotenv_file.ts`)",
    "`@std/dotenv` expands `$NAME` in all others, and never ends if a variable names itself",
  ],
  [
    "A response of the bridge follows an update after 30 ms or more (`lib/bridge/client_output.ts`)",
    "Some clients, such as the Python library 0.7.0, lose the update",
  ],
  [
    "A key is made before the first connection (`lib/gateway.ts`)",
    "Deno's TLS library gathers entropy for 37 ms at first use",
  ],
  [
    "`main()` begins with `await undefined` (`main.ts`)",
    "V8 parses the functions on the stack again at the first error",
  ],
  [
    "Unicode classes are made when they are first used (`lib/text/plain_text.ts`)",
    "V8 takes 0.1 ms or more for each",
  ],
  [
    "Lines are gathered for 1 ms (`lib/io/line_writer.ts`)",
    "Each write wakes a thread of Deno",
  ],
  [
    "The bridge looks whether its parent has changed (`main.ts`)",
    "Deno does not report the end of the parent",
  ],
  [
    "The prompt has an editor of its own (`lib/editor`)",
    "`node:readline` knows no prompt of several lines, no bracketed paste, and draws a wide character at the last column wrong",
  ],
  [
    "Output is written before the terminal leaves key mode (`lib/editor/key_mode.ts`)",
    "`setRaw(false)` waits until the terminal has taken all output, and nothing in the process can end that",
  ],
  [
    "The console of Windows is read through `node:tty` (`lib/io/standard_streams.ts`)",
    "`Deno.stdin` loses characters that its code page lacks",
    { issue: "denoland/deno#18240" },
  ],
  [
    "A `.env` on a network folder of Windows is opened even if its status cannot be read (`lib/settings/dotenv_file.ts`)",
    "`Deno.stat` is refused there",
  ],
];

export const WORKAROUNDS: readonly Workaround[] = ROWS.map(
  ([what, why, more]) => ({ what, why, ...more }),
);

/** Tries one in a process of its own, because it may be about the first use of something. */
export async function isStillNeeded(
  row: Workaround,
  deno = Deno.execPath(),
): Promise<boolean> {
  const isAboutLibrary = /`@std/.test(row.why);
  const { stdout, stderr } = await new Deno.Command(
    isAboutLibrary ? Deno.execPath() : deno,
    {
      args: [
        ...["run", "-q", "-A", "--no-check", ...sameFlags],
        ...[import.meta.filename ?? "", `${WORKAROUNDS.indexOf(row)}`],
      ],
      signal: AbortSignal.timeout(180_000),
    },
  ).output();
  const decoder = new TextDecoder();
  const answer = decoder.decode(stdout).trim();
  if (answer !== "true" && answer !== "false") {
    throw new Error(`${row.what}: ${decoder.decode(stderr)}`);
  }
  return answer === "true";
}

/** Runs this Deno with a program, without permissions and settings if none are given. */
async function run(
  program: string,
  flags: readonly string[] = ["-A"],
  env: Readonly<Record<string, string>> = {},
  by: readonly string[] = [],
) {
  const file = await Deno.makeTempFile({ suffix: ".mjs" });
  await Deno.writeTextFile(file, program);
  const [command = "", ...args] = [
    ...by,
    ...[Deno.execPath(), "run", "-q", "--no-config", "--no-prompt", ...flags],
    file,
  ];
  const output = await new Deno.Command(command, { args, env }).output();
  await Deno.remove(file);
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  const [stdout, stderr] = [text(output.stdout), text(output.stderr)];
  return { code: output.code, stdout, stderr };
}

/** Gives each request the same answer. No service is stopped: the process ends soon. */
function always(answer: string): Script {
  return async (connection) => {
    while (await connection.read() !== undefined) {
      await connection.write(answer);
    }
  };
}

const EMPTY = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/**
 * Sends a body in small chunks, each when the one before has arrived. The kernel of a
 * peer that has sent something acknowledges late: with Nagle's algorithm, one chunk
 * waits for 40 ms.
 */
async function delaysSmallWrites(): Promise<boolean> {
  const longest = [];
  while (longest.length < 3) longest.push(await longestGap());
  return Math.min(...longest) > 30;
}

async function longestGap(): Promise<number> {
  let arrived = Promise.withResolvers<void>();
  const server = await FaultyService.start(async (connection) => {
    await connection.head();
    for (let i = 0; i < 5; i++) {
      await connection.write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    do {
      connection.take(connection.received.length);
      arrived.resolve();
      arrived = Promise.withResolvers();
    } while (await connection.holds(1));
  });
  const times: number[] = [];
  const sent = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      times.push(performance.now());
      if (times.length > 40) return sent.resolve();
      const { promise } = arrived;
      controller.enqueue(new Uint8Array(10));
      await promise;
    },
  }, { highWaterMark: 0 });
  fetch(server.url, { method: "POST", body }).catch(() => {}); // It is closed.
  await sent.promise;
  return Math.max(
    ...times.slice(1).map((time, i) => time - (times[i] ?? 0)),
  );
}

/** Has a proxy with a password tunnel to a service with TLS. */
async function sendsProxyPassword(): Promise<boolean> {
  using ca = new LocalCa();
  let isSent = false;
  const options = { ...ca.issue("127.0.0.1"), port: 0, onListen() {} };
  const { addr: { port } } = Deno.serve(options, ({ headers }) => {
    isSent = headers.has("proxy-authorization");
    return new Response();
  });
  const proxy = await FaultyService.start(tunnels(() => port));
  using client = Deno.createHttpClient({
    caCerts: [await Deno.readTextFile(ca.certificate)],
    proxy: {
      url: proxy.url,
      basicAuth: { username: "probe", password: "secret" },
    },
  });
  await (await fetch(`https://127.0.0.1:${port}`, { client })).text();
  return isSent;
}

/** Closes a connection that was kept when a `POST` has arrived. */
async function repeatsRequests(): Promise<boolean> {
  const server = await FaultyService.start(async (connection) => {
    await connection.read();
    if (connection.number > 1) return;
    await connection.write(EMPTY);
    await connection.read();
  });
  await (await fetch(server.url)).text();
  await fetch(server.url, { method: "POST", body: "x" }).catch(() => {});
  return server.requests.length > 2;
}

async function opensSecondConnection(): Promise<boolean> {
  const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" +
    "2\r\n{}\r\n0\r\n\r\n";
  const server = await FaultyService.start(always(chunked));
  for (let request = 0; request < 10; request++) {
    const { body } = await fetch(server.url);
    // deno-lint-ignore no-empty -- reads to the end
    for await (const _ of body ?? []) {}
  }
  return server.connections > 1;
}

async function hidesReasons(): Promise<boolean> {
  const error = await fetch(unreachable()).catch((e) => e);
  return [error, error.cause].every((e) =>
    e?.code === undefined && !(e instanceof Deno.errors.ConnectionRefused)
  );
}

async function readsProxyVariables(): Promise<boolean> {
  const proxy = await FaultyService.start(always(EMPTY));
  const { stdout } = await run(
    "console.log((await fetch('http://192.0.2.1/')).status);",
    ["--allow-net"],
    { HTTP_PROXY: proxy.url, NO_PROXY: "", no_proxy: "" },
  );
  return stdout === "200";
}

async function failsOnEmptyCertificate(): Promise<boolean> {
  const server = await FaultyService.start(always(EMPTY));
  const { code } = await run(
    `await (await fetch(${JSON.stringify(server.url)})).text();`,
    ["-A"],
    { DENO_CERT: "", NO_PROXY: "127.0.0.1" },
  );
  return code !== 0;
}

async function quotesVariables(): Promise<boolean> {
  const { stderr } = await run("Deno.env.get('PROBE');", ["-A"], {}, [
    ...["sh", "-c", `PROBE=$(printf 'sec\\377ret') exec "$@"`, "sh"],
  ]);
  return /InvalidData: .*ret/.test(stderr);
}

/** Whether something takes more than 1 ms at first, in the best of three processes. */
async function isSlow(statement: string): Promise<boolean> {
  const times = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    const { stdout } = await run(
      `const start = performance.now(); ${statement}
       console.log(performance.now() - start); Deno.exit();`,
    );
    times.push(Number(stdout));
  }
  return Math.min(...times) > 1;
}

/** Starts a program with a standard stream that does not block. */
function unblocked(stream: "STDIN" | "STDOUT", first = ""): readonly string[] {
  const set = `fcntl(${stream}, F_SETFL, O_NONBLOCK) or die; exec @ARGV`;
  return ["perl", "-MFcntl", "-e", first + set];
}

async function hidesWrittenBytes(): Promise<boolean> {
  const { stderr, stdout } = await run(
    `const lines = new TextEncoder().encode("123456789\\n".repeat(1e6));
     await Deno.stdout.write(lines).catch((e) => console.error(e.name));`,
    ["-A"],
    {},
    [
      // When the first line has come, the program is writing.
      ...["sh", "-c", '"$@" | { read -r line; sleep 0.3; cat; }', "sh"],
      ...unblocked("STDOUT"),
    ],
  );
  return stderr === "WouldBlock" && stdout.length > 0;
}

async function cannotWaitForInput(): Promise<boolean> {
  const { stdout } = await run(
    `setTimeout(Deno.exit, 1000, 0);
     await Deno.stdin.read(new Uint8Array(9)).catch((e) => console.log(e.name));
     Deno.exit();`,
    ["-A"],
    {},
    // An empty pipe. It stays open, because the program holds its other end, too.
    unblocked("STDIN", '$^F = 9; pipe(R, W); open(STDIN, "<&", R) or die; '),
  );
  return stdout === "WouldBlock";
}

/** Deno listens to the signal some time after its start: before, it ends the process. */
async function opensDebugger(): Promise<boolean> {
  for (const wait of [500, 2_000, 10_000]) {
    const { stdout } = await run(
      `const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
       await pause(${wait});
       Deno.kill(Deno.pid, "SIGUSR1");
       for (let attempt = 0; attempt < 150; attempt++) {
         await pause(20);
         await Deno.connect({ port: 9229 }).then(() => {
           console.log("open");
           Deno.exit();
         }, () => {});
       }`,
    );
    if (stdout === "open") return true;
  }
  return false;
}

async function forbidsOwnSignals(): Promise<boolean> {
  const { code } = await run("Deno.kill(Deno.pid, 'SIGCONT');", []);
  return code !== 0;
}

async function obeysNodeOptions(): Promise<boolean> {
  const file = await Deno.makeTempFile({ suffix: ".cjs" });
  await Deno.writeTextFile(file, "console.log('obeyed');");
  const { stdout } = await run("", ["-A"], {
    NODE_OPTIONS: `--require ${file}`,
  });
  await Deno.remove(file);
  return stdout === "obeyed";
}

/** Whether a line in four times as many chunks takes more than eight times the CPU. */
async function isQuadratic(): Promise<boolean> {
  const time = async (chunks: number) => {
    const start = cpuUsage();
    const line = Array.from({ length: chunks }, () => "x".repeat(4096));
    const lines = ReadableStream.from(line).pipeThrough(new TextLineStream());
    // deno-lint-ignore no-empty -- reads to the end
    for await (const _ of lines) {}
    return cpuUsage(start).user;
  };
  await time(100);
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await time(480) > 8 * await time(120)) return true;
  }
  return false;
}

/** Says for each what this Deno does. */
async function report(): Promise<void> {
  console.log(`Deno ${Deno.version.deno}`);
  for (const row of WORKAROUNDS) {
    const state = row.isNeeded === undefined
      ? "not tried"
      : await isStillNeeded(row)
      ? "needed"
      : "not needed";
    console.log(`${state.padEnd(10)} ${row.what}`);
  }
}

if (import.meta.main) {
  const [index] = Deno.args;
  if (index === undefined) await report();
  else console.log(await WORKAROUNDS[Number(index)]?.isNeeded?.());
  Deno.exit();
}
