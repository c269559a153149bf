/**
 * Services on real stacks: those of `docs/examples/`, which are held to one another and
 * to `docs/service.openapi.yaml`, and those of `tests/support/real/`.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Client, runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { missing, RealService, type Stack } from "../support/real_service.ts";
import { TEST_KEY } from "../support/service/service.ts";
import { untrue, untrueOfComments } from "../support/service_commands.ts";

const FILE = `${import.meta.dirname}/../../docs/service.openapi.yaml`;

/** The part of the specification that is used. */
interface Specification {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly responses: Readonly<
    Record<string, {
      readonly content?: Readonly<Record<string, { readonly schema: object }>>;
    }>
  >;
}

const validator = new Validator();
const validation = await validator.validate(await Deno.readTextFile(FILE));
const PATHS = (validator.resolveRefs() as unknown as Specification).paths;

Deno.test("docs/service.openapi.yaml is valid, with the statuses of each operation", () => {
  assertEquals(validation, { valid: true });
  const statuses = Object.values(PATHS).flatMap(Object.values<Operation>)
    .map(({ responses }) => Object.keys(responses).join(" "));
  assertEquals(statuses, [
    "200 201 401 default",
    "200 201 400 401 404 429 default",
    "200 204 401 404 default",
  ]);
});

const spectral = Deno.env.get("SPECTRAL") ?? "";

Deno.test({
  name: "spectral finds nothing in docs/service.openapi.yaml",
  ignore: spectral === "",
  async fn() {
    const ruleset = await Deno.makeTempFile({ suffix: ".yaml" });
    await Deno.writeTextFile(ruleset, "extends: spectral:oas\n");
    const args = ["lint", "--quiet", "--fail-severity=hint"];
    const { code, stdout } = await new Deno.Command(spectral, {
      args: [...args, `--ruleset=${ruleset}`, FILE],
    }).output();
    await Deno.remove(ruleset);
    assertEquals([code, new TextDecoder().decode(stdout)], [0, ""]);
  },
});

/** A test that is skipped if this machine lacks what a stack needs. */
function testOf(stack: Stack, name: string, fn: Deno.TestDefinition["fn"]) {
  const reason = missing(stack);
  const skipped = reason === undefined ? "" : ` (skipped: no ${reason})`;
  Deno.test({ name: name + skipped, ignore: reason !== undefined, fn });
}

/** The events in a stream, which has to consist of ids, data and comments. */
function eventsIn(stream: string): readonly string[] {
  const blocks = stream.split("\n\n").slice(0, -1)
    .filter((block) => !block.startsWith(":"));
  return blocks.map((block, index) => {
    const [, data = ""] = /^id: \S+\ndata: (\{.*\})$/.exec(block) ?? [];
    assert(data !== "", `block ${index}: ${block}`);
    return data;
  });
}

const ajv = new Ajv2020({ strict: false });

/** Sends a request, whose answer has to be as the specification says. */
async function send(
  { url }: RealService,
  method: "POST" | "GET",
  path: string,
  { key = TEST_KEY, body, lastEventId }: {
    readonly key?: string;
    readonly body?: string;
    readonly lastEventId?: string;
  } = {},
): Promise<readonly [status: number, text: string]> {
  const headers = new Headers({ "x-api-key": key });
  if (body !== undefined) headers.set("content-type", "application/json");
  if (lastEventId !== undefined) headers.set("last-event-id", lastEventId);
  const init = { method, headers, ...body !== undefined && { body } };
  const response = await fetch(url + path, init);
  const text = await response.text();
  const { status } = response;
  const [, operations] =
    Object.entries(PATHS).find(([template]) =>
      new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path)
    ) ?? [];
  if (operations === undefined || status === 204) return [status, text];
  const operation = operations[method.toLowerCase()];
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const schema = operation?.responses[status]?.content?.[type]?.schema;
  assert(schema !== undefined, `${method} ${path}: ${status} ${type}`);
  const isStream = method === "GET" && status === 200;
  for (const value of isStream ? eventsIn(text) : [text]) {
    const isValid = ajv.validate(schema, JSON.parse(value));
    assert(isValid, `${value}: ${ajv.errorsText()}`);
  }
  return [status, text];
}

