import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { readRunEvents } from "../../lib/gateway/run_events.ts";
import { measure, type Measurement } from "../../tools/bench/benchmark.ts";
import { drawChart } from "../../tools/bench/chart.ts";
import { DelayProxy } from "../../tools/bench/delay_proxy.ts";
import { LineScanner } from "../../tools/bench/line_scanner.ts";
import { KEY, LoadService } from "../../tools/bench/load_service.ts";
import { filesOf } from "../../tools/bench/publish.ts";
import { formatMeasurement, type Report } from "../../tools/bench/report.ts";
import { drawScale } from "../../tools/bench/scale_chart.ts";
import {
  chunksOf,
  COMPLETE,
  countBytes,
  countEvents,
} from "../../tools/bench/shape.ts";
import { quantile } from "../../tools/bench/statistics.ts";
import { formatTables } from "../../tools/bench/tables.ts";
import { TextReader } from "../../tools/bench/text_reader.ts";
import { sameFlags } from "../../tools/stand_ins.ts";
import { ReferenceService } from "../support/service/service.ts";

const DOCS = `${import.meta.dirname}/../../docs`;
const MAIN = `${import.meta.dirname}/../../tools/bench/main.ts`;
const BENCHMARKS = [
  "startup",
  "prompt",
  "terminal",
  "turn",
  "stream",
  "parsing",
  "latency",
  "scale",
  "idle",
  "memory",
  "connections",
];

Deno.test("deno task bench --quick measures everything, and nothing is lost", async () => {
  const json = await Deno.makeTempFile({ suffix: ".json" });
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-q", ...sameFlags, "--allow-net", "--allow-env"],
      ...["--allow-read", "--allow-write", "--allow-run", "--allow-sys=cpus"],
      ...["--no-prompt", MAIN, "--quick", "--json", json],
    ],
    signal: AbortSignal.timeout(120_000),
  }).output();
  const text = await Deno.readTextFile(json);
  await Deno.remove(json);

  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const report: Report = JSON.parse(text);
  assert(report.quick);
  assertEquals(Object.keys(report.benchmarks), BENCHMARKS);
  for (const [benchmark, measurements] of Object.entries(report.benchmarks)) {
    assert(measurements.length > 0, benchmark);
    for (const { name, results } of measurements) {
      for (const { subject, samples, unmeasured } of results) {
        const what = `${benchmark}: ${name}: ${subject}: ${unmeasured}`;
        if (unmeasured === undefined) {
          assert(samples.length > 0, what);
          assert(samples.every(Number.isFinite), what);
        } else if (unmeasured !== report.peers) {
          // Otherwise all peers are missing, and the report says why.
          assertMatch(name, /^binary/, what);
        }
      }
    }
  }
  const lost = report.benchmarks["scale"]
    ?.filter(({ name }) => name.startsWith("lost")) ?? [];
  assertEquals(lost.map(({ results }) => results[0]), [
    { subject: "ours", samples: [0] },
    { subject: "ours", samples: [0] }, // over TLS
  ]);
  assertStringIncludes(new TextDecoder().decode(stdout), "scale: lost");
  assertMatch(drawChart(report) ?? "", /^<svg [^]*<\/svg>\n$/);
  assertMatch(drawScale(report) ?? "", /^<svg [^]*<\/svg>\n$/);
});

Deno.test("deno task bench refuses a benchmark that it does not know", async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-q", ...sameFlags, "--allow-env=STANDARD_LIBRARY"],
      ...["--no-prompt", MAIN, "speed"],
    ],
  }).output();

  assertEquals(code, 2);
  assertEquals(
    new TextDecoder().decode(stderr),
    `No benchmark is called "speed". There are: ${BENCHMARKS.join(", ")}\n`,
  );
});

