import { assertEquals, assertMatch } from "@std/assert";
import {
  Client,
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
  /** The prompt that was running when the service was asked to end. */
  readonly shutDown: ClientOutput;
}

const CANNOT_FOLLOW = "Error: Cannot follow the run:";
const UNKNOWN_RUN =
  "Cannot follow the run: the service answered 404 (the service does not know the run):";
const GONE =
  "Cannot start a run: the service answered 404 (the chat may be gone: start a new one):";
const FINISHED: ClientOutput = {
  code: 0,
  stdout: "You said: wait\n",
  stderr: "plan: done\nwrite: done\n",
};

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
    shutDown: { // It drops its streams.
      code: 1,
      stdout: "",
      stderr: "plan: done\n" +
        `${CANNOT_FOLLOW} the run failed: Run not found (thread ID, run ID)\n`,
    },
  },
  hono: {
    name: "Hono",
    refused: "Internal Server Error",
    brokenBefore: "Internal Server Error",
    brokenDuring: { // streamSSE() says so.
      code: 1,
      stdout: "",
      stderr: "plan: done\n" +
        `${CANNOT_FOLLOW} the run failed: the log is unreadable (thread ID, run ID)\n`,
    },
    notes: [],
    killed: `${UNKNOWN_RUN} No such run`,
    next: `${GONE} No such thread`,
    shutDown: FINISHED,
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
    next: `${GONE} No such thread`,
    shutDown: FINISHED,
  },
};

const START = /^agent-gateway .*\nservice .*\n(?:thread .*\n)?/;
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A text of the program with `ID` for each id, and `URL` for that of the service. */
function anonymous(text: string, { url }: RealService): string {
  return text.replaceAll(ID, "ID").replaceAll(url, "URL")
    .replaceAll(/again in \d s/g, "again in N s");
}

/** The output of a client without what differs between runs, and without its first lines. */
function seen(output: ClientOutput, service: RealService): ClientOutput {
  const stderr = anonymous(output.stderr.replace(START, ""), service);
  return { ...output, stderr };
}

/** Runs prompts in order on one thread. */
async function run(
  service: RealService,
  ...prompts: readonly string[]
): Promise<ClientOutput> {
  const args = prompts.flatMap((prompt) => ["-p", prompt]);
  return seen(await runClient({ args, env: settings(service) }), service);
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

  test(`${sees.name} serves a thread, errors and 30 sessions at once`, async (t) => {
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

    await t.step("30 sessions at once", async () => {
      await using editor = new Editor({ env: settings(service) });
      const prompts = new Map<string, string>();
      for (let i = 0; i < 30; i++) {
        prompts.set(await editor.newSession(), `wait ${i}`);
      }
      const requests: number[] = [];
      for (const [sessionId, prompt] of prompts) {
        const params = { sessionId, prompt };
        requests.push(await editor.send("session/prompt", params));
      }
      for (const sessionId of prompts.keys()) {
        await editor.update(sessionId, "plan: done\n");
      }
      await service.release();
      for (const id of requests) {
        const { result } = await editor.response(id);
        assertEquals(result, { stopReason: "end_turn" });
      }
      for (const [sessionId, prompt] of prompts) {
        assertEquals([
          editor.steps(sessionId),
          editor.texts(sessionId, "agent_message_chunk"),
        ], [["plan: done", "write: done"], [`You said: ${prompt}`]]);
      }
      const { code, stderr } = await editor.finish();
      assertEquals([code, stderr], [0, ""]);
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

  test(`${sees.name} is shut down while it streams a run`, async () => {
    await using service = await RealService.start(stack);
    const options = { args: ["-p", "wait"], env: settings(service) };
    await using client = new Client(options);
    await client.stderr.waitFor("plan: done\n");

    await service.shutDown();
    if (sees.shutDown === FINISHED) await service.release();
    assertEquals(await service.ended(), 0);
    await using _ = await service.restart();

    const { code, stdout, stderr } = seen(await client.finish(), service);
    const shown = stderr.replaceAll(LOSSY, "");
    assertEquals({ code, stdout, stderr: shown }, sees.shutDown);
  });
}

const LOSSY = "connection lost, again in N s\n";

/** What users read of a run whose stream breaks once, after its first event. */
const RESUMED: readonly (readonly [Stack, name: string, stderr: string])[] = [
  // The first event comes again under a new id.
  [
    ...["express", "Express with better-sse"] as const,
    `plan: done\n${LOSSY}plan: done\nwrite: done\n`,
  ],
  // The next event comes under the number of the first one.
  ["nest", "NestJS", `plan: done\n${LOSSY}`],
];

for (const [stack, name, stderr] of RESUMED) {
  testOf(stack, `a stream of ${name} that breaks loses no reply`, async () => {
    await using service = await RealService.start(stack);
    assertEquals(await run(service, "break during"), {
      code: 0,
      stdout: "You said: break during\n",
      stderr,
    });
  });
}

testOf(
  "php",
  "PHP's own server serves a run, and its warnings are no lines of the stream",
  async () => {
    await using service = await RealService.start("php");
    assertEquals(await run(service, "hello"), {
      code: 0,
      stdout: "You said: hello\n",
      stderr: "plan: done\nlook up: done\nwrite: done\n",
    });
    assertEquals(await notesOn(service), []);
    assertEquals(await notesOn(service, "warn"), []);
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
