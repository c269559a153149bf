import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "../../docs/check.schema.json" with { type: "json" };
import { Collector, runClient, settings } from "../support/client_process.ts";
import { Front, type FrontName, isInstalled } from "../support/fronts.ts";
import { LocalCa } from "../support/local_ca.ts";
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
    name: "ok",
    connection: "ok",
    TLS: "-",
    thread: "ok",
    run: "ok",
    stream: "ok",
    events: "ok",
    live: "ok",
    ids: "ok",
    resume: "ok",
    silence: "-",
    lines: "ok",
    end: "ok",
    reply: "ok",
    "unknown run": "ok",
    "wrong key": "ok",
  });
  assertMatch(
    lines.get("events") ?? "",
    /^ok 5 known, 0 unknown, the first after [\d.]+ s, the last after [\d.]+ s$/,
  );
});

const steps = [progress("plan", "started"), progress("write", "started")];
const done = complete("Done.");
const record = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

/** A stream, and the lines of the report that are not `ok` or `-` alone. */
const STREAMS: readonly (readonly [
  what: string,
  stream: Behaviour,
  code: 0 | 1,
  told: Readonly<Record<string, RegExp>>,
])[] = [
  ["no ids", events([...steps, done]), 0, {
    ids: /^note no event has one, so a lost stream is a lost reply; give each/,
    live:
      // On a busy machine, events may come apart that were sent together.
      /^(- a run of [\d.]+ s is too short to tell whether events are held back; ask for one that takes longer than 2 s|ok events came as they happened)$/,
  }],
  [
    "ids that repeat",
    events(
      [..."ab", "a"].flatMap((id) => [`id: ${id}\n`, ...steps.slice(1)]).concat(
        done,
      ),
    ),
    0,
    { ids: /^note some repeat, / },
  ],
  [
    "unknown events alone",
    events([record({ event: "token" }), record({})]),
    1,
    {
      events:
        /^failed 2 events came, and none that is known; send lines data: /,
      end: /^failed the stream ended before the run completed; 2 JSON objects/,
      reply: /^- the run was not complete$/,
    },
  ],
  [
    "unknown events among others",
    events([record({ event: "token" }), done]),
    0,
    {
      events: /^ok 1 known, 1 unknown, /,
    },
  ],
  [
    "an event on several lines",
    events(['data: {"event":\ndata: "x"}\n\n', done]),
    0,
    {
      events:
        /^note 1 known, .*; the data of 1 event is on several lines: put each/,
    },
  ],
  [
    "another content type",
    events([...steps, done], { headers: { "content-type": "text/plain" } }),
    0,
    {
      stream: /^note text\/plain; answer with Content-Type: text\/event-stream/,
    },
  ],
  [
    "a web page",
    answer(200, "<title>Hi</title>", { "content-type": "text/html" }),
    1,
    {
      stream:
        /^failed Cannot follow the run: a web page came \(status 200, "Hi"\)/,
    },
  ],
  [
    "compression",
    // Deno 2.6 unpacks gzip, asked or not.
    answer(200, "x", { "content-encoding": "zstd", "server": "Caddy" }),
    1,
    {
      stream:
        /^failed .*the stream is compressed, .*; Caddy: encode with a matcher that leaves text\/event-stream out$/,
    },
  ],
  [
    "a reply in messages",
    events([record({
      event: "complete",
      messages: [{ role: "user", content: "hello" }, {
        type: "ai",
        content: "Hi.",
      }],
    })]),
    0,
    { reply: /^ok in messages\[1\] of 2, which is an assistant's$/ },
  ],
  ["no reply", events([record({ event: "complete" })]), 0, {
    reply: /^note none was found, so users read "Run completed\."; put the/,
  }],
  [
    "messages that cannot be read",
    events([record({ event: "complete", messages: [{ speech: "Hi." }] })]),
    1,
    { reply: /^failed nothing of 1 message can be read, so users read "Run/ },
  ],
  [
    "a failed run",
    events([...steps, record({ event: "error", message: "no" })]),
    1,
    {
      end: /^failed the run failed: no$/,
    },
  ],
  ["nothing but a failure", events([record({ event: "error" })]), 1, {
    events: /^failed no progress and no reply came$/,
    ids: /^- no event came$/,
    end: /^failed the run failed$/,
  }],
  ["no event", events([]), 1, {
    events: /^failed none came$/,
    ids: /^- no event came$/,
    end: /^failed the stream ended before the run completed$/,
  }],
  ["a stream that breaks", events(steps, { end: "break" }), 1, {
    end: /^failed the connection to \S+ broke \(.+\)$/,
  }],
  ["a status", json({ message: "no" }, 404), 1, {
    stream:
      /^failed Cannot follow the run: the service answered 404 .*: no \(thread/,
  }],
];

function assertTold(
  { lines }: { readonly lines: ReadonlyMap<string, string> },
  told: Readonly<Record<string, RegExp>>,
): void {
  for (const [name, line] of Object.entries(told)) {
    assertMatch(lines.get(name) ?? `no line "${name}"`, line);
  }
}

for (const [what, stream, code, told] of STREAMS) {
  Deno.test(`--check -p tells of ${what}: exit ${code}`, async () => {
    await using service = serveStreams(stream);
    const report = await check(service);

    assertTold(report, told);
    assertEquals(report.code, code);
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

/**
 * Answers the requests for the stream of `run-1` one after the other: the prompt's
 * own, the one that resumes it while it goes on, and the one after its end.
 */
function serveRun(...streams: readonly Behaviour[]): ReferenceService {
  const service = ReferenceService.start();
  service.misbehave("create run", json({ run_id: "run-1" }));
  const queue = [...streams];
  const stream: Behaviour = (exchange, context) => {
    if (exchange.headers.get("x-api-key") !== TEST_KEY) return refusal(401);
    const next = context.runId === "run-1" ? queue.shift() : undefined;
    return next?.(exchange, context) ?? refusal(404);
  };
  service.misbehave("stream", stream, Infinity);
  return service;
}

const refusal = (status: number) => new Response(null, { status });

/** What a second connection gets, and what `--check -p` says about it. */
const RESUMPTIONS: readonly (readonly [
  what: string,
  second: Behaviour,
  told: RegExp,
])[] = [
  [
    "starts over with the same ids",
    events([...steps, done], { firstId: 1 }),
    /^ok a request with Last-Event-ID gets all events again, which are known by/,
  ],
  [
    "starts over with new ids",
    events([...steps, done], { firstId: 101 }),
    /^note .* gets events again under new ids, so users see them twice; /,
  ],
  [
    "goes on",
    events([...steps.slice(1), done], { firstId: 2 }),
    /^ok a request with Last-Event-ID goes on after that event$/,
  ],
  [
    "goes on with new ids",
    events([...steps.slice(1), done], { firstId: 101 }),
    /^note .* goes on after that event, but with other ids than the first/,
  ],
  [
    "leaves an event out",
    events([done], { firstId: 3 }),
    /^note .* misses 1 event after that one; keep the events of a run/,
  ],
  [
    "is refused",
    json({ message: "gone" }, 404),
    /^note a request with Last-Event-ID was answered with 404 before the run/,
  ],
  [
    "is silent",
    events([]),
    /^note a request with Last-Event-ID got no event before the run was over; /,
  ],
];

for (const [what, second, told] of RESUMPTIONS) {
  Deno.test(`--check -p tells that a stream that is resumed ${what}`, async () => {
    const first = events([...steps, done], { firstId: 1 });
    const atEnd = events([done], { firstId: 3 });
    await using service = serveRun(first, second, atEnd);
    const { code, lines } = await check(service);

    assertMatch(lines.get("resume") ?? "no line", told);
    assertEquals(code, 0);
    const cursors = service.requests
      .filter(({ path }) => path.endsWith("/run-1/stream"))
      .map(({ headers }) => headers.get("last-event-id"));
    assertEquals(cursors.slice(0, 3), [null, "1", "2"]);
  });
}

/** What the request after the end of the run gets, and what is told. */
const AFTER_END: readonly (readonly [what: string, Behaviour, RegExp])[] = [
  [
    "204",
    answer(204),
    /after the end was answered with 204, and not "complete"; keep the events/,
  ],
  [
    "404",
    answer(404),
    /after the end was answered with 404, and not "complete"/,
  ],
  ["other events", events(steps), /after the end got other events, and not/],
  [
    "nothing",
    hang(),
    /after the end got no answer in time, and not "complete"/,
  ],
];

for (const [what, atEnd, told] of AFTER_END) {
  Deno.test(`--check -p tells that a reply is lost if the stream is resumed after the end, and gets ${what}`, async () => {
    const first = events([...steps, done], { firstId: 1 });
    await using service = serveRun(first, hang(), atEnd);
    const { code, lines } = await check(service);
    assertMatch(
      lines.get("resume") ?? "",
      /^note a connection that is lost just before the reply loses it: /,
    );
    assertMatch(lines.get("resume") ?? "", told);
    assertEquals(code, 0);
  });
}

Deno.test("--check -p fails if a wrong key opens a stream, and notes that an unknown run does", async () => {
  await using service = ReferenceService.start();
  service.misbehave("stream", events([...steps, done]), Infinity);
  const { code, lines } = await check(service);
  assertMatch(lines.get("unknown run") ?? "", /^note .* answer 404, so that/);
  assertMatch(lines.get("wrong key") ?? "", /^failed .* strangers can read it/);
  assertEquals(code, 1);
});

Deno.test("--check -p --json is JSON Lines without the key, for monitoring", async () => {
  await using service = serveStreams(
    events([record({ event: "error", message: `bad ${TEST_KEY}` })]),
  );
  const { code, stdout, stderr } = await runClient({
    args: ["--check", "--json", "-p", "hello"],
    env: settings(service),
  });

  assertEquals([code, stderr], [1, ""]);
  const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  for (const line of lines) assertEquals(line.type, "check");
  assertEquals(
    lines.find(({ name }) => name === "end").text,
    "the run failed: left out, because it holds the API key",
  );
  assertFalse(stdout.includes(TEST_KEY));
});

/**
 * Real proxies with settings that delay or cut streams, and what `--check -p`
 * says about them.
 */
const FRONTS: readonly (readonly [
  front: FrontName,
  lines: readonly string[],
  code: 0 | 1,
  told: Readonly<Record<string, RegExp>>,
])[] = [
  [
    "nginx",
    [],
    0,
    {
      live:
        /^note all events came together, so something holds them back, the likeliest first: the service, if it does not flush after each event; a front \(answer with X-Accel-Buffering: no, or set nginx: proxy_http_version 1\.1; proxy_buffering off;\)$/,
      resume: /^- unknown, because events are held back$/,
    },
  ],
  [
    "lighttpd",
    [],
    0,
    {
      live:
        /^note all events came together, .* set lighttpd: server\.stream-response-body = 1\)$/,
    },
  ],
  [
    "apache2",
    ["ProxyTimeout 3"],
    1,
    {
      end:
        /^failed the connection .* broke .*; after [\d.]+ s without a byte, it may be the time-out of a front: send a comment every 15 s, or set Apache: ProxyTimeout 600$/,
    },
  ],
  ["caddy", [], 0, { live: /^ok events came as they happened$/ }],
];

for (const [front, lines, code, told] of FRONTS) {
  Deno.test({
    ignore: !isInstalled(front),
    name: `--check -p behind ${front} ${lines.join(" ")}: exit ${code}`,
    async fn() {
      using ca = new LocalCa();
      const pace = code === 0 ? 600 : 6_000;
      await using service = ReferenceService.start({ ids: true, pace });
      await using proxy = await Front.start(front, {
        tls: ca.issue("127.0.0.1"),
        upstream: new URL(service.url).host,
        lines,
      });
      const report = await check(proxy, { env: { DENO_CERT: ca.certificate } });

      assertTold(report, told);
      assertEquals(report.code, code);
      assert(report.lines.has("TLS"));
    },
  });
}

Deno.test({
  ignore: !isInstalled("node"),
  name: "--check -p has nothing to note about the service in docs/service.md",
  async fn() {
    const page = await Deno.readTextFile(
      `${import.meta.dirname}/../../docs/service.md`,
    );
    const [, code = ""] = /```js\n(.*?)```/s.exec(page) ?? [];
    assert(code.split("\n").length <= 46, "it is longer than the page says");
    const child = new Deno.Command("node", {
      args: [
        ...["--input-type=module", "--eval"],
        code.replace('"127.0.0.1")', "$&.on('listening', tell)") +
        "function tell() { console.log(this.address().port) }",
      ],
      env: { SERVICE_KEY: TEST_KEY, PORT: "0" },
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const output = new Collector(child.stdout);
    const port = Number.parseInt(await output.waitFor("\n"));

    const { code: exit, lines } = await check({
      url: `http://127.0.0.1:${port}`,
    });
    child.kill();
    await child.status;

    assertEquals(exit, 0);
    const states = Array.from(lines.values(), (line) => line.split(" ")[0]);
    assertEquals(new Set(states), new Set(["ok", "-"]));
  },
});

Deno.test("--check --json is as docs/check.schema.json says", async () => {
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  await using service = ReferenceService.start({ ids: true });
  const { stdout } = await runClient({
    args: ["--check", "--json", "-p", "hello"],
    env: settings(service),
  });
  const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines.filter((line) => !validate(line)), []);
  const { at } = lines.find(({ name }) => name === "end");
  assertEquals(typeof at, "number");
});
