import { assertEquals, assertFalse, assertMatch } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "../../docs/check.schema.json" with { type: "json" };
import { runClient, settings } from "../support/client_process.ts";
import type { Operation } from "../support/service/exchange.ts";
import {
  answer,
  type Behaviour,
  complete,
  events,
  hang,
  json,
  progress,
} from "../support/service/behaviours.ts";
import {
  ReferenceService,
  serveStreams,
  TEST_KEY,
} from "../support/service/service.ts";

const COLUMNS = /^(ok|note|failed|-) +(\S+(?: \S+)?) +(?:(\d+) ms)? +(\S.*)$/;

/** Runs `--check -p`. Returns its exit code, and its lines by their names. */
async function check(
  { url }: { readonly url: string },
  { args = [], env = {} }: {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<{ code: number; lines: Map<string, string> }> {
  const { code, stdout, stderr } = await runClient({
    args: ["--check", "-p", "hello", ...args],
    env: { ...settings({ url }), ...env },
  });
  assertEquals(stderr, "");
  const lines = new Map<string, string>();
  for (const line of stdout.trimEnd().split("\n").slice(1)) {
    const [, state, name = "", , text] = COLUMNS.exec(line) ?? [line];
    lines.set(name, `${state} ${text}`);
  }
  return { code, lines };
}

Deno.test("--check -p of the reference service has no note, and exits 0", async () => {
  await using service = ReferenceService.start({ ids: true, pace: 600 });
  const { code, lines } = await check(service);

  assertEquals(code, 0);
  const states = Array.from(
    lines,
    ([name, text]) => [name, text.split(" ")[0]],
  );
  assertEquals(Object.fromEntries(states), {
    settings: "ok",
    proxy: "ok",
    thread: "ok",
    run: "ok",
    stream: "ok",
    events: "ok",
    live: "ok",
    ids: "ok",
    silence: "-",
    lines: "ok",
    end: "ok",
    reply: "ok",
    "wrong key": "ok",
    resume: "ok",
  });
  assertMatch(
    lines.get("events") ?? "",
    /^ok 5 known, 0 unknown, the first after [\d.]+ s, the last after [\d.]+ s$/,
  );
});

const steps = [progress("plan", "started"), progress("write", "started")];
const done = complete("Done.");

/** A stream that loses the reply, and what is told about it. */
const LOSSES: readonly (readonly [Behaviour, string, RegExp])[] = [
  [json({ message: "no" }, 404), "stream", /^failed .* 404 .*: no \(thread/],
  [events(steps, { end: "break" }), "end", /^failed the connection to .*broke/],
];

for (const [stream, name, told] of LOSSES) {
  Deno.test(`--check -p tells of a stream that loses the reply: ${told}`, async () => {
    await using service = serveStreams(stream);
    const { code, lines } = await check(service);
    assertMatch(lines.get(name) ?? "", told);
    assertEquals(code, 1);
  });
}

Deno.test("--check -p --timeout tells what came in time, and that the run was not complete", async () => {
  await using service = serveStreams(
    events(steps, { end: "hang", firstId: 1 }),
  );
  const { code, lines } = await check(service, { args: ["--timeout", "10"] });

  assertEquals(code, 1);
  assertMatch(lines.get("events") ?? "", /^ok 2 known/);
  assertMatch(lines.get("end") ?? "", /^failed there was no reply within 10 s/);
});

/** Answers to a wrong key, and to a stream that is resumed after the reply. */
const REQUESTS: readonly (readonly [Operation, Behaviour, string, RegExp])[] = [
  [
    "create thread",
    json({ thread_id: "t" }),
    "wrong key",
    /^failed a wrong key creates threads; answer 401$/,
  ],
  [
    "create thread",
    answer(500),
    "wrong key",
    /^note a thread with a wrong key gets 500; answer 401$/,
  ],
  ["stream", answer(404), "resume", /^note .* was answered with 404; keep a/],
  ["stream", events([]), "resume", /^note .* ended without the reply; keep/],
  ["stream", hang(), "resume", /^note .* timed out; keep a run's events for/],
];

for (const [operation, behaviour, name, told] of REQUESTS) {
  Deno.test(`--check -p tries more than the run: ${name}: ${told}`, async () => {
    await using service = ReferenceService.start({ ids: true });
    service.misbehave(operation, (_, { normal }) => normal()); // the run's own
    service.misbehave(operation, behaviour);
    const { code, lines } = await check(service);
    assertMatch(lines.get(name) ?? "", told);
    assertEquals(code, told.source.startsWith("^failed") ? 1 : 0);
  });
}

Deno.test("--check -p follows a stream that is cut as a prompt does, and notes it", async () => {
  await using service = serveStreams(
    events(steps, { end: "break", firstId: 1 }),
    events([done], { firstId: 3 }),
  );
  const { code, lines } = await check(service);
  assertMatch(
    lines.get("end") ?? "",
    /^note .* cuts in its stream: 1, resumed/,
  );
  assertEquals(code, 0);
});

Deno.test("--check -p --json is as docs/check.schema.json says, without the key", async () => {
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  await using service = serveStreams(
    events([...steps, { event: "error", message: `bad ${TEST_KEY}` }]),
  );
  const { code, stdout, stderr } = await runClient({
    args: ["--check", "--json", "-p", "hello"],
    env: settings(service),
  });

  assertEquals([code, stderr], [1, ""]);
  const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines.filter((line) => !validate(line)), []);
  const { text, at, ...end } = lines.find(({ name }) => name === "end");
  assertEquals(
    text,
    "the run failed: left out, because it may contain the API key",
  );
  assertEquals([typeof at, end.operation, end.fate, end.status], [
    ...["number", "stream run", "failed", undefined],
  ]);
  assertFalse(stdout.includes(TEST_KEY));
});

Deno.test("--check -p --verbose writes each line of the stream to standard error, clean and without the key", async () => {
  await using service = serveStreams(
    events([`: hi\n\nx\x1b[31m ${TEST_KEY}\n`, "\x1b[31my\x9b2J\n", done]),
  );
  const { code, stderr } = await runClient({
    args: ["--check", "--verbose", "-p", "hello"],
    env: settings(service),
  });
  assertEquals([code, stderr.split("\n")], [0, [
    ": hi",
    "",
    "left out, because it may contain the API key",
    "y",
    `data: ${JSON.stringify(done)}`,
    "",
  ]]);
});
