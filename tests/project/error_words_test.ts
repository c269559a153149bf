import { assert, assertEquals } from "@std/assert";
import { globSync } from "node:fs";
import {
  CONNECTED,
  CONNECTING,
} from "../../lib/gateway/connection/connection_rows.ts";
import { fateInWords } from "../../lib/gateway/failure/fate.ts";
import { STATUS_WORDS } from "../../lib/gateway/http/status_error.ts";
import { Redactor } from "../../lib/text.ts";
import { redacted } from "../support/texts.ts";

const ROOT = `${import.meta.dirname}/../..`;
const SOURCES = globSync("lib/**/*.ts", { cwd: ROOT })
  .map((file) => Deno.readTextFileSync(`${ROOT}/${file}`)).join("");

Deno.test('each reason that comes without advice has a row in "What errors say", and each row a reason', () => {
  const page = Deno.readTextFileSync(`${ROOT}/docs/networks.md`);
  const shown = page.slice(page.indexOf("## What errors say"))
    .match(/^\| `.*?(?= \| )/gm)
    ?.flatMap((cell) => cell.match(/(?<=`)[^`,][^`]*(?=`)/g) ?? []) ?? [];
  assert(shown.length > 20);

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
    ...STATUS_WORDS.filter(isMute)
      .map(({ meaning = "The service answered 418: x" }) => meaning),
    ...(["not run", "may have run", "may go on"] as const).flatMap((fate) => [
      fateInWords("create run", fate),
      fateInWords("stream run", fate),
    ]).filter((words) => words !== ""),
  ];
  const patterns = shown.map((text) =>
    RegExp(text.split("...").map(RegExp.escape).join(".*"))
  );
  const isShown = (text: string) => patterns.some((it) => it.test(text));
  assertEquals(reasons.filter((reason) => !isShown(reason)), []);

  const words = shown.flatMap((text) => text.split(/ \(|\.\.\.|\d{3}/));
  assertEquals(words.filter((text) => !SOURCES.includes(text)), []);
});
