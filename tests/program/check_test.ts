import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "../../docs/check.schema.json" with { type: "json" };
import { Client, runClient, settings } from "../support/client_process.ts";
import { environment, NAME, tls } from "../support/corporate_network.ts";
import { Folder } from "../support/environment.ts";
import { tunnels } from "../support/faulty_service/answers.ts";
import {
  FaultyService,
  unreachable,
} from "../support/faulty_service/service.ts";
import { longestPiece } from "../support/key_pieces.ts";
import { missing } from "../support/real_service.ts";
import {
  answer,
  type Behaviour,
  body,
  complete,
  delayed,
  hang,
  json,
  progress,
} from "../support/service/behaviours.ts";
import type { Operation } from "../support/service/exchange.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { NAMED_BY, untrue } from "../support/service_commands.ts";

type Service = Partial<Record<Operation, Behaviour>>;

const EVENTS = [progress("plan", "done"), complete("Done.")];
const sse = { "content-type": "text/event-stream" };
const event = (value: unknown, id: number) =>
  `id: ${id}\ndata: ${JSON.stringify(value)}\n\n`;
const ALL = EVENTS.map(event).join("");

/** A service whose stream is this text; whoever resumes it gets what `resumed` answers. */
function stream(text: string, resumed: Behaviour = answer(204)): Service {
  return {
    stream: (request, context) =>
      request.headers.has("last-event-id")
        ? resumed(request, context)
        : body([text], { headers: sse })(),
  };
}

/** A service that answers other keys so when they create a thread. */
function strangers(behaviour: Behaviour): Service {
  return {
    "create thread": (request, context) =>
      request.headers.get("x-api-key") === TEST_KEY
        ? context.normal()
        : behaviour(request, context),
  };
}

/** Sends what comes after the first event, as it should be. */
const rest: Behaviour = body([event(EVENTS[1], 1)], { headers: sse });

/** What is wrong, as the table of docs/service.md says it; a service; the words. */
// deno-fmt-ignore: a table, one service a line
const SERVICES: readonly (readonly [wrong: string, service: Service, says?: RegExp])[] = [
  ["No `thread_id` is found", { "create thread": json({ id: "t" }) }, /contains no thread_id/],
  ["A wrong key creates threads", strangers(json({ thread_id: "t" })), /creates threads; answer 401/],
  ["A wrong key is refused with another status", strangers(json({ error: "no" })), /gets 200; answer 401/],
  ["A wrong key is refused with another status", strangers(answer(429)), /gets 429; answer 401/],
  ["No `run_id` is found", { "create run": json({ id: "r" }) }, /contains no run_id/],
  ["The stream is refused, compressed, HTML, redirected", { stream: answer(403) }, /rejected the API key/],
  ["No event is known", stream(event({ type: "complete" }, 0)), /1 JSON object had no "event"/],
  ["The run fails, or its stream ends too early", stream(event({ event: "error", error: "No" }, 0)), /The run failed: No/],
  ["All events come at the end", { stream: delayed(2_100, body([ALL], { headers: sse })) }, /the service \(flush after each event\), or by a reverse proxy/],
  ["The stream is cut, and resumed", { stream: (request, context) => request.headers.has("last-event-id") ? rest(request, context) : body([event(EVENTS[0], 0)], { headers: sse, end: "break" })() }, /interrupted \(1, first: connection lost\)/],
  ["There is no reply, or its messages cannot be read", stream(event({ event: "complete" }, 0)), /no reply found, so users see "Run completed\."/],
  ["Events with other names", stream(event({ event: "step" }, 9) + ALL, rest), /1 event was not known: "step"; see/],
  ["Other lines, for example a warning of PHP", stream(`<b>Warning</b>\n${ALL}`, rest), /1 line had no "data:" before it: <b>/],
  ["Another content type", { stream: answer(200, ALL, { "content-type": "text/plain" }) }],
  ["No ids, or ids that repeat", stream(ALL.replace("id: 1", "id: 0"))],
  ["The end of the run cannot be asked for again", stream(ALL, answer(404))],
];

const COMMENTS = "No comments"; // see services_test.ts

Deno.test("the table of docs/service.md has the services that are tried here", () => {
  const rows = new Set(SERVICES.map(([wrong]) => wrong));
  assertEquals([...rows, COMMENTS].sort(), [...NAMED_BY.keys()].sort());
});

/** Runs the check. Returns its exit code, and its lines by their names. */
async function check(options: {
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}) {
  const args = ["--check", ...options.args ?? []];
  const { code, stdout, stderr } = await runClient({ ...options, args });
  assertEquals(stderr, "");
  const lines = stdout.trimEnd().split("\n").slice(1).map((line) =>
    line.replace(/ +(?:\d+ ms)? +/g, " ")
  );
  return { code, lines, complaints: lines.filter((it) => /^[nf]/.test(it)) };
}

const HELLO = ["-p", "hello"];

for (const [wrong, behaviours, says] of SERVICES) {
  const by = NAMED_BY.get(wrong) ?? "nothing";
  const who = says === undefined ? "curl and jq, not --check" : "--check";
  Deno.test({
    name: `${who} -p of a broken service: ${wrong}: named by ${by}`,
    ignore: says === undefined && missing("example in js") !== undefined,
    async fn() {
      await using service = ReferenceService.start();
      for (const [operation, behaviour] of Object.entries(behaviours)) {
        service.misbehave(operation as Operation, behaviour, Infinity);
      }
      const env = settings(service);
      const { code, complaints } = await check({ args: HELLO, env });
      const [first = "", ...more] = complaints;
      assertEquals(more, []);
      assertEquals(code, first.startsWith("failed") ? 1 : 0);
      if (says !== undefined) {
        assert(first.startsWith(by), first);
        assertMatch(first, says);
      } else {
        assertEquals(first, "");
        assert((await untrue(service, "hello")).includes(by));
      }
    },
  });
}

