import { assertEquals, assertMatch } from "@std/assert";
import {
  type ClientOutput,
  runClient,
  settings,
} from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { missing, RealService, type Stack } from "../support/real_service.ts";

/** What users see of a stack, where stacks differ. An id reads `ID`. */
interface Sees {
  readonly name: string;
  /** The service's words when the code that starts a run throws. */
  readonly refused: string;
  /** Its words when the code that streams a run throws before the first event. */
  readonly brokenBefore: string;
  /** The prompt whose stream breaks once, after the first event. */
  readonly brokenDuring: ClientOutput;
  /** What `--check -p` has a note about. */
  readonly notes: readonly string[];
  /** The errors in an editor after the service was killed, and started again. */
  readonly killed: string;
  readonly next: string;
}

const CANNOT_FOLLOW = "Error: Cannot follow the run:";

const STACKS: Readonly<Partial<Record<Stack, Sees>>> = {
  langgraph: {
    name: "the in-memory server of LangGraph.js",
    refused: "the queue of runs is closed",
    brokenBefore: "the log is unreadable",
    brokenDuring: {
      code: 0,
      stdout: "You said: break during\n",
      stderr: "plan: done\nconnection lost, again in N s\nwrite: done\n",
    },
    notes: [],
    killed: "Cannot follow the run: the run failed: Run not found",
    next: "Cannot start a run: the service answered 422: HTTP 422: " +
      "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.",
  },
  fastapi: {
    name: "FastAPI with uvicorn",
    refused: "Internal Server Error [Server: uvicorn]",
    brokenBefore: "Internal Server Error [Server: uvicorn]",
    brokenDuring: { // Its events have no ids.
      code: 5,
      stdout: "",
      stderr: "plan: done\n" +
        `${CANNOT_FOLLOW} the connection to URL broke (it was closed within the answer); ` +
        "the run may still go on at the service (thread ID, run ID, request ID)\n",
    },
    notes: ["ids"],
    killed: "Cannot follow the run: the connection to URL broke " +
      "(it was closed within the answer); the run may still go on at the service",
    next: "Cannot start a run: the service answered 404 " +
      "(the chat may be gone: start a new one): No such thread",
  },
};

const START = /^agent-gateway .*\nservice .*\n(?:thread .*\n)?/;
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A text of the program with `ID` for each id, and `URL` for that of the service. */
function anonymous(text: string, { url }: RealService): string {
  return text.replaceAll(ID, "ID").replaceAll(url, "URL")
    .replaceAll(/again in \d s/g, "again in N s");
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

for (const [name, sees] of Object.entries(STACKS)) {
  const stack = name as Stack;
  const test = (name: string, fn: Deno.TestDefinition["fn"]) =>
    testOf(stack, name, fn);

  test(`${sees.name} serves a thread and errors`, async (t) => {
    await using service = await RealService.start(stack);

    await t.step(
      "three turns: a text, none, and a node that fails",
      async () => {
        assertEquals(await run(service, "hello", "say nothing", "fail"), {
          code: 1,
          stdout: "You said: hello\nRun completed.\n",
          stderr: "plan: done\nwrite: done\n".repeat(2) + "plan: done\n" +
            `${
              CANNOT_FOLLOW.replace("Error", "Error: Prompt 3")
            } the run failed: node write: no quota is left (thread ID, run ID)\n`,
        });
      },
    );

    await t.step("an exception before the run", async () => {
      assertEquals(await run(service, "be refused"), {
        code: 5,
        stdout: "",
        stderr: "Error: Cannot start a run: the service answered 500 " +
          `(the run may have started, so it is not tried again): ${sees.refused} (thread ID, request ID)\n`,
      });
    });

    await t.step("an exception before the stream", async () => {
      assertEquals(await run(service, "break before"), {
        code: 5,
        stdout: "",
        stderr: `${CANNOT_FOLLOW} the service answered 500 ` +
          `(the run may still go on at the service): ${sees.brokenBefore} (thread ID, run ID, request ID)\n`,
      });
    });

    await t.step("an exception during the stream", async () => {
      assertEquals(await run(service, "break during"), sees.brokenDuring);
    });

    await t.step("what the check tells", async () => {
      const notes = await notesOn(service);
      const names = notes.map((line) => line.split(/\s+/)[1]);
      assertEquals(names, [...sees.notes]);
    });
  });

  test(`an editor goes on after ${sees.name} was killed in the middle of a run`, async () => {
    await using service = await RealService.start(stack);
    await using editor = new Editor({ env: settings(service) });
    const sessionId = await editor.newSession();
    const params = { sessionId, prompt: "wait" };
    const id = await editor.send("session/prompt", params);
    await editor.update(sessionId, "plan: done\n");

    await using _ = await service.restart();

    const [killed, next] = [
      await editor.response(id),
      await editor.prompt(sessionId, "hello"),
    ].map(({ error }) => anonymous(error?.message ?? "no error", service));
    assertEquals([killed, next], [sees.killed, sees.next]);
    const another = await editor.newSession();
    await editor.prompt(another, "hello");
    const replies = editor.texts(another, "agent_message_chunk");
    assertEquals(replies, ["You said: hello"]);
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
    assertMatch(
      note,
      /^note +lines .*, ignored: \d+; the first: (?:<br|PHP Warning|Warning)/,
    );
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
      /^note +live .* most likely by the service \(flush after each event\); see/,
    );
  },
);
