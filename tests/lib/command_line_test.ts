import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { parseCommandLine, UsageError } from "../../lib/command_line.ts";
import { OPTIONS, spellings } from "../../lib/command_line/options.ts";

const NOTHING = {
  command: "interactive",
  baseUrl: undefined,
  prompts: [],
  readsInput: false,
  threadId: undefined,
  json: false,
  quiet: false,
} as const;

Deno.test("parseCommandLine() takes no argument for interactive mode", async () => {
  assertEquals(await parseCommandLine([]), NOTHING);
});

Deno.test("parseCommandLine() takes values from the next argument or after =", async () => {
  assertEquals(
    await parseCommandLine([
      ...["-p", "one", "--prompt", "two", "-p=three", "--prompt=-4=x"],
      ...["-", "-qt", "thread-1", "--json", "--base-url=http://localhost"],
    ]),
    {
      command: "interactive",
      baseUrl: "http://localhost",
      prompts: ["one", "two", "three", "-4=x"],
      readsInput: true,
      threadId: "thread-1",
      json: true,
      quiet: true,
    },
  );
});

Deno.test("parseCommandLine() lets the last value count, but keeps all prompts", async () => {
  const args = ["-t", "a", "-t", "b", "--base-url", "x", "--base-url", "y"];
  assertEquals(
    await parseCommandLine([...args, "-q", "-q"]),
    { ...NOTHING, threadId: "b", baseUrl: "y", quiet: true },
  );
});

Deno.test("parseCommandLine() knows the modes", async () => {
  assertEquals(await parseCommandLine(["-bq", "--verbose"]), {
    command: "bridge",
    baseUrl: undefined,
    verbose: true,
  });
  assertEquals(await parseCommandLine(["--check", "-b", "-q"]), {
    command: "check",
    baseUrl: undefined,
  });
});

Deno.test("parseCommandLine() prints help before it looks at what excludes each other", async () => {
  const args = ["--bridge", "-p", "one", "--json", "-", "-", "-t", "..", "-h"];
  const asked = await parseCommandLine(args);
  assertEquals(asked.command, "print");
});

Deno.test("parseCommandLine() understands any arguments, or names what is wrong in one short line", async () => {
  const flag = fc.constantFrom(
    ...OPTIONS.flatMap((option) => [...spellings(option)]),
    ...["-", "--", "-x", "--nonsense", "word", "bash"],
  );
  const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code));
  const argument = fc.oneof(
    flag,
    fc.string(),
    fc.string({ unit }),
    fc.tuple(flag, fc.string()).map(([name, value]) => `${name}=${value}`),
    fc.constantFrom(`-${"q".repeat(1000)}`, `--${"é".repeat(100_000)}`),
  );
  let understood = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(argument, { maxLength: 5 }), async (args) => {
      try {
        await parseCommandLine(args);
        understood++;
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        // deno-lint-ignore no-control-regex -- asserts their absence
        assertMatch(error.message, /^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+$/);
        assert(error.message.length < 6 * 200 + 200);
      }
    }),
    { numRuns: 500 },
  );
  assert(understood > 10);
});

Deno.test("parseCommandLine() takes linear time for 100,000 switches in one argument", async () => {
  const { command } = await parseCommandLine([`-${"q".repeat(100_000)}`]);
  assertEquals(command, "interactive");
});
