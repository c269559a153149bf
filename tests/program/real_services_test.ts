import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  type ClientOutput,
  runClient,
  settings,
} from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { missing, RealService, type Stack } from "../support/real_service.ts";
import { untrue } from "../support/service_commands.ts";

const BROKE = "URL closed the connection in the middle of its answer. " +
  "The run may still continue.";
const ERROR = "agent-gateway: error:";
const CRASH = "Internal Server Error [Server: uvicorn]";

const START = /^agent-gateway .*\nservice .*\n(?:thread .*\n)?/;
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A text of the program with `ID` for each id, and `URL` for that of the service. */
function anonymous(text: string, { url }: RealService): string {
  return text.replaceAll(ID, "ID").replaceAll(url, "URL");
}

/** Runs prompts in order on one thread; the first lines of their output are left out. */
async function run(
  service: RealService,
  ...prompts: readonly string[]
): Promise<ClientOutput> {
  const args = prompts.flatMap((prompt) => ["-p", prompt]);
  const output = await runClient({ args, env: settings(service) });
  const stderr = anonymous(output.stderr.replace(START, ""), service);
  return { ...output, stderr };
}

/** A test that is skipped if this machine lacks what a stack needs. */
function testOf(stack: Stack, name: string, fn: Deno.TestDefinition["fn"]) {
  const reason = missing(stack);
  const skipped = reason === undefined ? "" : ` (skipped: no ${reason})`;
  Deno.test({ name: name + skipped, ignore: reason !== undefined, fn });
}

/** The lines of `--check -p` that are no `ok` and no `-`. */
async function notesOn(
  service: RealService,
  prompt = "hello",
): Promise<readonly string[]> {
  const args = ["--check", "-p", prompt];
  const { stdout } = await runClient({ args, env: settings(service) });
  return stdout.split("\n").filter((line) => /^(?:note|failed)/.test(line));
}

/** Prompts of `fast_api.py`, with the exit code and the error of each. */
const ERRORS: readonly (readonly [string, number, string])[] = [
  [
    "fail",
    1,
    `plan: done\n${ERROR} The run failed: node write: no quota is left. (thread ID, run ID)\n`,
  ],
  [
    "be refused",
    5,
    `${ERROR} The service answered 500: ${CRASH}. The run may have started, so the prompt was not retried. (thread ID, request ID)\n`,
  ],
  [
    "break before",
    5,
    `${ERROR} The service answered 500: ${CRASH}. The run may still continue. (thread ID, run ID, request ID)\n`,
  ],
  [
    "break during", // Its events have no ids.
    5,
    `plan: done\n${ERROR} ${BROKE} (thread ID, run ID, request ID)\n`,
  ],
];

testOf(
  "fastapi",
  "FastAPI with uvicorn serves a thread and errors",
  async (t) => {
    await using service = await RealService.start("fastapi");

    await t.step("two turns: a text, and none", async () => {
      assertEquals(await run(service, "hello", "say nothing"), {
        code: 0,
        stdout: "You said: hello\nRun completed.\n",
        stderr: "plan: done\nwrite: done\n".repeat(2),
      });
    });
    for (const [prompt, code, stderr] of ERRORS) {
      await t.step(prompt, async () => {
        assertEquals(await run(service, prompt), { code, stdout: "", stderr });
      });
    }
    await t.step("what the check tells", async () => {
      const notes = await notesOn(service);
      assertEquals(notes, []);
      const found = await untrue(service, "hello");
      assert(found.includes("0: each event has an id of its own"));
    });
  },
);

testOf(
  "fastapi",
  "an editor goes on after FastAPI was killed in the middle of a run",
  async () => {
    await using service = await RealService.start("fastapi");
    await using editor = new Editor({ env: settings(service) });
    const sessionId = await editor.newSession();
    const id = await editor.sendPrompt(sessionId, "wait");
    await editor.update(sessionId, "plan: done\n");

    await using _ = await service.restart();

    const [killed, next] = [
      await editor.response(id),
      await editor.prompt(sessionId, "hello"),
    ].map(({ error }) => anonymous(error?.message ?? "no error", service));
    assertEquals([killed, next], [
      BROKE,
      "The service answered 404: No such thread. The chat may be gone: start a new one.",
    ]);
    const another = await editor.newSession();
    await editor.prompt(another, "hello");
    const replies = editor.texts(another, "agent_message_chunk");
    assertEquals(replies, ["You said: hello"]);
  },
);

/** The services in frameworks: the last progress of a second turn, and its reply. */
const FRAMEWORKS: readonly (readonly [Stack, string, string])[] = [
  ["express", "read: again", "You said: hello, again"],
  ["hono", "read: again", "You said: hello, again"],
  ["nest", "read: again", "You said: hello, again"],
  ["langgraph", "answer: done", "You said: hello, again"],
];

for (const [stack, progress, reply] of FRAMEWORKS) {
  testOf(stack, `${stack} serves two turns of a thread`, async () => {
    await using service = await RealService.start(stack);
    const { stdout, stderr } = await run(service, "hello", "again");
    assertEquals(stdout, `You said: hello\n${reply}\n`);
    assertEquals(stderr.split("\n").at(-2), progress);
  });
}

testOf(
  "php",
  "PHP's own server serves a run, and the check tells of its warnings",
  async () => {
    await using service = await RealService.start("php");
    assertEquals(await run(service, "hello"), {
      code: 0,
      stdout: "You said: hello\n",
      stderr: "plan: done\nlook up: done\nwrite: done\n",
    });
    assertEquals(await notesOn(service), []);
    const [note = "", ...more] = await notesOn(service, "warn");
    assertEquals(more, []);
    assertMatch(note, /^note +events .* lines? had no "data:" before/);
  },
);

testOf(
  "Go without a flush",
  "the check of a service in Go that does not flush names nothing but the service",
  async () => {
    await using service = await RealService.start("Go without a flush");
    const [note = "", ...more] = await notesOn(service, "1 2 3 4 5");
    assertEquals(more, []);
    assertMatch(
      note,
      /^note +live .* most likely by the service \(flush after each event\), or/,
    );
  },
);