Deno.test("the benchmarks' service answers the three operations as the reference service does", async () => {
  await using reference = ReferenceService.start({ key: KEY });
  await using load = await LoadService.start();
  const prompt = JSON.stringify({ events: 4 });

  const answers = await Promise.all([reference, load].map(async ({ url }) => {
    const headers = { "x-api-key": KEY };
    const thread = await fetch(`${url}/threads`, { method: "POST", headers });
    const { thread_id } = await thread.json();
    const run = await fetch(`${url}/threads/${thread_id}/runs`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ agentName: "the-brain", prompt, wait: false }),
    });
    const { run_id } = await run.json();
    const stream = await fetch(
      `${url}/threads/${thread_id}/runs/${run_id}/stream`,
      { headers: { ...headers, accept: "text/event-stream" } },
    );
    const events = await Array.fromAsync(
      readRunEvents(stream.body ?? new Blob().stream()),
    );
    const stranger = await fetch(`${url}/threads`, { method: "POST" });
    await stranger.body?.cancel();
    return {
      statuses: [thread, run, stream, stranger].map(({ status }) => status),
      types: [thread, run, stream].map(({ headers }) =>
        headers.get("content-type")
      ),
      ids: [typeof thread_id, typeof run_id],
      events: events.flat().map(({ event }) => event),
    };
  }));

  assertEquals(answers[1], answers[0]);
});

