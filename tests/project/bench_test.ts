import { assertEquals } from "@std/assert";
import { TABLES } from "../../tools/bench/main.ts";
import { drawChart, labelOf, parseTable } from "../../tools/bench/page.ts";

const DOCS = `${import.meta.dirname}/../../docs`;

Deno.test("docs/performance.md has the rows that the benchmarks declare, and their picture", async () => {
  const page = await Deno.readTextFile(`${DOCS}/performance.md`);
  const declared = Object.values(TABLES).flatMap(({ title, rows }) =>
    rows.map(({ name, unit }) => labelOf(title, name, unit))
  );
  assertEquals([...parseTable(page).keys()], declared);
  const picture = await Deno.readTextFile(`${DOCS}/performance.svg`);
  assertEquals(picture, drawChart(page));
});
