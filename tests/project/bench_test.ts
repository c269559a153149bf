import { assert, assertEquals } from "@std/assert";
import { TABLES } from "../../tools/bench/main.ts";
import {
  CHARTED,
  drawChart,
  formatTable,
  parseTables,
  publish,
} from "../../tools/bench/page.ts";

const ROOT = `${import.meta.dirname}/../..`;
const PAGE = await Deno.readTextFile(`${ROOT}/docs/performance.md`);

Deno.test("docs/performance.md has the tables that the benchmarks declare, and their picture", async () => {
  const shown = Array.from(
    parseTables(PAGE),
    ([title, [header, ...rows]]) => [title, header, rows.map(([name]) => name)],
  );
  const declared = Object.values(TABLES).map(({ title, subjects, rows }) => [
    title,
    ["", ...subjects],
    rows.map(({ name, unit }) => `${name} (${unit})`),
  ]);
  assertEquals(shown, declared);
  const picture = await Deno.readTextFile(`${ROOT}/docs/performance.svg`);
  assertEquals(picture, drawChart(PAGE));
});

Deno.test("the chart shows rows that the benchmarks declare", () => {
  for (const [heading, names] of Object.entries(CHARTED)) {
    const table = Object.values(TABLES).find(({ title }) => title === heading);
    const rows = table?.rows.map(({ name }) => name) ?? [];
    assertEquals(names.filter((name) => !rows.includes(name)), [], heading);
  }
});

Deno.test("publish() replaces the tables by medians and ratios, and draws them", async () => {
  const subjects = ["ours", "one", "other"];
  const rows = [
    { name: "small events", unit: "events/s" },
    { name: "work", unit: "million" },
    { name: "idle", unit: "ms", withoutRatios: true },
  ];
  const table = formatTable({ subjects, rows }, {
    "small events": { ours: [500, 400, 600], one: [100], other: [250] },
    work: { ours: [3], one: [2] },
    idle: { ours: [2], one: [1234], other: [1, 1.5] },
  });
  const docs = await Deno.makeTempDir();
  await Deno.writeTextFile(`${docs}/performance.md`, PAGE);
  await publish(docs, `### Streams\n\n${table}`);
  const page = await Deno.readTextFile(`${docs}/performance.md`);
  const picture = await Deno.readTextFile(`${docs}/performance.svg`);
  await Deno.remove(docs, { recursive: true });

  const cells = [
    ["", ...subjects],
    ["small events (events/s)", "500", "100 (5)", "250 (2)"],
    ["work (million)", "3", "2 (1.5)", "-"],
    ["idle (ms)", "2", "1,230", "1.25"],
  ];
  assertEquals([...parseTables(page)], [["Streams", cells]]);
  const [intro = ""] = PAGE.split("-->", 1);
  assert(page.startsWith(intro) && page.endsWith("<!-- They end -->\n"));
  assertEquals(picture.match(/\d\.\dx/g), ["5.0x", "2.0x"]);
});
