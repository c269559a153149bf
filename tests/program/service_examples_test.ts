/** The services of `docs/examples/`, held to one another and to `docs/service.openapi.yaml`. */
import { assert, assertEquals } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Client, runClient, settings } from "../support/client_process.ts";
import { missing, RealService } from "../support/real_service.ts";
import { TEST_KEY } from "../support/service/service.ts";
import { untrue, untrueOfComments } from "../support/service_commands.ts";

const FILE = `${import.meta.dirname}/../../docs/service.openapi.yaml`;
const SPECIFICATION = await Deno.readTextFile(FILE);

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
const validation = await validator.validate(SPECIFICATION);

const PATHS = (validator.resolveRefs() as unknown as Specification).paths;

Deno.test("docs/service.openapi.yaml is valid, with the statuses of each operation", () => {
  assertEquals(validation, { valid: true });
  const statuses = Object.values(PATHS).flatMap((operations) =>
    Object.values(operations).map(({ responses }) =>
      Object.keys(responses).join(" ")
    )
  );
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

/** A request to an example. */
interface ExampleRequest {
  readonly key?: string;
  readonly body?: string;
  readonly lastEventId?: string;
}

/** Sends requests to an example, whose answers have to be as the specification says. */
class Example {
  readonly #url: string;
  readonly #ajv = new Ajv2020({ strict: false });

  constructor({ url }: RealService) {
    this.#url = url;
  }

  /** Sends a request. Returns its status and body. */
  async send(
    method: "POST" | "GET",
    path: string,
    { key = TEST_KEY, body, lastEventId }: ExampleRequest = {},
  ): Promise<readonly [status: number, text: string]> {
    const headers = new Headers({ "x-api-key": key });
    if (body !== undefined) headers.set("content-type", "application/json");
    if (lastEventId !== undefined) headers.set("last-event-id", lastEventId);
    const init = { method, headers, ...body !== undefined && { body } };
    const response = await fetch(this.#url + path, init);
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
      const isValid = this.#ajv.validate(schema, JSON.parse(value));
      assert(isValid, `${value}: ${this.#ajv.errorsText()}`);
    }
    return [status, text];
  }
}

// deno-fmt-ignore: a row
const STACKS = ["example in js", "example in python", "example in go", "express", "hono", "nest", "langgraph"] as const;
for (const stack of STACKS) {
  const reason = missing(stack);
  const test = (name: string, fn: Deno.TestDefinition["fn"]) => {
    const skipped = reason === undefined ? "" : ` (skipped: no ${reason})`;
    Deno.test({ name: name + skipped, ignore: reason !== undefined, fn });
  };

  test(`${stack} answers as docs/service.openapi.yaml says, and the check has nothing to note`, async () => {
    await using service = await RealService.start(stack);
    const example = new Example(service);
    const [, thread] = await example.send("POST", "/threads");
    const { thread_id } = JSON.parse(thread);
    const runs = `/threads/${thread_id}/runs`;
    const body = '{"agentName":"the-brain","prompt":"hello you","wait":false}';
    const [created, answer] = await example.send("POST", runs, { body });
    const { run_id } = JSON.parse(answer);
    const stream = `${runs}/${run_id}/stream`;
    const [, other] = await example.send("POST", "/threads");
    const strange = stream.replace(thread_id, JSON.parse(other).thread_id);

    assertEquals(created, 201);
    for (const body of ["", "x", "null", "[]", "{}", '{"prompt":1}']) {
      assertEquals((await example.send("POST", runs, { body }))[0], 400, body);
    }
    const statuses = [
      await example.send("POST", "/threads/none/runs", { body }),
      await example.send("GET", strange),
      await example.send("GET", `${runs}/none/stream`),
      await example.send("GET", "/healthz"),
      await example.send("GET", "/"),
      await example.send("POST", "/threads", { key: "x" }),
      await example.send("POST", runs, { key: "x", body }),
      await example.send("GET", stream, { key: "x" }),
    ].map(([status]) => status);
    assertEquals(statuses, [404, 404, 404, 404, 404, 401, 401, 401]);

    const whole = eventsIn((await example.send("GET", stream))[1]);
    assertEquals(whole.length, 3);
    const after = async (lastEventId: string) => {
      const request = { lastEventId };
      const [status, text] = await example.send("GET", stream, request);
      return status === 204 ? status : eventsIn(text);
    };
    assertEquals(await after("2"), whole.slice(2));
    assertEquals(await after("3"), 204);
    for (const unknown of ["0", "4", "-1", "1.5", "x"]) {
      assertEquals(await after(unknown), whole, unknown);
    }

    const { code, stdout } = await runClient({
      args: ["--check", "-p", "hello world"],
      env: settings(service),
    });
    assertEquals(code, 0);
    const states = stdout.trimEnd().split("\n").slice(1)
      .map((line) => line.slice(0, "failed".length).trim());
    // A run of a moment does not show whether its events are held back.
    assertEquals(states.filter((state) => !["ok", "-"].includes(state)), []);
    assertEquals(await untrue(service, "hello"), []);
  });

  if (!stack.startsWith("example")) continue;
  test(`the ${stack} remembers a thread, and no other`, async () => {
    await using service = await RealService.start(stack);
    const env = settings(service);
    const args = ["-q", "-p", "one", "-p", "two"];
    const { stdout } = await runClient({ args, env });
    assertEquals(stdout, "You said: one\nYou said: one, two\n");
    const other = await runClient({ args: ["-q", "-p", "three"], env });
    assertEquals(other.stdout, "You said: three\n");
  });

  test(`no user of the ${stack} gets another's reply when it starts again`, async () => {
    await using service = await RealService.start(stack);
    const env = settings(service);
    const secret = Array(100).fill("secret").join(" "); // 50 s
    await using client = new Client({ args: ["-p", secret], env });
    await client.stderr.waitFor("read: secret\n");

    await using _ = await service.restart();
    const other = await runClient({ args: ["-p", "other"], env });

    assertEquals([other.code, other.stdout], [0, "You said: other\n"]);
    const { code, stdout, stderr } = await client.finish();
    assertEquals([code, stdout], [1, ""]);
    assert(stderr.includes("The service no longer knows the run"), stderr);
  });
}

const none = 'if (!run) return refuse(404, "No such run");';

/** Mistakes in the example in JavaScript, and the comments that are not true then. */
// deno-fmt-ignore: a table, one mistake a line
const MISTAKES: readonly (readonly [code: string, mistake: string, ...untrue: readonly string[]])[] = [
  ["randomUUID();", "`${threads.size}`;", "nobody can guess such ids"],
  ["run.streams.forEach((stream) => stream.w", "[...run.streams].slice(-1).forEach((stream) => stream.w", "two lines with the same number"],
  ["lastEventId, response) {", `lastEventId, response) { if (isOver) return response.writeHead(200, { "content-type": "text/event-stream" }).end();`, "1: it does not run again", "1: only the last event is sent again", "complete progress: the names of the events"],
  ["if (!key ||", 'if (request.url === "/threads" &&', "401: no run", "401: no stream"],
  [none, "if (!run) return follow({ events: [], streams: new Set() }, 0, response);", "404: an unknown run", "404: the run of another thread"],
  ["thread.runs.get(runId)", "[...threads.values()].map(({ runs }) => runs.get(runId)).find(Boolean)", "404: the run of another thread"],
];

Deno.test({
  name: `the commands of docs/service.md tell what is wrong with a service`,
  ignore: missing("example in js") !== undefined,
  async fn() {
    const found = MISTAKES.map(async ([code, mistake]) => {
      const change = (text: string) => text.replaceAll(code, mistake);
      const options = { change };
      await using service = await RealService.start("example in js", options);
      return [code, mistake, ...await untrue(service)];
    });
    assertEquals<readonly unknown[]>(await Promise.all(found), MISTAKES);
  },
});

Deno.test({
  name: `the commands of docs/service.md tell whether comments come`,
  ignore: missing("example in js") !== undefined,
  async fn() {
    const start = async (comment: string) => {
      const change = (text: string) =>
        text.replace("15_000", "100").replace(": working", comment);
      return await RealService.start("example in js", { change });
    };
    await using sound = await start(": working");
    await using silent = await start("retry: 1");
    assertEquals(await untrueOfComments(sound), []);
    assertEquals((await untrueOfComments(silent)).length, 1);
  },
});