/** Checks each answer of a service. */
async function conforms(service: RealService): Promise<void> {
  const thread = async () =>
    JSON.parse((await send(service, "POST", "/threads"))[1]).thread_id;
  const threadId = await thread();
  const runs = `/threads/${threadId}/runs`;
  const body = '{"agentName":"the-brain","prompt":"hello you","wait":false}';
  const [created, answer] = await send(service, "POST", runs, { body });
  const stream = `${runs}/${JSON.parse(answer).run_id}/stream`;
  const strange = stream.replace(threadId, await thread());

  assertEquals(created, 201);
  for (const body of ["", "x", "null", "[]", "{}", '{"prompt":1}']) {
    assertEquals((await send(service, "POST", runs, { body }))[0], 400, body);
  }
  const statuses = [
    await send(service, "POST", "/threads/none/runs", { body }),
    await send(service, "GET", strange),
    await send(service, "GET", `${runs}/none/stream`),
    await send(service, "GET", "/healthz"),
    await send(service, "GET", "/"),
    await send(service, "POST", "/threads", { key: "x" }),
    await send(service, "POST", runs, { key: "x", body }),
    await send(service, "GET", stream, { key: "x" }),
  ].map(([status]) => status);
  assertEquals(statuses, [404, 404, 404, 404, 404, 401, 401, 401]);

  const whole = eventsIn((await send(service, "GET", stream))[1]);
  assertEquals(whole.length, 3);
  const after = async (lastEventId: string) => {
    const [status, text] = await send(service, "GET", stream, { lastEventId });
    return status === 204 ? status : eventsIn(text);
  };
  assertEquals(await after("2"), whole.slice(2));
  assertEquals(await after("3"), 204);
  for (const unknown of ["0", "4", "-1", "1.5", "x"]) {
    assertEquals(await after(unknown), whole, unknown);
  }
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

// deno-fmt-ignore: a row
const EXAMPLES = ["example in js", "example in python", "example in go", "express", "hono", "nest", "langgraph"] as const;

for (const stack of EXAMPLES) {
  testOf(
    stack,
    `${stack} answers as docs/service.openapi.yaml says, the check is silent, and threads are remembered, by one process`,
    async () => {
      await using service = await RealService.start(stack);
      await conforms(service);
      assertEquals(await notesOn(service, "hello world"), []);
      assertEquals(await untrue(service, "hello"), []);

      const env = settings(service);
      const args = ["-q", "-p", "one", "-p", "two"];
      const { stdout } = await runClient({ args, env });
      assertEquals(stdout, "You said: one\nYou said: one, two\n");
      const other = await runClient({ args: ["-q", "-p", "three"], env });
      assertEquals(other.stdout, "You said: three\n");
      if (!stack.startsWith("example")) return;

      // After a restart, no user gets another's reply.
      const secret = Array(100).fill("secret").join(" "); // 50 s
      await using client = new Client({ args: ["-p", secret], env });
      await client.stderr.waitFor("read: secret\n");
      await using _ = await service.restart();
      const next = await runClient({ args: ["-p", "other"], env });
      assertEquals([next.code, next.stdout], [0, "You said: other\n"]);
      const { code, stdout: shown, stderr } = await client.finish();
      assertEquals([code, shown], [1, ""]);
      assert(stderr.includes("The service no longer knows the run"), stderr);
    },
  );
}

const none = 'if (!run) return refuse(404, "No such run");';

/** Mistakes in the example in JavaScript, and the comments that are not true then. */
// deno-fmt-ignore: a table, one mistake a line
const MISTAKES: readonly (readonly [code: string, mistake: string, ...untrue: readonly string[]])[] = [
  ["randomUUID();", "`${threads.size}`;", "nobody can guess such ids"],
  ["run.streams.forEach((stream) => stream.w", "[...run.streams].slice(-1).forEach((stream) => stream.w", "two lines with the same number"],
  ["lastEventId, response) {", `lastEventId, response) { if (isOver) return response.writeHead(200, { "content-type": "text/event-stream" }).end();`, "1: it does not run again", "1: only the last event is sent again"],
  ["if (!key ||", 'if (request.url === "/threads" &&', "401: no run", "401: no stream"],
  [none, "if (!run) return follow({ events: [], streams: new Set() }, 0, response);", "404: an unknown run", "404: the run of another thread"],
  ["thread.runs.get(runId)", "[...threads.values()].map(({ runs }) => runs.get(runId)).find(Boolean)", "404: the run of another thread"],
];

testOf(
  "example in js",
  "probe.sh tells what is wrong with a service",
  async () => {
    const found = MISTAKES.map(async ([code, mistake]) => {
      const change = (text: string) => text.replaceAll(code, mistake);
      await using service = await RealService.start("example in js", {
        change,
      });
      return [code, mistake, ...await untrue(service)];
    });
    assertEquals<readonly unknown[]>(await Promise.all(found), MISTAKES);
  },
);

testOf("example in js", "probe.sh tells whether comments come", async () => {
  const start = async (comment: string) => {
    const change = (text: string) =>
      text.replace("15_000", "100").replace(": working", comment);
    return await RealService.start("example in js", { change });
  };
  await using sound = await start(": working");
  await using silent = await start("retry: 1");
  assertEquals(await untrueOfComments(sound), []);
  assertEquals((await untrueOfComments(silent)).length, 1);
});

const START = /^agent-gateway .*\nservice .*\n(?:thread .*\n)?/;
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A text of the program with `ID` for each id, and `URL` for that of the service. */
function anonymous(text: string, { url }: RealService): string {
  return text.replace(START, "").replaceAll(ID, "ID").replaceAll(url, "URL");
}

/** Runs prompts in order on one thread. Returns the exit code and both outputs. */
async function run(service: RealService, ...prompts: readonly string[]) {
  const args = prompts.flatMap((prompt) => ["-p", prompt]);
  const output = await runClient({ args, env: settings(service) });
  const { code, stdout, stderr } = output;
  return [code, stdout, anonymous(stderr, service)];
}

const BROKE = "URL closed the connection in the middle of its answer. " +
  "The run may still continue.";
const ERROR = "agent-gateway: error:";
const CRASH =
  `${ERROR} The service answered 500: Internal Server Error [Server: uvicorn].`;
const PLAN = "plan: done\n";
const STEPS = `${PLAN}write: done\n`;

/** Prompts to `fast_api.py`, whose events have no ids, and what comes of them. */
// deno-fmt-ignore: a table
const FAST_API: readonly (readonly [prompts: readonly string[], ...outcome: readonly unknown[]])[] = [
  [["hello", "say nothing"], 0, "You said: hello\nRun completed.\n", STEPS],
  [["fail"], 1, "", `${PLAN}${ERROR} The run failed: node write: no quota is left. (thread ID, run ID)\n`],
  [["be refused"], 5, "", `${CRASH} The run may have started, so the prompt was not retried. (thread ID, request ID)\n`],
  [["break before"], 5, "", `${CRASH} The run may still continue. (thread ID, run ID, request ID)\n`],
  [["break during"], 5, "", `${PLAN}${ERROR} ${BROKE} (thread ID, run ID, request ID)\n`],
];

testOf(
  "fastapi",
  "FastAPI with uvicorn serves a thread and errors",
  async () => {
    await using service = await RealService.start("fastapi");
    for (const [prompts, ...outcome] of FAST_API) {
      assertEquals(await run(service, ...prompts), outcome);
    }
    assertEquals(await notesOn(service), []);
    const found = await untrue(service, "hello");
    assert(found.includes("0: each event has an id of its own"));
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
    await editor.update(sessionId, PLAN);

    await using _ = await service.restart();

    const answers = [
      await editor.response(id),
      await editor.prompt(sessionId, "hello"),
    ].map(({ error }) => anonymous(error?.message ?? "no error", service));
    assertEquals(answers, [
      BROKE,
      "The service answered 404: No such thread. The chat may be gone: start a new one.",
    ]);
    const another = await editor.newSession();
    await editor.prompt(another, "hello");
    const replies = editor.texts(another, "agent_message_chunk");
    assertEquals(replies, ["You said: hello"]);
  },
);

testOf(
  "php",
  "PHP's own server serves a run, and the check tells of its warnings",
  async () => {
    await using service = await RealService.start("php");
    const progress = "plan: done\nlook up: done\nwrite: done\n";
    const outcome = [0, "You said: hello\n", progress];
    assertEquals(await run(service, "hello"), outcome);
    assertEquals(await notesOn(service), []);
    const [note = "", ...more] = await notesOn(service, "warn");
    assertEquals(more, []);
    assertMatch(note, /^note +events .* lines? had no "data:" before/);
  },
);
