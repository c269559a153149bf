import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { runCheck, type RunCheckOptions } from "../../lib/check.ts";
import { Report, type ReportLine } from "../../lib/check/report.ts";
import { FakeClock } from "../support/clocks.ts";
import {
  answer,
  type Behaviour,
  body,
  complete,
  hang,
  progress,
  sleep,
} from "../support/service/behaviours.ts";
import type { Operation } from "../support/service/exchange.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { NAMED_BY } from "../support/service_commands.ts";
import { serviceError } from "../support/service_errors.ts";
import { stub } from "../support/stubs.ts";
import { rowsOf } from "../support/tables.ts";
import { redacted } from "../support/texts.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

/** A standard output that keeps the report. */
function keptOutput() {
  const output = {
    report: "",
    write(bytes: Uint8Array) {
      output.report += new TextDecoder().decode(bytes);
      return Promise.resolve();
    },
  };
  return output;
}

/**
 * Runs the check, with the key and other variables in the environment. Returns whether
 * it is good, and its lines without that of the version and without blanks and times.
 */
async function check(
  { url }: { readonly url: string },
  options: Partial<RunCheckOptions> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly isGood: boolean; readonly lines: readonly string[] }> {
  // Tests in parallel share the environment of their process.
  using _ = stub(Deno.env, {
    get: (name) => ({ APP_API_KEY: TEST_KEY, ...env })[name],
    delete() {},
  });
  const stdout = keptOutput();
  const others = { prompt: undefined, timeLimit: undefined, json: false };
  const asked = { baseUrl: url, stdout, ...others, ...options };
  const isGood = await runCheck(asked);
  const lines = stdout.report.trimEnd().split("\n").slice(1);
  return {
    isGood,
    lines: lines.map((it) => it.replace(/ +(?:\d+ ms)? +/g, " ")),
  };
}

/** A service that answers an operation so, or the creation of a thread with another key. */
function start(
  operation: Operation | "other key",
  behaviour: Behaviour,
): ReferenceService {
  const service = ReferenceService.start();
  const others: Behaviour = (request, context) =>
    request.headers.get("x-api-key") === TEST_KEY
      ? context.normal()
      : behaviour(request, context);
  if (operation !== "other key") {
    service.misbehave(operation, behaviour, Infinity);
  } else service.misbehave("create thread", others, Infinity);
  return service;
}

const STREAM = [progress("plan", "done"), complete("Done.")]
  .map((event, id) => `id: ${id}/data: ${JSON.stringify(event)}//`);

/**
 * A status, and a body; or the lines of a stream, with `/` between them, and after `!`, at
 * which it breaks, those of the one that resumes it.
 */
function behaviourOf(text: string): Behaviour {
  const [, status, content] = /^(\d{3}) ?(.*)/.exec(text) ?? [];
  if (status !== undefined) return answer(Number(status), content);
  const [lines = "", rest] = text.replace("STREAM", STREAM.join(""))
    .replaceAll("/", "\n").split("!");
  return async ({ headers }, { signal }) => {
    // All events at the end, after more than 2 s.
    if (lines.startsWith(": late")) await sleep(2_100, signal);
    if (!headers.has("last-event-id")) {
      return body([lines], { end: rest === undefined ? "close" : "break" })();
    }
    return rest === undefined ? answer(204)() : body([rest])();
  };
}

/** What is wrong, as the table of docs/service.md says it; what a service answers; the words. */
const SERVICES = rowsOf<"wrong" | "operation" | "answer" | "says">(`
wrong                                               | operation     | answer | says
No 'thread_id' is found                             | create thread | 200 {"id":"t"} |
A wrong key creates threads                         | other key     | 200 {"thread_id":"t"} | creates threads; answer 401
A wrong key is refused with another status          | other key     | 200 {"error":"no"} | gets 200; answer 401
A wrong key is refused with another status          | other key     | 429 | gets 429; answer 401
No 'run_id' is found                                | create run    | 200 {"id":"r"} |
The stream is refused, compressed, HTML, redirected | stream        | 403 |
No event is known                                   | stream        | id: 0/data: {"type":"complete"}// |
The run fails, or its stream ends too early         | stream        | id: 0/data: {"event":"error"}// |
All events come at the end                          | stream        | : late/STREAM | the service (flush after each event), or by a reverse proxy
The stream is cut, and resumed                      | stream        | ${
  STREAM.join("!")
} | interrupted (1, first: connection lost)
There is no reply, or its messages cannot be read   | stream        | id: 0/data: {"event":"complete"}// | no reply found, so users see "Run completed."
Events with other names                             | stream        | id: 9/data: {"event":"step"}//STREAM |
Other lines, for example a warning of PHP           | stream        | Warning: no/STREAM |
`.replaceAll("'", "`"));

for (const { wrong, operation, says, ...row } of SERVICES) {
  const by = NAMED_BY.get(wrong) ?? "nothing";
  Deno.test(`runCheck() with a prompt: ${wrong}: named by ${by}`, async () => {
    const behaviour = behaviourOf(row.answer);
    await using service = start(operation as Operation, behaviour);
    const { isGood, lines } = await check(service, { prompt: "hello" });
    const [first = "", ...more] = lines.filter((line) => /^[nf]/.test(line));
    assertEquals([first.slice(0, by.length), ...more], [by]);
    assertStringIncludes(first, says);
    assertEquals(isGood, first.startsWith("note"));
  });
}

