import { assert, assertEquals, assertMatch } from "@std/assert";
import { VERSION } from "../../lib/version.ts";
import { programOutput } from "../support/program_output.ts";

/** Runs `deno task demo` without a terminal. */
function demo(...args: readonly string[]) {
  return programOutput([Deno.execPath(), "task", "--quiet", "demo", ...args], {
    cwd: `${import.meta.dirname}/../..`,
  });
}

Deno.test("deno task demo plays two prompts on one thread", async () => {
  const { code, stdout, stderr } = await demo();

  assertEquals(code, 0);
  assertEquals(
    stdout,
    "Hello! I am the-brain. Ask me something, or what you said before.\n" +
      "Earlier on this thread you said:\n1. hello\n",
  );
  assertMatch(
    stderr.replace(/^Warning: Deno .*\n/, ""), // of the Deno that runs it
    new RegExp(
      `^agent-gateway ${VERSION}, agent the-brain, key demo\\.\\.\\.cdef\n` +
        "service http://127.0.0.1:\\d+\n" +
        // Two processes write these two lines.
        "(thread [0-9a-f-]{36}\n> hello\n|> hello\nthread [0-9a-f-]{36}\n)" +
        "plan: started\nrecall: no earlier prompt\n" +
        "write: started\nwrite: done\n" +
        "> what did I say before\\?\nplan: started\nrecall: 1 earlier prompt\n" +
        "write: started\nwrite: done\n$",
    ),
  );
});

Deno.test("deno task demo --bridge shows a session, line by line", async () => {
  const { code, stdout } = await demo("--bridge");

  assertEquals(code, 0);
  const lines = stdout.trimEnd().split("\n");
  const said = lines.filter((line) => line.startsWith("--> "));
  const heard = lines.filter((line) => line.startsWith("<-- "));
  assertEquals(said.length + heard.length, lines.length);
  assertEquals(
    said.map((line) => JSON.parse(line.slice("--> ".length)).method),
    [
      "initialize",
      "agents/list",
      "session/new",
      "session/prompt",
      "session/prompt",
      "session/close",
    ],
  );
  const answers = heard.map((line) => JSON.parse(line.slice("<-- ".length)))
    .filter(({ id }) => id !== undefined);
  assertEquals(answers.map(({ id }) => id), [1, 2, 3, 4, 5, 6]);
  assert(answers.every(({ result }) => result !== undefined));
});

Deno.test("deno task demo takes no other argument", async () => {
  const { code, stderr } = await demo("--brigde");

  assertEquals(code, 2);
  assertMatch(stderr, /Usage: deno task demo \[--bridge\]\n$/);
});
