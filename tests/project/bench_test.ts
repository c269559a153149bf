import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { readRunEvents } from "../../lib/gateway/stream/run_events.ts";
import { LineScanner } from "../../tools/bench/agent_process.ts";
import { DelayProxy } from "../../tools/bench/delay_proxy.ts";
import {
  drawChart,
  formatTable,
  parseTables,
  publish,
  type Run,
  TABLES,
} from "../../tools/bench/performance_page.ts";
import type { Command } from "../../tools/bench/programs.ts";
import {
  countBytes,
  countEvents,
  KEY,
  type Shape,
  startService,
} from "../../tools/bench/service.ts";
import { quantile, Samples } from "../../tools/bench/table.ts";
import { sameFlags } from "../../tools/deno.ts";
import { programOutput } from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;
const PAGE = await Deno.readTextFile(`${ROOT}/docs/performance.md`);
const PUBLISHED = parseTables(PAGE);

/** Runs `deno task bench`. */
function bench(...args: readonly string[]) {
  return programOutput([
    ...[Deno.execPath(), "run", "-q", ...sameFlags],
    ...["-P=bench", "--no-prompt", `${ROOT}/tools/bench/main.ts`, ...args],
  ]);
}

/** The benchmarks that are tried: all of them in CI. */
const TRIED = Deno.env.has("SLOW_TESTS")
  ? Object.entries(TABLES)
  : Object.entries(TABLES).filter(([name]) =>
    /start|prompt|streams/.test(name)
  );

Deno.test("deno task bench --quick measures everything but binaries", async () => {
  const json = await Deno.makeTempFile();
  const names = TRIED.map(([name]) => name);
  const { code, stderr } = await bench("--quick", "--json", json, ...names);
  assertEquals(code, 0, stderr);
  const { tables }: Run = JSON.parse(await Deno.readTextFile(json));
  await Deno.remove(json);

  for (const [name, { rows, subjects }] of TRIED) {
    for (const row of rows.filter((row) => row.name !== "binary")) {
      for (const subject of subjects) {
        const samples = tables[name]?.[row.name]?.[subject] ?? [NaN];
        const what = `${name}: ${row.name}: ${subject}\n${stderr}`;
        assert(samples.every(Number.isFinite), what);
      }
    }
  }
});

Deno.test("deno task bench refuses a benchmark that it does not know", async () => {
  const { code, stderr } = await bench("speed");
  assertEquals(code, 2);
  assertStringIncludes(stderr, 'No benchmark is called "speed". There are: ');
});

Deno.test("docs/performance.md has the tables that the benchmarks declare, with ratios that fit", () => {
  const shown = PUBLISHED.map(({ title, subjects, rows }) => [
    ...[title, subjects, [...rows.keys()]],
  ]);
  const declared = Object.values(TABLES).map(({ title, subjects, rows }) => [
    ...[title, subjects, rows.map(({ name, unit }) => `${name} (${unit})`)],
  ]);
  assertEquals(shown, declared);
  for (const [name, cells] of PUBLISHED.flatMap(({ rows }) => [...rows])) {
    for (const { figure, ratio } of cells.slice(1)) {
      const exact = (cells[0]?.figure ?? NaN) / figure; // of rounded figures
      if (ratio) assert(Math.abs(exact / ratio - 1) <= 0.02, name);
    }
  }
});

Deno.test("docs/performance.svg is the picture of the tables in docs/performance.md", async () => {
  const picture = await Deno.readTextFile(`${ROOT}/docs/performance.svg`);
  assertEquals(picture, drawChart(PUBLISHED));
});

/** A run in which each figure is 3. */
const RUN: Run = {
  ...{ quick: false, date: "2026-11-21", machine: "a machine" },
  tables: Object.fromEntries(
    Object.entries(TABLES).map(([name, { rows, subjects }]) => {
      const samples = Object.fromEntries(subjects.map((s) => [s, [3]]));
      return [name, Object.fromEntries(rows.map((row) => [row.name, samples]))];
    }),
  ),
};

Deno.test("publish() replaces the tables of a page by those of a whole run", () => {
  const published = publish(PAGE, RUN);
  const figures = parseTables(published)
    .flatMap(({ rows }) => [...rows.values()].flat())
    .map(({ figure, ratio = 1 }) => figure * ratio);
  assertEquals(new Set(figures), new Set([3]));
  assertEquals(publish(published, RUN), published);

  assertThrows(() => publish(PAGE, { ...RUN, quick: true }), Error, "--quick");
  const partial = { ...RUN, tables: { ...RUN.tables, idle: {} } };
  const missing = "Cannot publish: idle, wake-ups: ours was not measured";
  assertThrows(() => publish(PAGE, partial), Error, missing);
});

Deno.test("tables show medians and ratios", () => {
  const speed = { name: "speed", unit: "events/s" };
  const idle = { name: "idle", unit: "ms", withoutRatios: true };
  const table = { subjects: ["ours", "one", "other"], rows: [speed, idle] };
  const record = {
    speed: { ours: [500, 400, 600], one: [100], other: [250] },
    idle: { ours: [2], other: [1, 1.5] },
  };

  assertEquals(formatTable(table, record).split("\n"), [
    "|                  | ours |     one |   other |",
    "| ---------------- | ---: | ------: | ------: |",
    "| speed (events/s) |  500 | 100 (5) | 250 (2) |",
    "| idle (ms)        |    2 |         |    1.25 |",
    "",
  ]);
});

