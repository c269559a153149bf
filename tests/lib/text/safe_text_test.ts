import { assertEquals, assertMatch } from "@std/assert";
import {
  joinSafe,
  type Redacted,
  safe,
  type ServiceId,
  type Unchanged,
} from "../../../lib/text/safe_text.ts";
import { programOutput } from "../../support/program_output.ts";
import { redacted, serviceId } from "../../support/texts.ts";

declare const foreign: string;
declare const reply: Unchanged;

/** What does not compile: `deno task check` fails where nothing is wrong. */
export const REFUSED = [
  // @ts-expect-error A foreign text
  () => foreign satisfies Redacted,
  // @ts-expect-error A foreign text
  () => foreign satisfies ServiceId,
  // @ts-expect-error A foreign text
  () => foreign satisfies Unchanged,
  // @ts-expect-error A reply, which may contain the key
  () => reply satisfies Redacted,
  // @ts-expect-error A foreign text among own words
  () => safe`The service answered ${foreign}`,
  // @ts-expect-error A reply among own words
  () => safe`The service answered ${reply}`,
  // @ts-expect-error Own words that were changed are no longer known to be safe
  () => safe`The service answered`.trim() satisfies Redacted,
  // @ts-expect-error A foreign text in a list
  () => joinSafe([safe`a`, foreign], ", "),
];

Deno.test("safe`` makes texts of own words, numbers, ids and safe texts", () => {
  const operation = "create run" as "create run" | "stream run";
  const names = [safe`a`, redacted("b")];
  assertEquals<string>(
    safe`${operation} ${serviceId("t")}: ${502}, ${joinSafe(names, ", ")}`,
    "create run t: 502, a, b",
  );
});

Deno.test("CONTRIBUTING's recipe for a new event compiles, and does not without the redactor", async () => {
  const root = `${import.meta.dirname}/../../..`;
  const guide = await Deno.readTextFile(`${root}/CONTRIBUTING.md`);
  const [, recipe = ""] = /```ts\n(.*?)```/s.exec(guide) ?? [];
  const folder = await Deno.makeTempDir();
  const check = async (name: string, source: string) => {
    const file = `${folder}/${name}.ts`;
    await Deno.writeTextFile(
      file,
      `import type { JsonObject, Redacted, Redactor } from "${root}/lib/text.ts";
      declare function stringOrEmpty(value: unknown): string;
      export ${source.replace("function", "export function")}`,
    );
    const command = [Deno.execPath(), "check", "-q", "--no-config", file];
    return await programOutput(command, {});
  };
  try {
    assertEquals((await check("safe", recipe)).stderr, "");
    const unsafe = recipe.replace(/redactor\.showName\((.*)\);/, "$1;");
    const { stderr } = await check("unsafe", unsafe);
    assertMatch(
      stderr,
      /TS2322.*'string' is not assignable to type 'Redacted'/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
