import { assert, assertEquals } from "@std/assert";
import {
  CONNECTED_ROWS,
  CONNECTING_ROWS,
} from "../../lib/gateway/connection/known_failures.ts";
import { fateInWords } from "../../lib/gateway/failure/fate.ts";
import { MEANINGS } from "../../lib/gateway/http/status_error.ts";

// How messages and documents sound, and that each message is explained.

const ROOT = new URL("../../", import.meta.url);

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

/** All files with this end of name in folders, with their texts. */
function texts(end: string, ...folders: readonly string[]) {
  const found = new Map<string, string>();
  for (const folder of folders) {
    for (
      const { name, isFile, isDirectory } of Deno.readDirSync(
        new URL(folder, ROOT),
      )
    ) {
      const path = `${folder}${name}`;
      if (isFile && name.endsWith(end)) {
        found.set(path, Deno.readTextFileSync(new URL(path, ROOT)));
      } else if (isDirectory && folder.startsWith("lib/")) {
        for (const entry of texts(end, `${path}/`)) found.set(...entry);
      }
    }
  }
  return found;
}

const SOURCES = texts(".ts", "lib/");

Deno.test("documents, messages and --help do without 15 words that need a second look, but for 20 times", () => {
  const found: string[] = [];
  const look = (path: string, text: string) => {
    for (const [better, word] of Object.entries(AVOIDED)) {
      for (const { index } of text.matchAll(word)) {
        const place = text.slice(Math.max(0, index - 30), index + 30);
        found.push(`${path}: "${place}" (${better})`);
      }
    }
  };
  for (const [path, text] of texts(".md", "./", "docs/")) {
    look(path, text.replaceAll(/^```.*?^```$|`[^`]*`/gms, ""));
  }
  for (const [path, text] of SOURCES) {
    const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "");
    for (const [literal] of code.matchAll(/"[^"\n]* [^"\n]*"|`[^`]*`/g)) {
      look(path, literal.replaceAll(/\$\{[^}]*\}/g, ""));
    }
  }
  assert(found.length <= 20, found.join("\n"));
});

/** The texts in backticks of the table "What errors say", one list for each row. */
const ROWS = Deno.readTextFileSync(new URL("docs/networks.md", ROOT))
  .split("## What errors say\n")[1]?.match(/^\| `.*?(?= \| )/gm)
  ?.map((cell) => cell.match(/(?<=`)[^`,][^`]*(?=`)/g) ?? []) ?? [];

/** What matches a text of that table: `...` and a status stand for any text. */
function pattern(shown: string): RegExp {
  return RegExp(shown.split(/\.{3}|\d{3}/).map(RegExp.escape).join(".*"));
}

Deno.test('each reason of the tables of failures has a row in "What errors say", and each row a reason', () => {
  const match = Object.assign(["", "expired", "1", "2"] as const, {
    index: 0,
    input: "",
  });
  const url = new URL("https://service.test");
  const reasons = [
    ...[...CONNECTING_ROWS, ...CONNECTED_ROWS].map(([, told]) =>
      typeof told === "string"
        ? told
        : told([...match] as unknown as RegExpExecArray, url)
    ),
    ...Object.entries(MEANINGS).map(([key, [meaning]]) => {
      const status = /\d+/.exec(key)?.[0];
      return meaning === ""
        ? `The service answered ${status}: x`
        : `${meaning} (${status}: x)`;
    }),
    ...(["create run", "stream run"] as const).flatMap((operation) =>
      (["not run", "may have run", "may go on"] as const).map((fate) =>
        fateInWords(operation, fate)
      )
    ).filter((words) => words !== ""),
  ];
  const shown = ROWS.flat().map(pattern);
  assertEquals(
    reasons.filter((reason) => !shown.some((row) => row.test(reason))),
    [],
  );
  const sources = [
    ...reasons,
    ...[...SOURCES.values()].map((text) =>
      text.replaceAll(/\$\{[^]*?\}/g, "...")
    ),
  ];
  const unknown = ROWS.flat().filter((row) =>
    !sources.some((text) => pattern(row).test(text))
  );
  assertEquals(unknown, []);
  assert(ROWS.length > 20);
});