Deno.test("samples of a round are taken in turn or together, and a peer that fails is left out", async () => {
  const ours: Command = { program: "ours", args: [] };
  const failing: Command = { program: "failing", args: [] };
  const subjects = { ours, other: ours, failing };
  for (const together of [false, true]) {
    const rows = [{ name: "others", unit: "" }];
    const samples = new Samples({ rows }, { quick: false, caches: "" });
    let [running, failures] = [0, 0];
    const sample = async ({ program }: Command) => {
      if (program === "failing" && failures++ === 0) throw new Error("once");
      const others = running++;
      await Promise.resolve();
      running--;
      return { others };
    };
    await samples.take({ subjects, rounds: 2, together, sample });

    const other = together ? [1, 1] : [0, 0];
    assertEquals(samples.record, { others: { ours: [0, 0], other } });
    const failed = { subjects: { failing }, rounds: 1, sample };
    failures = 0;
    await assertRejects(() => samples.take(failed), Error, "once");
  }
});

Deno.test("quantile() interpolates between the values around it", () => {
  assertEquals(quantile([4, 1, 2, 3], 0.5), 2.5);
  assertEquals(quantile([10, 20], 0.99), 19.9);
  assertEquals(quantile([], 0.5), NaN);
});

Deno.test("LineScanner finds the same lines wherever the bytes are cut, and keeps 4 KiB of each", () => {
  const long = "long".repeat(1025);
  const bytes = new TextEncoder().encode(`one\n\ntwo, longer\n${long}\n`);
  for (const size of [1, 2, 3, 5, 7, 4099, bytes.length]) {
    const lines: string[] = [];
    const decoder = new TextDecoder();
    const scanner = new LineScanner((line) => lines.push(decoder.decode(line)));
    for (let start = 0; start < bytes.length; start += size) {
      scanner.scan(bytes.subarray(start, start + size));
    }

    assertEquals(lines, ["one", "two, longer", long.slice(0, 4096)]);
  }
});

Deno.test("the benchmarks' service sends the events and chunks that were asked for", async () => {
  await using service = await startService();
  const runs = `${service.url}/threads/any/runs`;
  const headers = { "x-api-key": KEY };
  const shapes: readonly (readonly [Shape, readonly number[]])[] = [
    [{ events: 3 }, [183, 69]],
    [{ events: 3, chunkBytes: 61 }, [61, 61, 61, 69]],
    [{ events: 2, eventBytes: 100, chunkBytes: 99 }, [99, 99, 2, 69]],
  ];
  for (const [shape, sizes] of shapes) {
    const body = JSON.stringify({ prompt: JSON.stringify(shape) });
    const run = await fetch(runs, { method: "POST", headers, body });
    const path = `${runs}/${(await run.json()).run_id}/stream`;
    const stream = await fetch(path, { headers });
    const chunks = await Array.fromAsync(stream.body ?? []);
    const batches = readRunEvents(ReadableStream.from(chunks));
    const events = (await Array.fromAsync(batches)).flat();

    assertEquals(chunks.map(({ length }) => length), [...sizes]);
    assertEquals(sizes.reduce((sum, size) => sum + size), countBytes(shape));
    assertEquals(events.length, countEvents(shape));
  }
});

Deno.test("the benchmarks' service speaks HTTP/2 only if it was asked to", async () => {
  for (const protocol of ["https", "h2"] as const) {
    await using service = await startService(protocol);
    const { hostname, port } = new URL(service.url);
    using connection = await Deno.connectTls({
      ...{ hostname, port: Number(port), alpnProtocols: ["h2", "http/1.1"] },
      caCerts: [await Deno.readTextFile(service.authority ?? "")],
    });
    const { alpnProtocol } = await connection.handshake();
    assertEquals(alpnProtocol === "h2", protocol === "h2");
  }
});

Deno.test("DelayProxy passes bytes and their end on, a request two round trips after its connection began", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const echo = listener.accept().then((c) => c.readable.pipeTo(c.writable));
  const url = `http://127.0.0.1:${listener.addr.port}`;
  const bytes = new Uint8Array(1024 * 1024).map((_, index) => index % 251);

  await using proxy = new DelayProxy({ url }, { roundTrip: 200 });
  const started = performance.now();
  const port = Number(new URL(proxy.url).port);
  using client = await Deno.connect({ hostname: "127.0.0.1", port });
  const sent = ReadableStream.from([bytes])
    .pipeTo(client.writable, { preventClose: true })
    .then(() => client.closeWrite());
  const answer = await new Response(client.readable).bytes();
  const milliseconds = performance.now() - started;
  await Promise.all([sent, echo]);

  assertEquals(answer, bytes);
  assert(milliseconds >= 400); // It cannot be sooner, however busy the machine is.
});
