import { assertEquals, assertNotMatch } from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import fc from "../support/generated.ts";
import { times } from "../support/repetitions.ts";
import {
  answer,
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import { promptsOf, serveStreams } from "../support/service/service.ts";

// What is removed of a text is tested in tests/lib/text/plain_text_test.ts, and that
// standard error is clean in calls_test.ts.

/** Text that controls a terminal. */
const HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b2J\x00\x7f\u202etxt";

/** Texts of any UTF-16 code units, half of them surrogates. */
const text = fc.array(
  fc.oneof(fc.integer({ min: 0xd800, max: 0xdfff }), fc.nat(0xffff)),
  { maxLength: 6 },
).map((codes) => String.fromCharCode(...codes));

const NAMES = fc.sample(fc.tuple(text, text), times(100_000));

/** Each line has all that strict readers of JSON take, and the names as they were. */
function assertNames(lines: string): void {
  const names = lines.trimEnd().split("\n").map((line) => JSON.parse(line))
    .map((value) => value.params?.update?._meta ?? value)
    .filter(({ node }) => node !== undefined)
    .map(({ node, status }) => [node, status]);
  assertEquals(names, NAMES.map((pair) => pair.map((it) => it.toWellFormed())));
}

Deno.test("strict readers of JSON take each line of --json and of the bridge, which hands text on as it is, and errors clean", async () => {
  const steps = NAMES.map(([node, status]) => progress(node, status));
  const stream = events([...steps, complete(`\ud83d ${HOSTILE} \ude00`)]);
  await using service = serveStreams(stream, stream);
  service.misbehave("create run", json({ message: HOSTILE }, 400));
  const env = settings(service);
  const { stdout } = await runClient({ args: ["--json", "-p", "a"], env });
  assertNames(stdout);
  // deno-lint-ignore no-control-regex -- these must not be in it
  assertNotMatch(stdout, /[\0-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]/);

  await using editor = new Editor({ env });
  const sessionId = await editor.newSession();
  const { error: nul } = await editor.prompt(sessionId, "a \0");
  await editor.prompt(sessionId, "he said hi \ud83d");
  assertEquals(promptsOf(service).at(-1), "he said hi \ufffd");
  const { error: refused } = await editor.prompt(sessionId, "b");
  assertEquals([nul?.code, refused?.message], [
    ...[-32602, "The service answered 400: redtxt."],
  ]);
  assertEquals(editor.texts(sessionId, "agent_message_chunk"), [
    `\ufffd ${HOSTILE} \ufffd`,
  ]);
  const output = await editor.finish();
  assertNames(output.stdout);
  // deno-lint-ignore no-control-regex -- some readers end a line at these
  assertNotMatch(output.stdout, /[\0-\x09\x0b-\x1f\x85\u2028\u2029]/);
  assertEquals(output.stderr, "");
});

const LONG = 15 * 1024 * 1024;
const long = (unit: string) =>
  unit.repeat(LONG / new TextEncoder().encode(unit).length);
const C1 = String.fromCharCode(...Array(33).keys().map((it) => it + 0x7f));
const REPLIED = '{"event":"complete","instructorState":{"explanation":"x?"}}';

/** JSON that is slow for a function that is called for each match; `?` is repeated. */
const LONG_LINES: readonly (readonly [json: string, unit: string])[] = [
  [REPLIED.replace("?", "?\\ud83d"), "\\n"],
  ...["\\ud83d", C1, '\\"', "\\r", "\u2028", "\\u001b]"].map((unit) =>
    [REPLIED, unit] as const
  ),
  ['{"event":"progress","node":"n","status":"?"}', C1],
  ['{"event":"error","message":"?"}', "\u2028"],
  ['{"event":"complete","messages":[{"?":1}]}', C1],
];

/**
 * Asserts that a program ends within a time, in one of five attempts: a busy machine may
 * keep it waiting.
 *
 * @param most In milliseconds, after it had to end.
 * @param run Runs the program; tells how late it ended.
 */
async function assertEnds(
  most: number,
  run: () => Promise<number>,
  json: string,
): Promise<void> {
  const times: number[] = [];
  while (times.length < 5) {
    const late = await run();
    if (late < most) return;
    times.push(late);
  }
  throw new Error(`It ended ${times} ms too late, with ${json}`);
}

Deno.test("ten hostile lines of 15 MiB keep neither the time limit nor SIGTERM waiting", async () => {
  for (const [json, unit] of LONG_LINES) {
    const [start, end] = json.split("?");
    const stream = answer(200, `data: ${start}${long(unit)}${end}\n\n`);
    const run = async (...limit: string[]) => {
      await using service = serveStreams(stream);
      await using client = new Client({
        args: ["--json", "-p", "a", ...limit],
        env: settings(service),
        keepsStdout: false,
      });
      let due = performance.now() + 2_000;
      if (limit.length === 0) {
        await service.waitFor("stream");
        client.kill("SIGTERM");
        due = performance.now();
      }
      await client.status;
      return performance.now() - due;
    };
    await assertEnds(6_000, () => run("--timeout", "2"), json);
    await assertEnds(3_000, run, json);
  }
});
