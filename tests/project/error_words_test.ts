import { assert, assertEquals } from "@std/assert";
import { readdirSync } from "node:fs";
import {
  CONNECTED,
  CONNECTING,
} from "../../lib/gateway/connection/connection_rows.ts";
import { fateInWords } from "../../lib/gateway/failure/fate.ts";
import { problemOfStatus } from "../../lib/gateway/failure/retry_policy.ts";
import { STATUS_WORDS } from "../../lib/gateway/http/status_error.ts";
import { redacted } from "../support/texts.ts";
import { Redactor } from "../../lib/text.ts";

const ROOT = `${import.meta.dirname}/../..`;

const SOURCES = readdirSync(`${ROOT}/lib`, {
  encoding: "utf8",
  recursive: true,
})
  .filter((name) => name.endsWith(".ts"))
  .map((name) => Deno.readTextFileSync(`${ROOT}/lib/${name}`));

Deno.test('each reason that comes without advice has a row in "What errors say", and each row a reason', () => {
  const page = Deno.readTextFileSync(`${ROOT}/docs/networks.md`);
  const rows = page.slice(page.indexOf("## What errors say"))
    .match(/^\| `.*?(?= \| )/gm)
    ?.flatMap((cell) => cell.match(/(?<=`)[^`,][^`]*(?=`)/g) ?? []) ?? [];
  const shown = rows.map((row) =>
    RegExp(row.split("...").map(RegExp.escape).join(".*"))
  );
  const name = redacted("service.test");
  const about = {
    match: ["", "expired", "1", "2"].map(redacted),
    ...{ origin: name, host: name, hostname: name, port: 443 },
    ...{ text: name, quotation: redacted("") },
    redactor: new Redactor(""),
  };
  const isMute = ({ advice }: { advice?: unknown }) => advice === undefined;
  const reasons = [
    ...[...CONNECTING.rows, ...CONNECTED.rows].filter(isMute).map(
      ({ reason }) => typeof reason === "string" ? reason : reason(about),
    ),
    ...STATUS_WORDS.filter(isMute).map(
      ({ meaning = "The service answered", statuses }) =>
        `${meaning} (${statuses[0]}: x)`,
    ),
    ...(["not run", "may have run", "may go on"] as const).flatMap((fate) => [
      fateInWords("create run", fate),
      fateInWords("stream run", fate),
    ]).filter((words) => words !== ""),
  ];
  const unexplained = (reason: string) => !shown.some((it) => it.test(reason));
  assertEquals(reasons.filter(unexplained), []);
  const statuses = Array.from({ length: 600 }, (_, status) => status);
  const told = [
    ...reasons,
    ...statuses.filter((it) => problemOfStatus("create run", it))
      .map((status) => `The service answered ${status}: x`),
    ...STATUS_WORDS.map(({ meaning, statuses }) =>
      `${meaning} (${statuses[0]}: x) (${statuses[1]}: x)`
    ),
    ...SOURCES,
  ];
  assertEquals(shown.filter((it) => !told.some((text) => it.test(text))), []);
  assert(shown.length > 20);
});