Deno.test("the benchmarks' service sends chunks of the size that was asked for", async () => {
  await using service = await LoadService.start();
  const { hostname, port } = new URL(service.url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const prompt = JSON.stringify({ events: 5, chunkBytes: 100 });
  const request = (line: string, body: string) =>
    new TextEncoder().encode(
      `${line} HTTP/1.1\r\nx-api-key: ${KEY}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  const receive = async (end: string) => {
    const buffer = new Uint8Array(4096);
    let text = "";
    while (!text.endsWith(end)) {
      const length = await connection.read(buffer) ?? 0;
      text += new TextDecoder().decode(buffer.subarray(0, length));
    }
    return text;
  };

  const body = JSON.stringify({ prompt });
  await connection.write(request("POST /threads/t/runs", body));
  const { run_id } = JSON.parse(
    (await receive("}")).split("\r\n\r\n")[1] ?? "",
  );
  await connection.write(request(`GET /threads/t/runs/${run_id}/stream`, ""));
  const stream = await receive("0\r\n\r\n");

  const sizes = [...stream.matchAll(/^([0-9a-f]+)\r\n/gm)]
    .map(([, size = ""]) => Number.parseInt(size, 16));
  assertEquals(sizes, [100, 100, 100, 5, COMPLETE.length, 0]);
});

Deno.test("chunksOf() holds every event, and countEvents() and countBytes() know how many", async () => {
  for (
    const shape of [
      { events: 7 },
      { events: 7, chunkBytes: 10 },
      { events: 3, eventBytes: 1000, chunkBytes: 999 },
    ]
  ) {
    const chunks = [...chunksOf(shape), COMPLETE];
    const events = await Array.fromAsync(
      readRunEvents(ReadableStream.from(chunks)),
    );

    assertEquals(events.flat().length, countEvents(shape));
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    assertEquals(bytes, countBytes(shape));
  }
});

Deno.test("LineScanner finds the same lines wherever the bytes are cut", () => {
  const bytes = new TextEncoder().encode("one\n\ntwo, longer\nthree\n");
  for (let size = 1; size <= bytes.length; size++) {
    const lines: string[] = [];
    const scanner = new LineScanner((line) =>
      lines.push(new TextDecoder().decode(line))
    );
    for (let start = 0; start < bytes.length; start += size) {
      scanner.scan(bytes.subarray(start, start + size));
    }

    assertEquals(lines, ["one", "two, longer", "three"]);
  }
});

Deno.test("LineScanner looks at the first 4 KiB of a line", () => {
  const lengths: number[] = [];
  const scanner = new LineScanner((line) => lengths.push(line.length));
  const long = new Uint8Array(10_000).fill(0x61);
  const newline = new Uint8Array([0x0a]);

  for (const chunk of [long, long, newline, newline, long.with(9999, 0x0a)]) {
    scanner.scan(chunk);
  }

  assertEquals(lengths, [4096, 4096]);
});

Deno.test("TextReader finds texts in order, wherever the bytes are cut", async () => {
  const bytes = new TextEncoder().encode("one ✓ two one\n");
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, index) => bytes.slice(index * size, (index + 1) * size),
    );
    const reader = new TextReader(ReadableStream.from(chunks));

    for (const text of ["o", "✓ two", "one"]) await reader.find(text);
    const error = await assertRejects(() => reader.find("two"), Error);

    assertEquals(error.message, "The output ended: ");
  }
});

Deno.test("measure() takes the samples of a round in turn, or together", async () => {
  const command = { program: "", args: [] };
  for (const together of [false, true]) {
    let running = 0;
    const [measurement] = await measure({
      subjects: new Map([["ours", command], ["other", command]]),
      rounds: 2,
      together,
      quantities: { most: { unit: "subjects" } },
      sample: async () => {
        running++;
        await Promise.resolve();
        const most = running;
        await Promise.resolve();
        running--;
        return { most };
      },
    });

    const most = together ? 2 : 1;
    assertEquals(measurement?.results, [
      { subject: "ours", samples: [most, most] },
      { subject: "other", samples: [most, most] },
    ]);
  }
});

Deno.test("quantile() interpolates between the values around it", () => {
  assertEquals(quantile([3, 1, 2], 0.5), 2);
  assertEquals(quantile([4, 1, 2, 3], 0.5), 2.5);
  assertEquals(quantile([10, 20], 0.99), 19.9);
  assertEquals(quantile([], 0.5), NaN);
});

const MEASUREMENT: Measurement = {
  name: "small events",
  unit: "events/s",
  results: [
    { subject: "ours", samples: [500, 400, 600] },
    { subject: "one", samples: [100] },
    { subject: "other", samples: [250] },
    { subject: "missing", samples: [], unmeasured: "there is none\nat all" },
  ],
  targets: [
    { against: "one", atLeast: 4 },
    { against: "other", atLeast: 4 },
    { against: "missing", atLeast: 4 },
    { atMost: 499 },
  ],
};

Deno.test("formatMeasurement() shows medians, ratios, and which targets are met", () => {
  const lines = formatMeasurement("stream", MEASUREMENT).split("\n")
    .map((line) => line.replaceAll(/  +/g, " | "));

  assertEquals(lines, [
    "stream: small events | events/s | lowest | highest | published | ours to this | target",
    " | ours | 500 | 400 | 600 | at most 499: MISSED",
    " | one | 100 | 100 | 100 | 5.00 | at least 4: met",
    " | other | 250 | 250 | 250 | 2.00 | at least 4: MISSED",
    " | missing | not measured: there is none",
    "",
  ]);
});

Deno.test("formatMeasurement() shows the medians of the run that was published last", () => {
  const results = [{ subject: "ours", samples: [1, 3, 2] }];
  const published = {
    ...REPORT,
    benchmarks: { stream: [{ ...MEASUREMENT, results }] },
  };

  const lines = formatMeasurement("stream", MEASUREMENT, published).split("\n")
    .map((line) => line.replaceAll(/  +/g, " | "));

  assertEquals(lines.slice(1, 3), [
    " | ours | 500 | 400 | 600 | 2 | at most 499: MISSED",
    " | one | 100 | 100 | 100 | 5.00 | at least 4: met",
  ]);
});

Deno.test("formatTables() has a row for each measurement and a column for each subject that was measured", () => {
  const other = { ...MEASUREMENT, name: "others", results: [] };
  const tables = formatTables({
    ...REPORT,
    benchmarks: { stream: [MEASUREMENT, other] },
  });

  assertEquals(tables.split("\n"), [
    "### Streams",
    "",
    "|                         | ours | one | other |",
    "| ----------------------- | ---: | --: | ----: |",
    "| small events (events/s) |  500 | 100 |   250 |",
    "| others (events/s)       |      |     |       |",
    "",
  ]);
});

Deno.test("docs/performance.md and its pictures show docs/performance.json", async () => {
  const read = (name: string) => Deno.readTextFile(`${DOCS}/${name}`);
  const report: Report = JSON.parse(await read("performance.json"));
  const page = await read("performance.md");
  const files = filesOf(report, page);

  assertEquals(Object.keys(report.benchmarks), BENCHMARKS);
  assertEquals(Object.keys(files), [
    "performance.md",
    "performance.svg",
    "scale.svg",
  ]);
  for (const [name, text] of Object.entries(files)) {
    assertEquals(await read(name), text, name);
  }
  // The page has a place for the tables.
  const without = filesOf({ ...report, benchmarks: {} }, page);
  assertFalse(without["performance.md"] === page);
});

const REPORT: Report = {
  date: "2026-11-21T00:00:00.000Z",
  quick: false,
  machine: { cpu: "a <CPU>", cores: 2, target: "", deno: "2.9.6", node: "" },
  peers: "there are none",
  benchmarks: {},
};

Deno.test("formatMeasurement() finds a difference below zero within a limit", () => {
  const table = formatMeasurement("terminal", {
    name: "more on a terminal",
    unit: "ms",
    results: [{ subject: "ours", samples: [-1] }],
    targets: [{ atMost: 6 }],
  });

  assertStringIncludes(table, "at most 6: met");
});

Deno.test("drawChart() draws a bar for each peer, longer where ours is better", () => {
  const results = (ours: number, peer: number) => [
    { subject: "ours", samples: [ours] },
    { subject: "langgraph", samples: [peer] },
  ];
  const report: Report = {
    ...REPORT,
    benchmarks: {
      turn: [{ name: "turn", unit: "ms", results: results(2, 5), targets: [] }],
      stream: [{
        name: "small events",
        unit: "events/s",
        results: results(100, 200),
        targets: [],
      }],
    },
  };

  const chart = drawChart(report) ?? "";

  assertEquals(
    [...chart.matchAll(/>([\d.]+x)</g)].map(([, factor]) => factor),
    ["2.5x", "0.5x"],
  );
  assertStringIncludes(chart, "a &lt;CPU>");
  assertFalse(chart.includes("NaN"));
});

Deno.test("drawScale() draws a line for each subject, higher where an event costs more", () => {
  const measurement = (name: string, ours: number, floor: number) => ({
    name,
    unit: "us",
    results: [
      { subject: "ours", samples: [ours] },
      { subject: "floor", samples: [floor] },
      { subject: "langgraph", samples: [], unmeasured: "there is none" },
    ],
    targets: [],
  });
  const report: Report = {
    ...REPORT,
    benchmarks: {
      scale: [
        measurement("CPU per event, 1 session", 10, 20),
        measurement("CPU per event, 100 sessions", 100, 20),
        measurement("CPU per event, 10,000 sessions", 1000, 20),
        measurement("CPU per event, 10,000 sessions, TLS", 2, 2),
      ],
    },
  };

  const picture = drawScale(report) ?? "";

  const lines = picture.matchAll(/class="(\w+)" d="M([\d. ]+(?:L[\d. ]+)+)"/g);
  assertEquals([...lines].map(([, subject, points]) => [subject, points]), [
    ["ours", "40.0 296.0L200.0 186.0L360.0 76.0"],
    ["floor", "40.0 262.9L200.0 262.9L360.0 262.9"],
  ]);
  assertStringIncludes(picture, "a &lt;CPU>");
  assertFalse(picture.includes("NaN"));
});

Deno.test("drawChart() and drawScale() draw nothing of which nothing was measured", () => {
  assertEquals([drawChart(REPORT), drawScale(REPORT)], [undefined, undefined]);
});

Deno.test("DelayProxy passes bytes and their end on, a request two round trips after its connection began", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const echo = listener.accept().then(({ readable, writable }) =>
    readable.pipeTo(writable)
  );
  const url = `http://127.0.0.1:${listener.addr.port}`;
  const service = { url, authority: undefined };
  const bytes = new Uint8Array(1024 * 1024).map((_, index) => index % 251);

  await using proxy = new DelayProxy(service, { roundTrip: 20 });
  const started = performance.now();
  using client = await Deno.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(proxy.url).port),
  });
  const sent = ReadableStream.from([bytes]).pipeTo(client.writable, {
    preventClose: true,
  }).then(() => client.closeWrite());
  const answer = await new Response(client.readable).bytes();
  const milliseconds = performance.now() - started;
  await Promise.all([sent, echo]);

  assertEquals(answer, bytes);
  assert(milliseconds >= 40); // It cannot be sooner, however busy the machine is.
});

Deno.test("DelayProxy breaks its connections when it is disposed of", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}`;
  const proxy = new DelayProxy({ url, authority: undefined }, { roundTrip: 0 });
  using client = await Deno.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(proxy.url).port),
  });
  using service = await listener.accept();

  await proxy[Symbol.asyncDispose]();

  const buffer = new Uint8Array(1);
  assertEquals(await client.read(buffer), null);
  assertEquals(await service.read(buffer), null);
});
