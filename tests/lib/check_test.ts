import { assertEquals, assertMatch } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { runCheck } from "../../lib/check.ts";
import { Report, type ReportLine } from "../../lib/check/report.ts";
import { FakeClock } from "../support/clocks.ts";
import { hang } from "../support/service/behaviours.ts";
import { TEST_KEY } from "../support/service/service.ts";
import { serviceError } from "../support/service_errors.ts";
import { startService } from "../support/turns.ts";
import { redacted } from "../support/texts.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

/** Calls `act` with the key as the only variable of the environment. */
async function withKey(act: () => Promise<void>): Promise<void> {
  const { get, delete: remove } = Deno.env;
  // Tests in parallel share the environment of their process.
  Deno.env.get = (name) => name === "APP_API_KEY" ? TEST_KEY : undefined;
  Deno.env.delete = () => {};
  try {
    await act();
  } finally {
    Object.assign(Deno.env, { get, delete: remove });
  }
}

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

Deno.test("runCheck() waits 30 s for a thread", async () => {
  using clock = new FakeClock();
  await using service = startService({ "create thread": [hang()] });
  const stdout = keptOutput();
  const others = { prompt: undefined, timeLimit: undefined, json: false };
  await withKey(async () => {
    const checked = runCheck({ baseUrl: service.url, stdout, ...others });
    await service.waitFor("create thread");
    clock.elapse(30_000);
    assertEquals(await checked, false);
  });
  assertMatch(
    stdout.report,
    /^failed {2}thread .*no reply within 30 s. Try again/m,
  );
});

Deno.test("runCheck() ends at the time limit, also if a wrong key gets no answer", async () => {
  using clock = new FakeClock();
  await using service = startService({
    "create thread": [(_, { normal }) => normal(), hang()],
  });
  const stdout = keptOutput();
  const others = { prompt: "hello", timeLimit: 2000, json: false };
  await withKey(async () => {
    const checked = runCheck({ baseUrl: service.url, stdout, ...others });
    await service.waitFor("create thread", 2);
    clock.passTo(2000);
    assertEquals(await checked, false);
  });
  assertMatch(stdout.report, /^note {4}wrong key .* gets no answer; answer/m);
  assertMatch(stdout.report, /^failed {2}run .*no reply within 2 s/m);
  assertEquals(clock.time, 2000);
});

Deno.test("runCheck() ends 5 s after the time limit if nobody reads the report", async () => {
  using clock = new FakeClock();
  const stdout = { write: () => new Promise<void>(() => {}) };
  const others = { prompt: undefined, timeLimit: 2000, json: false };
  let isGood: boolean | undefined;
  const checked = runCheck({ baseUrl: undefined, stdout, ...others })
    .then((result) => isGood = result);
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
