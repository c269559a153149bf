import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import {
  absentAt,
  answering,
  correctBody,
  type FaultyAnswer,
  http,
  runOf,
  say,
} from "../support/faulty_service/answers.ts";
import { FaultyService } from "../support/faulty_service/service.ts";
import { parseJsonLines } from "../support/json_lines.ts";
import type { Operation } from "../support/service/exchange.ts";
import { rowsOf } from "../support/tables.ts";

// What becomes of a prompt, whatever the service does wrong, at each operation.
// The words for each fault are tested in tests/lib/gateway, and so are the faults
// that take the real program longer: silence and other timeouts, and a stream that
// never recovers. Certificates and proxies are in networks_test.ts.

/**
 * What the first request of an operation is answered with, how the prompt ends then, by
 * the operation, and how often that is requested, if not once. `-`: not tried.
 */
const FAULTS = `
answers                         | thread         | run            | stream
302                             | 1 refused      | 1 refused      | 5 may go on
308                             | 1 refused      | 1 refused      | 5 may go on
400                             | 1 refused      | 1 refused      | 5 may go on
409                             | 1 refused      | 1 refused      | 5 may go on
422                             | 1 refused      | 1 refused      | 5 may go on
401                             | 4 refused      | 4 refused      | 5 may go on
403                             | 4 refused      | 4 refused      | 5 may go on
404                             | 1 refused      | 1 refused      | 5 may have run
410                             | 1 refused      | 1 refused      | 5 may have run
408                             | 3 not run      | 5 may have run | 5 may go on
425                             | 3 not run      | 5 may have run | 5 may go on
499                             | 1 refused      | 5 may have run | 5 may go on
500                             | 3 not run      | 5 may have run | 5 may go on
501                             | 3 not run      | 5 may have run | 5 may go on
502                             | 3 not run      | 5 may have run | 0, 2x
504                             | 3 not run      | 5 may have run | 0, 2x
503                             | 0, 2x          | 5 may have run | 0, 2x
429                             | 0, 2x          | 0, 2x          | 0, 2x
503, 503, 503, 503              | 3 not run, 4x  | -              | -
429, 429, 429, 429              | 3 not run, 4x  | 3 not run, 4x  | -
429 for an hour                 | 3 not run      | 3 not run      | -
no body                         | 1 refused      | 5 may have run | 0, 2x
an array                        | 1 refused      | 5 may have run | 0, 2x
no id                           | 1 refused      | 5 may have run | 0, 2x
a web page                      | 1 refused      | 5 may have run | 0, 2x
cut JSON                        | 1 refused      | 5 may have run | 0, 2x
another content type            | 0              | 0              | 0
closed before the head          | 3 not run      | 5 may have run | 0, 2x
closed within the head          | 3 not run      | 5 may have run | 0, 2x
closed after the head           | 3 not run      | 5 may have run | 0, 2x
closed within the body          | 3 not run      | 5 may have run | 5 may go on
reset before the head           | 3 not run      | 5 may have run | 0, 2x
reset within the head           | 3 not run      | 5 may have run | 0, 2x
no HTTP                         | 3 not run      | 5 may have run | 0, 2x
closed before the head, closed before the head | - | -            | 0, 3x
204                             | -              | -              | 5 may go on
gzip                            | -              | -              | 5 may go on
no reply                        | -              | -              | 5 may go on
a failed run                    | -              | -              | 1 failed
an error alone                  | -              | -              | 1 failed
cut after an id                 | -              | -              | 0, 2x
cut after an id, 404            | -              | -              | 1 failed, 2x
cut after an id, 401            | -              | -              | 5 may go on, 2x
no end after its reply          | -              | -              | 0
`;

function status(
  code: string,
  headers: Readonly<Record<string, string>> = {},
): FaultyAnswer {
  const all = { connection: "close", location: "/elsewhere", ...headers };
  return say(http(`${code} Status`, all, '{"message":"No"}'));
}

