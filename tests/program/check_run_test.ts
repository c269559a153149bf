import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "../../docs/check.schema.json" with { type: "json" };
import { runClient, settings } from "../support/client_process.ts";
import { Front, type FrontName, isInstalled } from "../support/fronts.ts";
import { LocalCa } from "../support/local_ca.ts";
import {
  answer,
  type Behaviour,
  complete,
  events,
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

/** A stream, the exit code, and what is told. */
const STREAMS: Readonly<
  Record<string, readonly [Behaviour, 0 | 1, Readonly<Record<string, RegExp>>]>
> = {
  "no ids": [events([...steps, done]), 0, {
    ids: /^note no event has one, so a lost stream is a lost reply; give each/,
    resume: /^- no event before the reply has an id$/,
  }],
  "a reply that cannot be read": [
    events([record({ event: "complete", messages: [{ speech: "Hi." }] })]),
    1,
    { reply: /^failed nothing of 1 message can be read, so users read "Run/ },
  ],
  "a web page": [
    answer(200, "<title>Hi</title>", { "content-type": "text/html" }),
    1,
    {
      stream:
        /^failed Cannot follow the run: a web page came \(status 200, "Hi"\)/,
    },
  ],
  "compression": [
    answer(200, "x", { "content-encoding": "zstd", "server": "Caddy" }),
    1,
    {
      stream:
        /^failed .*the stream is compressed, .*; Caddy: encode with a matcher that leaves text\/event-stream out$/,
    },
  ],
  "an empty answer": [answer(204, "", { server: "Caddy" }), 1, {
    stream: /^failed .* 204: it has nothing more to send; the run .*\)$/,
  }],
  "a failed run": [events([...steps, record({ event: "error" })]), 1, {
    end: /^failed the run failed$/,
  }],
  "a stream that breaks": [events(steps, { end: "break" }), 1, {
    end: /^failed the connection to \S+ broke \(.+\)$/,
  }],
  "a status": [json({ message: "no" }, 404), 1, {
    stream:
      /^failed Cannot follow the run: the service answered 404 .*: no \(thread/,
  }],
};

function assertTold(
  { lines }: { readonly lines: ReadonlyMap<string, string> },
  told: Readonly<Record<string, RegExp>>,
): void {
  for (const [name, line] of Object.entries(told)) {
    assertMatch(lines.get(name) ?? `no line "${name}"`, line);
  }
}

for (const [what, [stream, code, told]] of Object.entries(STREAMS)) {
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

Deno.test("--check -p fails if a wrong key opens a stream, and notes that an unknown run does", async () => {
  await using service = ReferenceService.start();
  service.misbehave("stream", events([...steps, done]), Infinity);
  const { code, lines } = await check(service);
  assertMatch(lines.get("unknown run") ?? "", /^note .* answer 404, so that/);
  assertMatch(lines.get("wrong key") ?? "", /^failed .* strangers can read it/);
  assertEquals(code, 1);
});

Deno.test("--check -p --json is as docs/check.schema.json says, without the key", async () => {
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  await using service = serveStreams(
    events([...steps, record({ event: "error", message: `bad ${TEST_KEY}` })]),
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
    "the run failed: left out, because it holds the API key",
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
    "left out, because it holds the API key",
    "y",
    `data: ${JSON.stringify(done)}`,
    "",
  ]]);
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
