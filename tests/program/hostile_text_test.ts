import { assertEquals, assertLess, assertNotMatch } from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import fc from "../support/generated.ts";
import { programOutput } from "../support/program_output.ts";
import { times } from "../support/repetitions.ts";
import {
  answer,
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import {
  promptsOf,
  type ReferenceService,
  serveStreams,
} from "../support/service/service.ts";
import { until } from "../support/waits.ts";

// What is removed of a text is tested in tests/lib/text/plain_text_test.ts.

/** Text that controls a terminal, or that is shown in another order. */
const HOSTILE = "\x1b[31;1mred\x1b[2J\x1b]0;title\x07\x1b]52;c;cm0=\x07" +
  "\x9b2J\x00\x07\x7f\u202etxt\u2066\x1b]0;never\x1b[";
const CLEAN = "redtxt0;never";

/** A service with a run of hostile text, and then one that it refuses with such text. */
function serveHostile(): ReferenceService {
  const service = serveStreams(
    events([progress(HOSTILE, HOSTILE), complete(HOSTILE)]),
  );
  service.misbehave("create run", json({ message: HOSTILE }, 400));
  return service;
}

const REFUSED = `The service answered 400: ${CLEAN}.`;

Deno.test("replies go through a pipe byte for byte; progress and errors are a clean line each on standard error (interface 1, Interactive mode rules 4)", async () => {
  await using service = serveHostile();
  const { stdout, stderr } = await runClient({
    env: { ...settings(service), TERM: "xterm-256color" },
    stdin: "one\ntwo\n",
  });

  assertEquals(stdout, `${HOSTILE}\n`);
  assertEquals(stderr.split("\n").slice(3), [
    `${CLEAN}: ${CLEAN}`,
    `agent-gateway: error: Prompt 2 on thread thread-1: ${REFUSED}`,
    "",
  ]);
});

Deno.test("the bridge hands replies and progress on as they are, escaped as JSON, and errors clean (interface 6)", async () => {
  await using service = serveHostile();
  await using editor = new Editor({ env: settings(service) });
  const sessionId = await editor.newSession();
  await editor.prompt(sessionId, "one");
  const { error } = await editor.prompt(sessionId, "two");
  const { stdout, stderr } = await editor.finish();

  assertEquals(editor.texts(sessionId, "agent_message_chunk"), [HOSTILE]);
  assertEquals(editor.texts(sessionId, "agent_thought_chunk"), [
    `${HOSTILE}: ${HOSTILE}  \n`,
  ]);
  assertEquals([error?.message, stderr], [REFUSED, ""]);
  // deno-lint-ignore no-control-regex -- these are what it is about
  assertNotMatch(stdout, /[\0-\x09\x0b-\x1f]/);
});

Deno.test("no line on standard error commands a runner of CI", async () => {
  for (const variable of ["GITHUB_ACTIONS", "TF_BUILD"]) {
    await using service = serveStreams(
      events([progress("::stop-commands::x", "##[error]y"), complete("::z")]),
    );
    const env = { ...settings(service), [variable]: "true" };
    const { stdout, stderr } = await runClient({ args: ["-p", "one"], env });
    assertEquals(stdout, "::z\n");
    assertEquals(
      stderr.split("\n").at(-2),
      ": :stop-commands::x: # #[error]y",
    );
  }
});

/** Texts of any UTF-16 code units, half of them surrogates. */
const text = fc.array(
  fc.oneof(fc.integer({ min: 0xd800, max: 0xdfff }), fc.nat(0xffff)),
  { maxLength: 6 },
).map((codes) => String.fromCharCode(...codes));

const NAMES = fc.sample(fc.tuple(text, text), times(100_000));

/**
 * Reads lines of JSON as strictly as Python can: no bad UTF-8, and no half of a
 * surrogate pair. Prints their nodes and statuses.
 */
const STRICT_READER = `
import json, sys
for line in sys.stdin.buffer:
    value = json.loads(line.decode("utf-8"))
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    names = value.get("params", {}).get("update", {}).get("_meta", value)
    if "node" in names:
        print(json.dumps([names["node"], names["status"]]))
`;

async function assertNames(lines: string): Promise<void> {
  const python = ["python3", "-c", STRICT_READER];
  const { stdout, stderr } = await programOutput(python, { input: lines });
  assertEquals(stderr, "");
  const names = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(names, NAMES.map((pair) => pair.map((it) => it.toWellFormed())));
}

Deno.test("strict readers of JSON take each line of --json and of the bridge, and the service each prompt", async () => {
  const steps = NAMES.map(([node, status]) => progress(node, status));
  const stream = events([...steps, complete("\ud83d Done. \ude00")]);
  await using service = serveStreams(stream, stream);
  service.misbehave("create thread", json({ thread_id: "thread-2" }));
  const env = settings(service);
  const { stdout } = await runClient({ args: ["--json", "-p", "a"], env });
  await assertNames(stdout);

  await using client = new Client({ args: ["--bridge"], env });
  const send = (id: number, method: string, params = "{}") =>
    client.write(`{"id":${id},"method":"${method}","params":${params}}\n`);
  const prompt = (text: string) =>
    `{"sessionId":"thread-2","prompt":"${text}"}`;
  await send(1, "initialize");
  await send(2, "session/new");
  await client.stdout.waitFor('"thread-2"');
  await send(3, "session/prompt", prompt("a \\u0000"));
  await client.stdout.waitFor("-32602");
  await send(4, "session/prompt", prompt("he said hi \\ud83d"));
  await assertNames((await client.finish()).stdout);
  assertEquals(promptsOf(service).at(-1), "he said hi \ufffd");
});

const LONG = 15 * 1024 * 1024;
const long = (unit: string) =>
  unit.repeat(LONG / new TextEncoder().encode(unit).length);
const C1 = String.fromCharCode(...Array(33).keys().map((it) => it + 0x7f));
const replied = (json: string) =>
  `{"event":"complete","instructorState":{"explanation":"x${json}"}}`;

/** JSON of 15 MiB that is slow for a function that is called for each match. */
const LONG_LINES: readonly string[] = [
  replied(long("\\n") + "\\ud83d"),
  replied(long("\\ud83d")),
  replied(long(C1)),
  replied(long('\\"')),
  replied(long("\\r")),
  replied(long("\u2028")),
  replied(long("\\u001b]")),
  `{"event":"progress","node":"n","status":"${long(C1)}"}`,
  `{"event":"error","message":"${long("\u2028")}"}`,
  `{"event":"complete","messages":[{"${long(C1)}":1}]}`,
];

Deno.test("ten hostile lines of 15 MiB keep neither the time limit nor SIGTERM waiting", async () => {
  for (const line of LONG_LINES) {
    const stream = answer(200, `data: ${line}\n\n`);
    await using service = serveStreams(stream, stream);
    const start = (...args: string[]) =>
      new Client({
        args: ["--json", "-p", "a", ...args],
        env: settings(service),
        keepsStdout: false,
      });
    await using limited = start("--timeout", "2");
    const started = performance.now();
    await limited.status;
    assertLess(performance.now() - started, 8_000, line.slice(0, 80));

    await using ended = start();
    await until(() => service.requests.length === 6);
    ended.kill("SIGTERM");
    const killed = performance.now();
    await ended.status;
    assertLess(performance.now() - killed, 3_000, line.slice(0, 80));
  }
});
