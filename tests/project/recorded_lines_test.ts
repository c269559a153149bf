import { assert } from "@std/assert";
import { commandLine, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { programOutput } from "../support/program_output.ts";
import { answer } from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

// What programs read, as the last release wrote it. A release records it again:
// RECORD=1 deno task test tests/project/recorded_lines_test.ts
const FILE = `${import.meta.dirname}/recorded_lines.json`;

/** The names and values in some JSON, without words, ids and times. */
function parts(value: unknown): readonly string[] {
  if (!(value instanceof Object)) {
    return [`${value}`.replace(/^\w+: .*?( *\n)$/, "node: status$1")];
  }
  const free = /^(?:message|details|title|version|milliseconds|.*id|.*Id)$/;
  return Object.entries(value).flatMap(([key, inner]) => [
    ...Array.isArray(value) ? [] : [key],
    ...free.test(key) ? [] : parts(inner),
  ]);
}

Deno.test("CHANGELOG.md names each difference to the last release in what programs read", async () => {
  await using service = ReferenceService.start();
  const env = settings(service);
  const now: Record<string, unknown[]> = { "exit code": [], "--json": [] };
  const run = (...args: readonly string[]) =>
    programOutput([...commandLine(), ...args], { env });
  const { stdout: check } = await run("--check");
  now["--check"] = check.match(/(?<=^\S+ +)[a-z]+/gim) ?? [];
  const { stdout: checks } = await run("--check", "--json");
  now["--check --json"] = checks.match(/(?<=[{,]")\w+/g) ?? [];
  for (const operation of ["create thread", "create run"] as const) {
    for (const status of [200, 401, 500]) {
      if (status > 200) service.misbehave(operation, answer(status));
      const { code, stdout } = await run("--json", "-p", "hello");
      now["exit code"]?.push(code);
      now["--json"]?.push(
        JSON.parse(`[${stdout.trim().replaceAll("\n", ",")}]`),
      );
    }
  }
  await using editor = new Editor({ env });
  const sessionId = await editor.newSession();
  now["initialize"] = [...editor.messages];
  await editor.prompt(sessionId, "hello");
  now["session/prompt"] = editor.messages.slice(2);
  service.misbehave("create thread", answer(500));
  now["session/new"] = [await editor.request("session/new")];

  const found = Object.entries(now).map(([name, value]) =>
    [name, Array.from(new Set(parts(value))).sort()] as const
  );
  const text = JSON.stringify(Object.fromEntries(found), null, 2);
  if (Deno.env.has("RECORD")) await Deno.writeTextFile(FILE, `${text}\n`);
  const last: Record<string, string[]> = JSON.parse(
    await Deno.readTextFile(FILE),
  );
  const changelog = await Deno.readTextFile("CHANGELOG.md");
  const [, section = ""] = changelog.replaceAll(/\s+/g, " ").split(" ## ");
  for (const [name, today] of found) {
    const after = new Set(today);
    for (const part of after.symmetricDifference(new Set(last[name]))) {
      const isNamed = section.split(" - ").some((item) =>
        [name, part.trim(), ...after.has(part) ? [] : ["**Breaking**"]]
          .every((text) => item.includes(text))
      );
      assert(isNamed, `${name}: CHANGELOG.md does not say "${part}"`);
    }
  }
});
