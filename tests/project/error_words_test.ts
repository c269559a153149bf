import { assert, assertEquals } from "@std/assert";
import { readdirSync } from "node:fs";
import {
  CONNECTED_ROWS,
  CONNECTING_ROWS,
} from "../../lib/gateway/failure/words/connection_words.ts";
import { fateInWords } from "../../lib/gateway/failure/words/fate_words.ts";
import { STATUS_WORDS } from "../../lib/gateway/failure/words/status_words.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** Words that a reader has to look at twice, by the words of the field. */
const AVOIDED: Readonly<Record<string, RegExp>> = {
  "contains": /\bholds?\b(?! (?:(?:\w+ ){1,3})?(?:back|up|for))/g,
  "reports, says, shows": /\b(?:tells?|told)\b/g,
  "is used, takes effect": /\bcounts\b(?! toward)/g,
  "only": /\balone\b/g,
  "continues": /\b(?<!may )(?:go|goes|going|went) on\b/g,
  "retries": /\b(?:asks?|comes?) again\b/g,
  "checksums": /(?<![-\w])sums\b/g,
  "CA, certificate authority": /(?<!ertificate )\bauthorit(?:y|ies)\b/g,
  "reverse proxy": /\bfronts?\b(?! (?:of|ends?)\b)/g,
  "newline": /\bline ends?\b/g,
  "whitespace": /\bblanks\b/g,
  "additional": /\bfurther\b/g,
  "only Y of X": /\bOf [^.,]{1,40}, only\b/g,
  "is, appears": /\b(?:stands|lies|is led)\b/g,
  "packagers, a program that": /\bwhoever\b/gi,
};

/** The files with this end of name in a folder of the repository, as texts. */
function texts(end: string, folder: string, recursive = false) {
  return readdirSync(`${ROOT}/${folder}`, { encoding: "utf8", recursive })
    .filter((name) => name.endsWith(end))
    .map((name) => Deno.readTextFileSync(`${ROOT}/${folder}/${name}`));
}

const SOURCES = texts(".ts", "lib", true);

Deno.test("documents, messages and --help need at most 20 second looks", () => {
  const prose = [...texts(".md", "."), ...texts(".md", "docs")].map((text) =>
    text.replaceAll(/^```.*?^```$|`[^`]*`/gms, "")
  );
  const messages = SOURCES.flatMap((text) =>
    text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "")
      .match(/"[^"\n]* [^"\n]*"|`[^`]*`/g) ?? []
  ).map((literal) => literal.replaceAll(/\$\{[^}]*\}/g, ""));
  const found = [...prose, ...messages].flatMap((text) =>
    Object.entries(AVOIDED).flatMap(([better, word]) =>
      Array.from(text.matchAll(word), ({ index }) => {
        const place = text.slice(Math.max(0, index - 30), index + 30);
        return `"${place}": write "${better}"`;
      })
    )
  );
  assert(found.length <= 20, found.join("\n"));
});

Deno.test('each reason of the tables of failures has a row in "What errors say", and each row a reason', () => {
  const [page = ""] = texts("networks.md", "docs");
  const rows = page.slice(page.indexOf("## What errors say"))
    .match(/^\| `.*?(?= \| )/gm)
    ?.flatMap((cell) => cell.match(/(?<=`)[^`,][^`]*(?=`)/g) ?? []) ?? [];
  // `...` and a status stand for any text.
  const shown = rows.map((row) =>
    RegExp(row.split(/\.{3}|\d{3}/).map(RegExp.escape).join(".*"))
  );
  const match = ["", "expired", "1", "2"] as unknown as RegExpExecArray;
  const url = new URL("https://service.test");
  const reasons = [
    ...[...CONNECTING_ROWS, ...CONNECTED_ROWS].map(({ reason }) =>
      typeof reason === "string"
        ? reason
        : reason({ match, url, quotation: "" })
    ),
    ...STATUS_WORDS.map(({ meaning = "The service answered", statuses }) =>
      `${meaning} (${statuses[0]}: x)`
    ),
    ...(["not run", "may have run", "may go on"] as const).flatMap((fate) => [
      fateInWords("create run", fate),
      fateInWords("stream run", fate),
    ]).filter((words) => words !== ""),
  ];
  const unexplained = (reason: string) => !shown.some((it) => it.test(reason));
  assertEquals(reasons.filter(unexplained), []);
  const told = [...reasons, ...SOURCES];
  assertEquals(shown.filter((it) => !told.some((text) => it.test(text))), []);
  assert(shown.length > 30);
});