Deno.test("--check -p of a sound service has no complaint, and exits 0", async () => {
  await using service = ReferenceService.start({ ids: true, pace: 600 });
  const { code, lines } = await check({ args: HELLO, env: settings(service) });
  const key = `key of ${TEST_KEY.length} characters from the environment`;
  // deno-fmt-ignore: a row
  const told = [
    RegExp(`^ok settings ${key}, service ${service.url} from the environment$`),
    /^ok proxy none for a service on this machine$/, /^ok thread [\w-]{36} was created: the key is accepted$/,
    /^ok wrong key a thread with a wrong key gets 401$/, /^ok run [\w-]+ was accepted$/,
    /^ok events progress: 4, the first after [\d.]+ s, the last after [\d.]+ s$/,
    /^ok live events arrived as they happened$/, /^ok reply came after [\d.]+ s$/,
  ];
  assertEquals([code, lines.length], [0, told.length]);
  told.forEach((words, index) => assertMatch(lines[index] ?? "", words));
  assert(longestPiece(lines.join("\n"), TEST_KEY) < 5);
});

Deno.test("--check without -p creates a thread and no run, and names .env as the source", async () => {
  await using service = ReferenceService.start();
  using both = new Folder(
    `APP_API_KEY=${TEST_KEY}\nAPP_BASE_URL=${service.url}\n`,
  );
  const { code, lines } = await check({ env: {}, cwd: both.path });
  assertEquals([code, lines.length], [0, 3]);
  assertMatch(lines[0] ?? "", /from \.env, service \S+ from \.env$/);
  const operations = service.requests.map(({ operation }) => operation);
  assertEquals(operations, ["create thread"]);
});

Deno.test("--check warns of ignored settings before what failed", async () => {
  using ignored = new Folder("APP_BASE_URL=https://other.example\n");
  const env = { APP_API_KEY: TEST_KEY };
  const { lines } = await check({ env, cwd: ignored.path });
  assertMatch(lines[1] ?? "", /^note settings Ignoring APP_BASE_URL in/);
});

/** Variables, what creating a thread is answered, if it is asked for, and the last line. */
// deno-fmt-ignore: a table
const FAILED: readonly (readonly [env: Readonly<Record<string, string>>, words: RegExp, answer?: Behaviour])[] = [
  [{}, /^failed settings APP_API_KEY is not set: /],
  [{ APP_API_KEY: TEST_KEY }, /^failed thread .*APP_BASE_URL.*--base-url/],
  [settings({ url: unreachable() }), /^failed thread .* refused.*\. Check the base URL, the network/],
  [{ APP_API_KEY: TEST_KEY }, /^failed thread The service rejected the API key \(401: no \.\.\. next\)/, answer(401, `no\x1b[31m ${TEST_KEY}\x9b2J\nnext`)],
];

for (const [variables, words, behaviour] of FAILED) {
  Deno.test(`--check fails, and says what to do: ${words.source}`, async () => {
    await using service = ReferenceService.start();
    if (behaviour) service.misbehave("create thread", behaviour);
    const url = behaviour && { APP_BASE_URL: service.url };
    const { code, lines } = await check({ env: { ...variables, ...url } });
    assertEquals(code, 1);
    assertMatch(lines.at(-1) ?? "", words);
  });
}

Deno.test("--check -p --json is as docs/check.schema.json says, without the key", async () => {
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  const failure = { event: "error", message: `bad ${TEST_KEY}` };
  await using service = ReferenceService.start();
  service.misbehave("stream", body([event(EVENTS[0], 0), event(failure, 1)]));
  const args = ["--check", "--json", ...HELLO];
  const { code, stdout } = await runClient({ args, env: settings(service) });
  const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals([code, lines.filter((line) => !validate(line))], [1, []]);
  assertEquals(lines.map(({ name }) => name), schema.properties.name.enum);
  const moments = lines.filter(({ at }) => typeof at === "number");
  assertEquals(moments.map(({ name }) => name), ["events", "live", "reply"]);
  const { text, operation, fate } = lines.at(-1);
  assertMatch(text, /^The run failed: bad \.\.\./);
  assertEquals([operation, fate], ["stream run", "failed"]);
  assert(longestPiece(stdout, TEST_KEY) < 12);
});

Deno.test("--check tries the proxy in between, and shows neither its user nor its password", async () => {
  await using service = ReferenceService.start({ tls });
  const port = Number(new URL(service.url).port);
  await using proxy = await FaultyService.start(tunnels(() => port));
  const HTTPS_PROXY = proxy.url.replace("//", "//user:secret@");
  const env = environment(`https://${NAME}`, { HTTPS_PROXY });
  const { code, lines } = await check({ env });
  assertEquals([code, lines[1]], [0, `ok proxy ${proxy.url} from HTTPS_PROXY`]);
  assertFalse(lines.join("\n").includes("secret"));
});

Deno.test({
  name: "--check ends at SIGINT with 130, whatever it waits for",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using service = ReferenceService.start();
    service.misbehave("create thread", hang());
    const env = settings(service);
    await using client = new Client({ args: ["--check"], env });
    await service.waitFor("create thread");
    client.kill("SIGINT");
    assertEquals((await client.output()).code, 130);
  },
});
