import { assertEquals, assertFalse, assertMatch } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "../../docs/check.schema.json" with { type: "json" };
import { runClient, settings } from "../support/client_process.ts";
import { events, progress } from "../support/service/behaviours.ts";
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
    ([name, text]) => `${name}: ${text.split(" ")[0]}`,
  );
  assertEquals(states, [
    "settings: ok",
    "proxy: ok",
    "thread: ok",
    "wrong key: ok",
    "run: ok",
    "events: ok",
    "live: ok",
    "reply: ok",
  ]);
  assertMatch(
    lines.get("events") ?? "",
    /^ok progress: 4, the first after [\d.]+ s, the last after [\d.]+ s$/,
  );
  assertMatch(lines.get("reply") ?? "", /^ok came after [\d.]+ s$/);
});

const steps = [progress("plan", "started"), progress("write", "started")];

Deno.test("--check -p --timeout tells what came in time, and that no reply did", async () => {
  await using service = serveStreams(
    events(steps, { end: "hang", firstId: 1 }),
  );
  const { code, lines } = await check(service, { args: ["--timeout", "5"] });

  assertEquals(code, 1);
  assertMatch(lines.get("events") ?? "", /^ok progress: 2/);
  assertMatch(
    lines.get("reply") ?? "",
    /^failed There was no reply within 5 s/,
  );
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
  assertEquals(
    schema.properties.name.enum,
    lines.map(({ name }) => name),
  );
  const moments = lines.filter(({ at }) => typeof at === "number");
  assertEquals(moments.map(({ name }) => name), ["events", "live", "reply"]);
  const { text, operation, fate, status } = lines.at(-1);
  assertMatch(text, /^The run failed: bad \.\.\. \(/);
  assertEquals([operation, fate, status], [
    ...["stream run", "failed", undefined],
  ]);
  assertFalse(stdout.includes(TEST_KEY));
});
