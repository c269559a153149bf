/**
 * Services on real stacks: those of `docs/examples/`, which are held to one another and
 * to `docs/service.openapi.yaml`, and those of `tests/support/real/`.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { runClient, settings } from "../support/client_process.ts";
import { missing, RealService, type Stack } from "../support/real_service.ts";
import { TEST_KEY } from "../support/service/service.ts";
import { NAMED_BY, untrue } from "../support/service_commands.ts";

const FILE = `${import.meta.dirname}/../../docs/service.openapi.yaml`;

const validator = new Validator();
const validation = await validator.validate(await Deno.readTextFile(FILE));
// deno-lint-ignore no-explicit-any -- a part that is missing fails the test
const { paths } = validator.resolveRefs() as any;

Deno.test("docs/service.openapi.yaml is valid", () => {
  assertEquals(validation, { valid: true });
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
  { body, ...more }: Readonly<Record<string, string>> = {},
): Promise<readonly [status: number, text: string]> {
  const headers = new Headers({ "x-api-key": TEST_KEY, ...more });
  if (body !== undefined) headers.set("content-type", "application/json");
  const init = { method, headers, ...body !== undefined && { body } };
  const response = await fetch(url + path, init);
  const text = await response.text();
  const { status } = response;
  const template = Object.keys(paths).find((template) =>
    RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path)
  );
  if (template === undefined || status === 204) return [status, text];
  const { responses } = paths[template][method.toLowerCase()];
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const schema = responses[status]?.content?.[type]?.schema;
  assert(schema, `${method} ${path}: ${status} ${type}`);
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
    await send(service, "POST", "/threads", { "x-api-key": "x" }),
    await send(service, "POST", runs, { "x-api-key": "x", body }),
    await send(service, "GET", stream, { "x-api-key": "x" }),
  ].map(([status]) => status);
  assertEquals(statuses, [404, 404, 404, 404, 404, 401, 401, 401]);

  const whole = eventsIn((await send(service, "GET", stream))[1]);
  assertEquals(whole.length, 3);
  const after = async (id: string) => {
    const cursor = { "last-event-id": id };
    const [status, text] = await send(service, "GET", stream, cursor);
    return status === 204 ? status : eventsIn(text);
  };
  assertEquals(await after("2"), whole.slice(2));
  assertEquals(await after("3"), 204);
  for (const unknown of ["0", "4", "-1", "1.5", "x"]) {
    assertEquals(await after(unknown), whole, unknown);
  }
}

/**
 * The lines `note` and `failed` of `--check -p`, except for a note on `live`: on a busy
 * machine, the events of a short run may arrive late and together.
 */
async function notesOn(
  service: RealService,
  prompt = "hello",
): Promise<readonly string[]> {
  const args = ["--check", "-p", prompt];
  const { stdout } = await runClient({ args, env: settings(service) });
  return stdout.split("\n").filter((line) =>
    /^(?:note(?! +live)|failed)/.test(line)
  );
}

// deno-fmt-ignore: a row
const EXAMPLES = ["example in js", "example in python", "example in go", "express", "hono", "nest", "langgraph"] as const;

/** Lets an example take 50 ms for each word of a prompt, and not half a second. */
function quick(code: string): string {
  return code.replace(/500(?=\)\)| \*)/, "50").replace("(0.5)", "(0.05)");
}

const COMMENT = "1: a comment comes while the run says nothing";

for (const stack of EXAMPLES) {
  testOf(
    stack,
    `${stack} answers as docs/service.openapi.yaml says, the check is silent, and threads are remembered, by one process`,
    async () => {
      await using service = await RealService.start(stack, quick);
      await conforms(service);
      assertEquals(await notesOn(service), []);
      assertEquals(await untrue(service, "hello"), [COMMENT]); // every 15 s

      const args = ["-q", "-p", "one", "-p", "two"];
      const { stdout } = await runClient({ args, env: settings(service) });
      assertEquals(stdout, "You said: one\nYou said: one, two\n");
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
  ["text/event-stream", "text/plain", "text/event-stream: the content type"],
  ["id: ${id}\\n", "id: 1\\n", "0: each event has an id of its own", "1: only the last event is sent again"],
  [": working", "retry: 1", COMMENT],
];

testOf(
  "example in js",
  "probe.sh tells what is wrong with a service, also what docs/service.md says",
  async () => {
    const found = MISTAKES.map(async ([code, mistake]) => {
      const change = (text: string) =>
        text.replaceAll(code, mistake).replace("15_000", "100");
      await using service = await RealService.start("example in js", change);
      return [code, mistake, ...await untrue(service)];
    });
    assertEquals<readonly unknown[]>(await Promise.all(found), MISTAKES);
    const named = [...NAMED_BY.values()].filter((by) => /^\S+: /.test(by));
    assertEquals(named.filter((by) => !MISTAKES.flat().includes(by)), []);
  },
);

const BROKE = "URL closed the connection in the middle of its answer. " +
  "The run may still continue.";
const ERROR = "agent-gateway: error:";
const CRASH =
  `${ERROR} The service answered 500: Internal Server Error [Server: uvicorn].`;
const PLAN = "plan: done\n";

/** Prompts to `fast_api.py`, whose events have no ids, and what comes of them. */
// deno-fmt-ignore: a table
const FAST_API: readonly (readonly [prompts: readonly string[], code: number, replies: string, shown: string])[] = [
  [["hello", "say nothing"], 0, "You said: hello\nRun completed.\n", `${PLAN}write: done\n`],
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
    const { url } = service;
    for (const [prompts, ...outcome] of FAST_API) {
      const args = prompts.flatMap((prompt) => ["-p", prompt]);
      const output = await runClient({ args, env: settings(service) });
      const shown = output.stderr
        .replace(/^agent-gateway .*\nservice .*\n(?:thread .*\n)?/, "")
        .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
        .replaceAll(url, "URL");
      assertEquals([output.code, output.stdout, shown], outcome);
    }
    assertEquals(await notesOn(service), []);
    const found = await untrue(service, "hello");
    assert(found.includes("0: each event has an id of its own"));
  },
);

testOf(
  "php",
  "PHP's own server serves a run, and the check tells of its warnings",
  async () => {
    await using service = await RealService.start("php");
    assertEquals(await notesOn(service), []);
    const [note = "", ...more] = await notesOn(service, "warn");
    assertEquals(more, []);
    assertMatch(note, /^note +events .* lines? had no "data:" before/);
  },
);