/** Sends the correct body in another way. */
function sayBody(change: (body: string) => Uint8Array): FaultyAnswer {
  return (connection, request) =>
    connection.write(change(correctBody(request.operation, runOf(request))));
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n";

/** Sends this, and ends the connection. */
function cut(sent: string, end: "destroy" | "reset" = "destroy"): FaultyAnswer {
  return async (connection) => {
    await connection.write(sent);
    connection[end]();
  };
}

/** A whole answer with this body. */
function whole(body: string): FaultyAnswer {
  return say(http("200 OK", {}, body));
}

const STEP = 'data: {"event":"progress","node":"plan","status":"on"}\n\n';

/** Answers that are no status. */
const ANSWERS: Readonly<Record<string, FaultyAnswer>> = {
  "429 for an hour": status("429", { "retry-after": "3600" }),
  "no body": whole(""),
  "an array": whole("[]"),
  "no id": whole('{"id":7}'),
  "a web page": whole("<html>"),
  "cut JSON": sayBody((body) => http("200 OK", {}, body.slice(0, -4))),
  "another content type": sayBody((body) =>
    http("200 OK", { "content-type": "image/png" }, body)
  ),
  "closed before the head": cut(""),
  "closed within the head": cut("HTTP/1.1 200 O"),
  "closed after the head": cut(`${HEAD}\r\n`),
  "closed within the body": cut(`${HEAD}\r\n${STEP}`),
  "reset before the head": cut("", "reset"),
  "reset within the head": cut(HEAD, "reset"),
  "no HTTP": cut("What?\r\n\r\n"),
  "gzip": status("200", { "content-encoding": "gzip" }),
  "no reply": whole(STEP),
  "a failed run": whole('data: {"event":"error","message":"No"}\n\n'),
  "an error alone": whole('{"error":"No"}'),
  "cut after an id": cut(`${HEAD}\r\nid: 7\n${STEP}`),
  "no end after its reply": async (connection, request) => {
    const stream = correctBody("stream", runOf(request));
    const head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    await connection.write(head + stream + STEP + stream);
    await connection.gone;
  },
};

/** One fault at one operation. */
interface Cell {
  readonly at: Operation;
  readonly ending: string;
  readonly answers: string;
}

const CELLS = rowsOf<"answers" | "thread" | "run" | "stream">(FAULTS)
  .flatMap(({ answers, thread, run, stream }): readonly Cell[] => [
    { answers, at: "create thread", ending: thread },
    { answers, at: "create run", ending: run },
    { answers, at: "stream", ending: stream },
  ])
  .filter(({ ending }) => ending !== "-");

/** Runs a prompt whose operation meets a fault. Returns how it ends, and what is told. */
async function run({ at, answers }: Cell) {
  const faults = answers.split(", ").map((it) => ANSWERS[it] ?? status(it));
  let count = 0;
  await using service = await FaultyService.start(
    answering(({ operation }) =>
      operation === at ? faults[count++] : undefined
    ),
  );
  const { code, stdout } = await runClient({
    args: ["--json", "-p", "hello"],
    env: settings(service),
  });
  const last = parseJsonLines(stdout).at(-1);
  const fate = last?.type === "error" ? ` ${last.fate}` : "";
  const requests = count === 1 ? "" : `, ${count}x`;
  return { ending: `${code}${fate}${requests}`, message: `${last?.message}` };
}

/**
 * How many programs run at once: most of them wait. On Wine each process would
 * inherit the connections of the others, which then do not end when the service
 * closes them.
 */
const AT_A_TIME = Deno.env.has("ON_WINE") ? 1 : 12;

Deno.test("whatever the service does wrong at each operation, the exit code and the fate say what became of the prompt", async (t) => {
  const ended = new Map<Cell, Awaited<ReturnType<typeof run>>>();
  const left = CELLS.values();
  const work = async () => {
    for (const cell of left) ended.set(cell, await run(cell));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  for (const cell of CELLS) {
    const { at, answers, ending } = cell;
    await t.step(`${at}, ${answers}: ${ending}`, () => {
      const told = ended.get(cell);
      assertEquals(told?.ending, ending);
      if (!ending.includes("may")) return;
      assertNotMatch(`${told?.message}`, /try (?:again|later)|ask again/);
    });
  }
});

const REFUSED =
  /^http:\S+ cannot be reached \(.*refused.*\)\. (?:The prompt did not run\. )?Check the base URL, the network and the service\.$/;

for (const at of ["create thread", "create run"] as const) {
  Deno.test(`a service that does not listen at "${at}" is 3 not run; when it listens again, an editor goes on`, async () => {
    await using service = await absentAt(at);
    const env = settings(service);
    await using editor = new Editor({ env });
    await editor.request("initialize");
    const ask = async () => {
      const created = await editor.request("session/new");
      if (at === "create thread") return created;
      return await editor.prompt(created.result.sessionId, "ask");
    };
    assertMatch((await ask()).error?.message ?? "", REFUSED);
    const args = ["--json", "-t", "thread-1", "-p", "hello"];
    const { code, stdout } = await runClient({ args, env });
    const last = parseJsonLines(stdout).at(-1);
    assert(last?.type === "error");
    assertEquals(`${code} ${last.fate}`, "3 not run");
    await service.return();
    assertEquals((await ask()).error, undefined);
  });
}
