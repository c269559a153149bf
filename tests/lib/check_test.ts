import { assertEquals, assertMatch } from "@std/assert";
import { runCheck } from "../../lib/check.ts";
import { Report } from "../../lib/check/report.ts";
import { FakeClock } from "../support/clocks.ts";
import { hang } from "../support/service/behaviours.ts";
import { TEST_KEY } from "../support/service/service.ts";
import { startService } from "../support/turns.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

Deno.test("runCheck() waits 30 s for a thread", async () => {
  using clock = new FakeClock();
  await using service = startService({ "create thread": [hang()] });
  const { get, delete: remove } = Deno.env;
  // Tests in parallel share the environment of their process.
  Deno.env.get = (name) => name === "APP_API_KEY" ? TEST_KEY : undefined;
  Deno.env.delete = () => {};
  let report = "";
  const stdout = {
    write: (bytes: Uint8Array) =>
      Promise.resolve(void (report += new TextDecoder().decode(bytes))),
  };
  const others = { prompt: undefined, timeLimit: undefined, json: false };
  try {
    const checked = runCheck({ baseUrl: service.url, stdout, ...others });
    await service.waitFor("create thread");
    clock.pass();
    assertEquals(await checked, false);
  } finally {
    Object.assign(Deno.env, { get, delete: remove });
  }
  assertMatch(report, /^failed {2}thread .*no reply within 30 s. Try again/m);
});

Deno.test("Report writes clean text, and escapes what JSON leaves as it is", async () => {
  const forms = [
    [false, "note    live                  a b\u2028# #[c\n"],
    [
      true,
      '{"type":"check","state":"note","name":"live","text":"a b\\u2028# #[c","at":2}\n',
    ],
  ] as const;
  for (const [json, shown] of forms) {
    let written = "";
    const write = (bytes: Uint8Array) =>
      Promise.resolve(void (written += new TextDecoder().decode(bytes)));
    const text = "a\x1b[31m\nb\u202e\u2028##[c";
    const report = new Report({ write }, { json });
    await report.add({ state: "note", name: "live", text, at: 1.6 });
    assertEquals(written, shown);
  }
});