Deno.test("runCheck() is tried with what the table of docs/service.md says that it names", () => {
  const named = [...NAMED_BY].filter(([, by]) => /^(?:note|failed) /.test(by));
  const tried = new Set(SERVICES.map(({ wrong }) => wrong));
  assertEquals([...tried].sort(), named.map(([wrong]) => wrong).sort());
});

Deno.test("runCheck() has no complaint about a sound service", async () => {
  await using service = ReferenceService.start({ ids: true, pace: 600 });
  const { isGood, lines } = await check(service, { prompt: "hello" });
  // deno-fmt-ignore: a row
  const told = [
    RegExp(`^ok settings key of ${TEST_KEY.length} characters from the environment, service ${service.url} from --base-url$`),
    /^ok proxy none for a service on this machine$/, /^ok thread [\w-]{36} was created: the key is accepted$/,
    /^ok wrong key a thread with a wrong key gets 401$/, /^ok run [\w-]+ was accepted$/,
    /^ok events progress: 4, the first after [\d.]+ s, the last after [\d.]+ s$/,
    /^ok live events arrived as they happened$/, /^ok reply came after [\d.]+ s$/,
  ];
  assertEquals([isGood, lines.length], [true, told.length]);
  told.forEach((words, index) => assertMatch(lines[index] ?? "", words));

  await using strict = start("other key", answer(403));
  const { lines: others } = await check(strict, { prompt: "hello" });
  assertEquals(others[3], "ok wrong key a thread with a wrong key gets 403");
});

Deno.test("runCheck() names the proxy, and neither its user nor its password", async () => {
  const HTTPS_PROXY = "http://user:secret@127.0.0.1:1";
  const options = { timeLimit: 1 };
  const { lines } = await check({ url: "https://a.example" }, options, {
    HTTPS_PROXY,
  });
  assertEquals(lines[1], "ok proxy http://127.0.0.1:1 from HTTPS_PROXY");
});

Deno.test("runCheck() without a prompt creates a thread and no run", async () => {
  await using service = ReferenceService.start();
  const { isGood, lines } = await check(service);
  assertEquals([isGood, lines.length], [true, 3]);
  const operations = service.requests.map(({ operation }) => operation);
  assertEquals(operations, ["create thread"]);
});

Deno.test("runCheck() waits 30 s for a thread", async () => {
  using clock = new FakeClock();
  await using service = start("create thread", hang());
  const checked = check(service);
  await service.waitFor("create thread");
  clock.elapse(30_000);
  const { isGood, lines } = await checked;
  assertEquals(isGood, false);
  assertMatch(
    lines.at(-1) ?? "",
    /^failed thread .*no reply within 30 s. Try again/,
  );
});

Deno.test("runCheck() ends at the time limit, also if a wrong key gets no answer", async () => {
  using clock = new FakeClock();
  await using service = start("other key", hang());
  const checked = check(service, { prompt: "hello", timeLimit: 2000 });
  await service.waitFor("create thread", 2);
  clock.passTo(2000);
  const { isGood, lines } = await checked;
  assertEquals([isGood, clock.time], [false, 2000]);
  assertMatch(lines.at(-2) ?? "", /^note wrong key .* gets no answer; answer/);
  assertMatch(lines.at(-1) ?? "", /^failed run .*no reply within 2 s/);
});

Deno.test("runCheck() ends 5 s after the time limit if nobody reads the report", async () => {
  using clock = new FakeClock();
  const stdout = { write: () => new Promise<void>(() => {}) };
  let isGood: boolean | undefined;
  const checked = check({ url: "" }, { stdout, timeLimit: 2000 })
    .then((result) => isGood = result.isGood);
  await setImmediate();
  clock.elapse(2000 + 4900);
  await setImmediate();
  assertEquals(isGood, undefined);
  clock.elapse(1100);
  assertEquals(await checked, false);
});

const error = serviceError("create thread", {
  reason: redacted("No"),
  status: 502,
  stage: "perhaps taken",
});

/** A line, and how it is written in columns and in JSON. */
// deno-fmt-ignore: a table
const LINES: readonly (readonly [line: ReportLine, columns: string, json: string])[] = [
  [
    { state: "note", name: "live", text: redacted("a\x1b[31m\nb\u202e\u2028##[c"), at: 1.6 },
    "note    live                  a b\u2028# #[c\n",
    '{"type":"check","state":"note","name":"live","text":"a b\\u2028# #[c","at":2}\n',
  ],
  [
    { state: "failed", name: "thread", text: redacted("No"), milliseconds: 12.6, error },
    "failed  thread         13 ms  No\n",
    '{"type":"check","state":"failed","name":"thread","text":"No","milliseconds":13,"operation":"create thread","status":502,"fate":"not run"}\n',
  ],
];

Deno.test("Report writes clean text and durations in columns and, in JSON, also moments and what failed", async () => {
  for (const [line, ...forms] of LINES) {
    for (const [index, shown] of forms.entries()) {
      const stdout = keptOutput();
      await new Report(stdout, { json: index === 1 }).add(line);
      assertEquals(stdout.report, shown);
    }
  }
});
