import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { delayService } from "../../tools/bench/delay_proxy.ts";
import { TABLES } from "../../tools/bench/main.ts";
import {
  drawChart,
  formatTable,
  parseTables,
  publish,
} from "../../tools/bench/page.ts";
import { SMALLEST_EVENT, startService } from "../../tools/bench/service.ts";
import { type Bench, measure } from "../../tools/bench/table.ts";
import { sameFlags } from "../../tools/deno.ts";
import { programOutput } from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;
const PAGE = await Deno.readTextFile(`${ROOT}/docs/performance.md`);

/** Runs `deno task bench`. */
function bench(...args: readonly string[]) {
  return programOutput([
    ...[Deno.execPath(), "run", "-q", ...sameFlags],
    ...["-P=bench", "--no-prompt", `${ROOT}/tools/bench/main.ts`, ...args],
  ]);
}

/** The tables of a text, with 0 for each figure. */
function outline(text: string) {
  const figure = /(?<=\| +)-?[\d,.]+( \([^|]+\))?(?= \|)/g;
  return Array.from(parseTables(text.replaceAll(figure, "0")));
}

Deno.test("deno task bench --quick measures everything but binaries", async () => {
  const tried = Object.entries(TABLES).filter(([name]) =>
    Deno.env.has("SLOW_TESTS") || /start|prompt|streams/.test(name)
  );
  const names = tried.map(([name]) => name);
  const { code, stdout, stderr } = await bench("--quick", ...names);

  assertEquals(code, 0, stderr);
  const titles = tried.map(([, { title }]) => title);
  const measured = outline(PAGE.replaceAll(/^\| binary.*\n/gm, ""))
    .filter(([title]) => titles.includes(title));
  assertEquals(outline(stdout), measured);
});

Deno.test("deno task bench refuses a benchmark that it does not know, and to publish a part", async () => {
  const unknown = await bench("speed");
  assertEquals(unknown.code, 2);
  assertStringIncludes(unknown.stderr, 'No benchmark is called "speed". There');
  const part = await bench("--publish", "start");
  assertEquals(part.code, 2);
  assertStringIncludes(part.stderr, "Only a whole run can be published");
});

Deno.test("docs/performance.md has the tables that the benchmarks declare, and their picture", async () => {
  const declared = Object.values(TABLES).map(({ title, subjects, rows }) => {
    const zeros = subjects.map(() => "0");
    const body = rows.map(({ name, unit }) => [`${name} (${unit})`, ...zeros]);
    return [title, [["", ...subjects], ...body]];
  });
  assertEquals(outline(PAGE), declared);
  const picture = await Deno.readTextFile(`${ROOT}/docs/performance.svg`);
  assertEquals(picture, drawChart(PAGE));
});

Deno.test("publish() replaces the tables by medians and ratios, and draws them", async () => {
  const subjects = ["ours", "one", "other"];
  const rows = [
    { name: "speed", unit: "MB/s" },
    { name: "idle", unit: "ms", withoutRatios: true },
  ];
  const table = formatTable({ subjects, rows }, {
    speed: { ours: [500, 400, 600], one: [100], other: [250] },
    idle: { ours: [2], one: [1234], other: [1, 1.5] },
  });
  const docs = await Deno.makeTempDir();
  await Deno.writeTextFile(`${docs}/performance.md`, PAGE);
  await publish(docs, `### New\n\n${table}`);
  const page = await Deno.readTextFile(`${docs}/performance.md`);
  const picture = await Deno.readTextFile(`${docs}/performance.svg`);
  await Deno.remove(docs, { recursive: true });

  const cells = [
    ["", ...subjects],
    ["speed (MB/s)", "500", "100 (5)", "250 (2)"],
    ["idle (ms)", "2", "1,230", "1.25"],
  ];
  assertEquals([...parseTables(page)], [["New", cells]]);
  const [intro = ""] = PAGE.split("-->", 1);
  assert(page.startsWith(intro) && page.endsWith("<!-- They end -->\n"));
  assertEquals(picture.match(/\d\.\dx/g), ["5.0x", "2.0x"]);
});

Deno.test("measure() runs all subjects in turn, or those of a round together", async () => {
  const programs = { forms: [], command: (subject: string) => [subject] };
  for (const together of [false, true]) {
    let running = 0;
    const sample = async () => {
      const others = running++;
      await Promise.resolve();
      running--;
      return { others };
    };
    const measured = ({ take }: Bench) => take({ rounds: 2, together, sample });
    const table = { subjects: ["ours", "other"], measure: measured };
    const samples = await measure(table, programs, { quick: false });
    const other = together ? [1, 1] : [0, 0];
    assertEquals(samples, { others: { ours: [0, 0], other } });
  }
});

Deno.test("the benchmarks' service sends events in the chunks that were asked for", async () => {
  await using service = await startService();
  const runs = `${service.url}/threads/any/runs`;
  for (
    const { sizes, ...shape } of [
      { sizes: [3 * SMALLEST_EVENT, 69], events: 3 },
      { sizes: [61, 61, 61, 69], events: 3, chunkBytes: SMALLEST_EVENT },
      { sizes: [99, 99, 2, 69], events: 2, eventBytes: 100, chunkBytes: 99 },
      { sizes: [122, 122, 69], events: 2, repeat: 2 },
    ]
  ) {
    const body = JSON.stringify({ prompt: JSON.stringify(shape) });
    const run = await fetch(runs, { method: "POST", body });
    const stream = await fetch(`${runs}/${(await run.json()).run_id}/stream`);
    const chunks = await Array.fromAsync(stream.body ?? []);
    assertEquals(chunks.map(({ length }) => length), sizes);
  }
});

Deno.test("the benchmarks' service speaks HTTP/2 if it was asked to", async () => {
  await using service = await startService("h2");
  using connection = await Deno.connectTls({
    port: Number(new URL(service.url).port),
    alpnProtocols: ["h2", "http/1.1"],
    caCerts: [await Deno.readTextFile(service.authority ?? "")],
  });
  assertEquals((await connection.handshake()).alpnProtocol, "h2");
});

Deno.test("delayService() passes bytes and their end on, an answer two round trips after its connection began", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const bytes = crypto.getRandomValues(new Uint8Array(65_536));
  const served = listener.accept().then(async (connection) => {
    await connection.read(new Uint8Array(1));
    await ReadableStream.from([bytes]).pipeTo(connection.writable);
  });
  const url = `http://127.0.0.1:${listener.addr.port}`;
  using link = delayService({ url }, 200);

  const started = performance.now();
  const port = Number(new URL(link.url).port);
  const client = await Deno.connect({ port });
  await client.write(new Uint8Array(1));
  assertEquals(await new Response(client.readable).bytes(), bytes);
  // It cannot be sooner, however busy the machine is.
  assert(performance.now() - started >= 400);
  await served;
});
