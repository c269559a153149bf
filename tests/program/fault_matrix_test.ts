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
import { encodeItem, progress } from "../support/service/behaviours.ts";
import type { Operation } from "../support/service/exchange.ts";

// What becomes of a prompt, whatever the service does wrong, at each operation.
// The words for each fault are tested in tests/lib/gateway, and so are the faults
// that take the real program longer: silence and other timeouts, and a stream that
// never recovers. Certificates and proxies are in networks_test.ts.

/** The exit codes and fates of a prompt that failed. */
type Fate =
  | ("3 not run" | "4 refused" | "1 refused")
  | ("5 may have run" | "5 may go on" | "1 failed");

/** How a prompt ends, and how often the operation is requested, if not once. */
type Ending = "0" | Fate | `${"0" | Fate}, ${number}x`;

/** The endings by the operation that meets a fault; `-` where it cannot. */
type Endings = readonly [
  thread: Ending | "-",
  run: Ending | "-",
  stream: Ending | "-",
];

/** Statuses that the first request of an operation is answered with. */
const STATUSES: readonly (readonly [statuses: string, ...Endings])[] = [
  ["302 308", "1 refused", "1 refused", "5 may go on"],
  ["400 409 422", "1 refused", "1 refused", "5 may go on"],
  ["401 403", "4 refused", "4 refused", "5 may go on"],
  ["404 410", "1 refused", "1 refused", "5 may have run"],
  ["408 425", "3 not run", "5 may have run", "5 may go on"],
  ["499", "1 refused", "5 may have run", "5 may go on"],
  ["500 501", "3 not run", "5 may have run", "5 may go on"],
  ["502 504", "3 not run", "5 may have run", "0, 2x"],
  ["503", "0, 2x", "5 may have run", "0, 2x"],
  ["429", "0, 2x", "0, 2x", "0, 2x"],
];

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

/** The text of an event. */
function step(id?: number): string {
  return new TextDecoder().decode(encodeItem(progress("plan", "on"), { id }));
}

const overload = status("503");
const busy = status("429");
const later = status("429", { "retry-after": "3600" });
const gzip = status("200", { "content-encoding": "gzip" });
const resumable = cut(`${HEAD}\r\n${step(7)}`);
const failed = 'data: {"event":"error","message":"No"}\n\n';

const cutJson = sayBody((body) => http("200 OK", {}, body.slice(0, -4)));
const picture = sayBody((body) =>
  http("200 OK", { "content-type": "image/png" }, body)
);

/** Sends more after the reply, and does not end. */
const endless: FaultyAnswer = async (connection, request) => {
  const stream = correctBody("stream", runOf(request));
  const head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
  await connection.write(head + stream + step() + stream);
  await connection.gone;
};

/** Answers that cannot be used, and connections that break. */
const UNUSABLE = ["1 refused", "5 may have run", "0, 2x"] as const;
const CUT = ["3 not run", "5 may have run", "5 may go on"] as const;
const BROKEN = ["3 not run", "5 may have run", "0, 2x"] as const;

/** Other answers to the first requests of an operation. */
const FAULTS: Readonly<
  Record<string, readonly [...Endings, ...answers: readonly FaultyAnswer[]]>
> = {
  "503, 4x": ["3 not run, 4x", "-", "-", ...Array(4).fill(overload)],
  "429, 4x": ["3 not run, 4x", "3 not run, 4x", "-", ...Array(4).fill(busy)],
  "429 for an hour": ["3 not run", "3 not run", "-", later],
  // Answers of status 200
  "no body": [...UNUSABLE, whole("")],
  "an array": [...UNUSABLE, whole("[]")],
  "no id": [...UNUSABLE, whole('{"id":7}')],
  "a web page": [...UNUSABLE, whole("<html>")],
  "cut JSON": [...UNUSABLE, cutJson],
  "another content type": ["0", "0", "0", picture],
  // Connections that break after the request was read
  "closed before the head": [...BROKEN, cut("")],
  "closed within the head": [...BROKEN, cut("HTTP/1.1 200 O")],
  "closed after the head": [...BROKEN, cut(`${HEAD}\r\n`)],
  "closed within the body": [...CUT, cut(`${HEAD}\r\n${step()}`)],
  "closed before the head, 2x": ["-", "-", "0, 3x", cut(""), cut("")],
  "reset before the head": [...BROKEN, cut("", "reset")],
  "reset within the head": [...BROKEN, cut(HEAD, "reset")],
  "no HTTP": [...BROKEN, cut("What?\r\n\r\n")],
  // Streams
  "204": ["-", "-", "5 may go on", status("204")],
  "gzip": ["-", "-", "5 may go on", gzip],
  "no reply": ["-", "-", "5 may go on", whole(step())],
  "a failed run": ["-", "-", "1 failed", whole(failed)],
  "an error alone": ["-", "-", "1 failed", whole('{"error":"No"}')],
  "cut, with ids": ["-", "-", "0, 2x", resumable],
  "cut, then 404": ["-", "-", "1 failed, 2x", resumable, status("404")],
  "cut, then 401": ["-", "-", "5 may go on, 2x", resumable, status("401")],
  "no end after its reply": ["-", "-", "0", endless],
};

const OPERATIONS = ["create thread", "create run", "stream"] as const;

/** One fault at one operation. */
interface Cell {
  readonly at: Operation;
  readonly fault: string;
  readonly ending: Ending;
  readonly answers: readonly FaultyAnswer[];
}

function cellsOf(
  fault: string,
  endings: readonly (Ending | "-")[],
  answers: readonly FaultyAnswer[],
): readonly Cell[] {
  return OPERATIONS.flatMap((at, index) => {
    const ending = endings[index] ?? "-";
    return ending === "-" ? [] : [{ at, fault, ending, answers }];
  });
}

const CELLS = [
  ...STATUSES.flatMap(([statuses, ...endings]) =>
    statuses.split(" ").flatMap((code) =>
      cellsOf(code, endings, [status(code)])
    )
  ),
  ...Object.entries(FAULTS).flatMap(([fault, [a, b, c, ...answers]]) =>
    cellsOf(fault, [a, b, c], answers)
  ),
];

/** Runs a prompt whose operation meets a fault. Returns how it ends, and what is told. */
async function run({ at, answers }: Cell) {
  let count = 0;
  await using service = await FaultyService.start(
    answering(({ operation }) =>
      operation === at ? answers[count++] : undefined
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
    const { at, fault, ending } = cell;
    await t.step(`${at}, ${fault}: ${ending}`, () => {
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
