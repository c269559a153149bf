import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { gzipSync } from "node:zlib";
import { runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import {
  absentAt,
  answering,
  correctBody,
  type FaultyAnswer,
  FaultyService,
  http,
  runOf,
  say,
} from "../support/faulty_service.ts";
import { encodeItem, progress } from "../support/service/behaviours.ts";
import type { Operation } from "../support/service/exchange.ts";

// Whatever a service does wrong, at each operation, in both modes. Faults that
// take the real program longer are in tests/lib/gateway: silence and other
// timeouts, a `Retry-After` above zero, and a stream that never recovers.
// Certificates and proxies are in networks_test.ts.

/** The outcome of an operation whose requests meet a fault. */
interface Outcome {
  /** How many requests the service sees. */
  readonly requests: number;
  /** The error's text after `Cannot ...: `. If none, the operation succeeds in the end. */
  readonly reason?: RegExp;
}

/** A way in which the service fails. */
interface Fault {
  readonly name: string;
  readonly answer: FaultyAnswer;
  /** The number of requests in a row that meet it. The default is 1. */
  readonly times?: number;
  /** The outcome of creating a thread or a run. If none, the fault does not apply there. */
  readonly post?: Outcome;
  /** The outcome of creating a run, if it differs. */
  readonly run?: Outcome;
  /** The outcome of following a run. If none, the fault does not apply there. */
  readonly stream?: Outcome;
}

const works = (requests: number): Outcome => ({ requests });
const fails = (reason: RegExp, requests = 1): Outcome => ({ requests, reason });

/** @param elsewhere Where redirects lead: the URL of another origin. */
function faults(elsewhere: string): readonly Fault[] {
  const location = `${elsewhere}/threads`;
  const redirect = `, a redirect to ${elsewhere}; redirects are not followed.*`;
  return [
    ...["301 Moved", "302 Found", "307 Temporary", "308 Permanent"].map(
      (line) => refusal(line, redirect, { headers: { location } }),
    ),
    ...REFUSALS,
    ...OVERLOADS,
    ...ANSWERS,
    ...BROKEN_BEFORE_BODY,
    ...BROKEN_STREAMS,
  ];
}

/** @param told What follows the status, as a regular expression. */
function refusal(
  line: string,
  told: string,
  { headers = {}, body = "" }: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  } = {},
): Fault {
  const reason = RegExp(`answered ${Number.parseInt(line)}${told}$`);
  const answer = say(http(line, headers, body));
  const stream = /^50[24]/.test(line) ? works(2) : fails(reason);
  return { name: line, answer, post: fails(reason), stream };
}

/** The advice, and whether the prompt may have run. */
const ADVICE = "(?: \\(.+\\))?";

const REFUSALS: readonly Fault[] = [
  refusal("400 Bad Request", `${ADVICE}: no such field`, {
    body: '{"message":"no such field"}',
  }),
  refusal("401 Unauthorized", `, the API key was rejected${ADVICE}: who\\?`, {
    body: '{"message":"who?"}',
  }),
  refusal("403 Forbidden", `, the API key was rejected${ADVICE}`),
  refusal("404 Not Found", `${ADVICE}: gone`, { body: '{"error":"gone"}' }),
  refusal("409 Conflict", `${ADVICE}: busy`, {
    body: '{"error":{"message":"busy"}}',
  }),
  refusal("422 Unprocessable", `${ADVICE}: bad`, { body: '{"detail":"bad"}' }),
  refusal("500 Internal", `${ADVICE}: oh`, { body: '{"message":"oh"}' }),
  refusal("502 with HTML", `${ADVICE}: Bad Gateway`, {
    headers: { "content-type": "text/html" },
    body: "<html><title>Bad Gateway</title>\r\n\r\n<h1>nginx</h1></html>",
  }),
  ...["504 Timeout", "408 Timeout", "425 Too Early", "499 Closed"].map((line) =>
    refusal(line, ADVICE)
  ),
];

const PAST = "Sun, 06 Nov 1994 08:49:37 GMT";

const OVERLOADS = ["429", "503"].flatMap((status) => {
  const overload = (retryAfter: string | undefined, times: number): Fault => {
    const reason = RegExp(`answered ${status}${ADVICE}: slow down$`);
    const passes = works(times + 1);
    const answer = say(http(
      `${status} Overload`,
      // Without this header, the next request may meet the end of this connection.
      { connection: "close", ...retryAfter && { "retry-after": retryAfter } },
      '{"message":"slow down"}',
    ));
    const post = times < 4 ? passes : fails(reason, 4);
    return {
      name: `${status}, Retry-After ${retryAfter}, ${times}x`,
      ...{ answer, times, post },
      ...times < 4 && { stream: passes }, // which is asked for much longer
      ...status === "503" && { run: fails(reason) },
    };
  };
  return [
    ...[overload("0", 1), overload("0", 4), overload(PAST, 1)],
    overload(undefined, 3),
  ];
});

/** Sends the correct body in another way, and closes the connection. */
function sayBody(change: (body: string) => Uint8Array): FaultyAnswer {
  return (connection, request) =>
    connection.write(change(correctBody(request.operation, runOf(request))));
}

/** How the error for a stream ends. On a busy machine it tells of silence, too. */
const MAY_GO_ON =
  "(?:, after \\d+ s without an event)?; the run may still go on at the service$";
/** The stream ends correctly, but the run is not complete. */
const UNFINISHED = fails(
  RegExp(`^the stream ended before the run completed${MAY_GO_ON}`),
);
const NO_OBJECT = fails(/^the answer \(status 200\) is not a JSON object; /);
const NO_ID = fails(/^the answer holds no (?:thread_id|run_id); /);
const COMPRESSED = fails(
  /^the stream is compressed, .+; switch off compression .+; the run may still go on at the service$/,
);

/** Answers with their outcomes for a thread or a run, and for a stream. */
const ANSWERS = faultsOf({
  "an empty body": [say(http("200 OK", {})), NO_OBJECT, UNFINISHED],
  "an array": [say(http("200 OK", {}, "[]")), NO_OBJECT, UNFINISHED],
  "no id": [say(http("200 OK", {}, '{"id":7}')), NO_ID, UNFINISHED],
  "JSON that is cut off": [
    sayBody((body) => http("200 OK", {}, body.trimEnd().slice(0, -1))),
    NO_OBJECT,
    UNFINISHED,
  ],
  "another content type": [
    sayBody((body) => http("200 OK", { "content-type": "image/png" }, body)),
    works(1),
    works(1),
  ],
  "gzip": [
    sayBody((body) =>
      http("200 OK", { "content-encoding": "gzip" }, gzipSync(body))
    ),
    works(1),
    COMPRESSED,
  ],
});

function faultsOf(
  table: Readonly<
    Record<
      string,
      readonly [FaultyAnswer, Outcome | undefined, Outcome, times?: number]
    >
  >,
): readonly Fault[] {
  return Object.entries(table).map((
    [name, [answer, post, stream, times = 1]],
  ) => ({
    ...{ name, answer, stream, times },
    ...post && { post },
  }));
}

const BROKEN = fails(/^the connection to http:\S+ broke \(.+\); /);
const LOST = fails(
  RegExp(`^the connection to http:\\S+ broke \\(.+\\)${MAY_GO_ON}`),
);

const HEAD = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n";
const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";

/** Sends this, and ends the connection. */
function cut(sent: string, end: "destroy" | "reset" = "destroy"): FaultyAnswer {
  return async (connection) => {
    await connection.write(sent);
    connection[end]();
  };
}

/** A stream that sends these bytes and then breaks the connection. */
function brokenStream(sent: string): FaultyAnswer {
  return cut(`${STREAM_HEAD}content-length: 1000\r\n\r\n${sent}`);
}

/**
 * Connections that break after the request was read and before the first byte
 * of a body.
 */
const BROKEN_BEFORE_BODY: readonly Fault[] = Object.entries({
  "closed before the head": cut(""),
  "reset before the head": cut("", "reset"),
  "closed within the head": cut("HTTP/1.1 200 O"),
  "reset within the head": cut(HEAD, "reset"),
  "closed after the head": cut(`${HEAD}\r\n`),
  "closed after no HTTP": cut("What?\r\n\r\n"),
}).map(([name, answer]) => ({
  ...{ name, answer, post: BROKEN, stream: works(2) },
}));

/**
 * A stream that sends the text for the request's `Last-Event-ID` and breaks. If
 * there is no text for the id, it completes.
 */
function resumedStream(
  sentAfterId: Readonly<Record<string, string>>,
): FaultyAnswer {
  return (connection, request) => {
    const cursor = /^last-event-id: (.*)\r$/im.exec(request.head)?.[1] ?? "";
    const sent = sentAfterId[cursor];
    const answer = sent === undefined
      ? sayBody((body) => http("200 OK", {}, body))
      : brokenStream(sent);
    return answer(connection, request);
  };
}

function step(id?: number): string {
  return new TextDecoder().decode(encodeItem(progress("plan", "on"), { id }));
}

/** Streams that end too early, too late, or in parts. */
const BROKEN_STREAMS = faultsOf({
  "closed within the body": [
    (connection, request) =>
      brokenStream(request.operation === "stream" ? step() : "{")(
        connection,
        request,
      ),
    BROKEN,
    LOST,
  ],
  "closed before the head, 2x": [cut(""), undefined, works(3), 2],
  "no complete": [say(http("200 OK", {}, step())), undefined, UNFINISHED],
  "more after complete, without an end": [
    async (connection, request) => {
      const stream = correctBody("stream", runOf(request));
      await connection.write(`${STREAM_HEAD}\r\n${stream}${step()}${stream}`);
      await connection.gone;
    },
    undefined,
    works(1),
  ],
  "ids: breaks once": [
    resumedStream({ "": step(7) }),
    ...[undefined, works(2), 2] as const,
  ],
  "ids: breaks again after a new event": [
    resumedStream({ "": step(7), "7": step(8) }),
    ...[undefined, works(3), 3] as const,
  ],
  "ids: starts over from the beginning": [
    brokenStream(step(7) + step(8)),
    ...[undefined, works(3), 2] as const,
  ],
});

/** One fault at one operation. */
interface Cell {
  readonly at: Operation;
  /** The prompt that meets it. */
  readonly prompt: string;
  readonly fault: Fault;
  readonly outcome: Outcome;
}

function cellsOf(fault: Fault): readonly Cell[] {
  const { name, post, run = post, stream } = fault;
  const outcomes = { "create thread": post, "create run": run, stream };
  return OPERATIONS.flatMap((at) => {
    const outcome = outcomes[at];
    const prompt = `${name}, ${at}`;
    return outcome === undefined ? [] : [{ at, prompt, fault, outcome }];
  });
}

const OPERATIONS = ["create thread", "create run", "stream"] as const;

/** How the program answered a cell, and the number of requests that the service saw. */
interface Answered {
  readonly cell: Cell;
  readonly error: string | undefined;
  readonly requests: number;
}

/**
 * A service on which the requests of a prompt meet the fault of its cell. A
 * request for a thread meets that of `current`.
 */
async function startService(cells: readonly Cell[]) {
  const byPrompt = new Map(cells.map((cell) => [cell.prompt, cell]));
  const requests = new Map<Cell, number>();
  const script = answering((request) => {
    const cell = request.operation === "create thread"
      ? faulty.current
      : byPrompt.get(runOf(request));
    if (cell?.at !== request.operation) return undefined;
    const count = (requests.get(cell) ?? 0) + 1;
    requests.set(cell, count);
    const { answer, times = 1 } = cell.fault;
    return count <= times ? answer : undefined;
  });
  const service = await FaultyService.start(script);
  const faulty = {
    env: settings(service),
    current: undefined as Cell | undefined,
    /** The outcome of a cell, of which the program told this error. */
    answered: (cell: Cell, error: string | undefined): Answered => ({
      ...{ cell, error, requests: requests.get(cell) ?? 0 },
    }),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
  return faulty;
}

/** An editor in which each prompt has a session of its own; all run at once. */
async function promptsOfEditor(cells: readonly Cell[]): Promise<Answered[]> {
  await using faulty = await startService(cells);
  await using editor = new Editor({ env: faulty.env });
  await editor.request("initialize");
  const answered = await Promise.all(cells.map(async (cell) => {
    const { result: { sessionId } } = await editor.request("session/new");
    const { error } = await editor.prompt(sessionId, cell.prompt);
    assertEquals((await editor.prompt(sessionId, "next")).error, undefined);
    const replies = error ? ["next"] : [cell.prompt, "next"];
    assertEquals(
      editor.texts(sessionId, "agent_message_chunk"),
      replies.map((prompt) => `Reply to ${prompt}`),
    );
    return faulty.answered(cell, error?.message);
  }));
  const { code, stderr } = await editor.finish();
  assertEquals([code, stderr], [0, ""]);
  return answered;
}

/** An editor that asks for one session after the other. */
async function sessionsOfEditor(cells: readonly Cell[]): Promise<Answered[]> {
  await using faulty = await startService(cells);
  await using editor = new Editor({ env: faulty.env });
  await editor.request("initialize");
  const answered: Answered[] = [];
  for (const cell of cells) {
    faulty.current = cell;
    const { error } = await editor.request("session/new");
    answered.push(faulty.answered(cell, error?.message));
    faulty.current = undefined;
    assertEquals((await editor.request("session/new")).error, undefined);
  }
  return answered;
}

/**
 * Prompts that are piped into interactive mode, with a good one before and after
 * each: it leaves its connection open.
 */
async function promptsOfPipe(cells: readonly Cell[]): Promise<Answered[]> {
  await using faulty = await startService(cells);
  const { code, stdout, stderr } = await runClient({
    args: ["--quiet"],
    env: faulty.env,
    stdin: `next\n${cells.map(({ prompt }) => `${prompt}\nnext\n`).join("")}`,
  });
  const errors = stderr.trimEnd().split("\n");
  const replies = ["next"];
  const answered = cells.map((cell) => {
    const hasFailed = cell.outcome.reason !== undefined;
    if (!hasFailed) replies.push(cell.prompt);
    replies.push("next");
    return faulty.answered(cell, hasFailed ? errors.shift() : undefined);
  });
  assertEquals(errors.filter((line) => line !== ""), []);
  assertEquals(
    stdout,
    replies.map((prompt) => `Reply to ${prompt}\n`).join(""),
  );
  assertEquals(code > 0, cells.some(({ outcome }) => outcome.reason));
  return answered;
}

/** Interactive mode, which creates its thread at its start. */
async function threadsOfPipe(cells: readonly Cell[]): Promise<Answered[]> {
  const answered: Answered[] = [];
  for (const cell of cells) {
    await using faulty = await startService([]);
    faulty.current = cell;
    const { code, stdout, stderr } = await runClient({
      args: ["--quiet"],
      env: faulty.env,
      stdin: "next\n",
    });
    const hasFailed = cell.outcome.reason !== undefined;
    const replies = hasFailed ? "" : "Reply to next\n";
    assertEquals([code > 0, stdout], [hasFailed, replies]);
    answered.push(
      faulty.answered(cell, hasFailed ? stderr.trimEnd() : undefined),
    );
  }
  return answered;
}

/** How messages begin in the modes: as errors, and as answers for editors. */
const STARTS: Readonly<Record<Operation, RegExp>> = {
  "create thread": /^(?:Error: Cannot create a thread|Cannot start a chat): /,
  "create run": /^(?:Error: )?Cannot start a run: /,
  "stream": /^(?:Error: )?Cannot follow the run: /,
};

function assertAnswered({ cell, error, requests }: Answered): void {
  const { at, prompt, outcome: { reason } } = cell;
  assertEquals(requests, cell.outcome.requests);
  if (reason === undefined) return assertEquals(error, undefined);
  assertMatch(error ?? "", STARTS[at]);
  // Lines name the run; messages for editors do not.
  const run = ` (thread thread-1, run ${prompt})`;
  if (at === "stream" && error?.startsWith("Error: ")) {
    assertEquals(error.slice(-run.length), run);
  }
  const text = error?.replace(STARTS[at], "").replace(run, "") ?? "";
  assertMatch(text, reason);
  // A prompt that may have run is not sent again, and no message suggests it.
  if (at !== "create thread" && !text.includes(" 429 ")) {
    assertNotMatch(text, /try again|try later/);
  }
}

/**
 * How many programs run at once: most of them wait. On Wine each process would
 * inherit the connections of the others, which then do not end when the service
 * closes them.
 */
const AT_A_TIME = Deno.env.has("ON_WINE") ? 1 : 24;

/** How each operation is asked for in each mode, and by how many programs. */
const MODES = [
  ["stream", "interactive mode", promptsOfPipe, 12],
  ["stream", "an editor", promptsOfEditor, 1],
  ["create run", "interactive mode", promptsOfPipe, 4],
  ["create run", "an editor", promptsOfEditor, 1],
  ["create thread", "interactive mode", threadsOfPipe, 8],
  ["create thread", "an editor", sessionsOfEditor, 8],
] as const;

Deno.test("whatever the service does wrong, at each operation and in both modes, the user reads what it is and goes on (interface 7)", async (t) => {
  await using elsewhere = await FaultyService.start(() => {});
  const cells = faults(elsewhere.url).flatMap(cellsOf);
  const jobs = MODES.flatMap(([at, mode, ask, programs]) => {
    const own = cells.filter((cell) => cell.at === at);
    const groups = Object.groupBy(own, (cell) => own.indexOf(cell) % programs);
    return Object.values(groups).map((group = []) => async () => {
      const answered = await ask(group);
      return answered.map((answer) => ({ mode, answer }));
    });
  }).values();
  const work = () => Array.fromAsync(jobs, (job) => job());
  const workers = Array.from({ length: AT_A_TIME }, work);
  for (const { mode, answer } of (await Promise.all(workers)).flat(2)) {
    const { prompt, outcome: { requests, reason } } = answer.cell;
    const end = reason === undefined ? "works" : "an error";
    await t.step(
      `${prompt}, ${mode}: ${end}, ${requests}x`,
      () => assertAnswered(answer),
    );
  }
  assertEquals(elsewhere.connections, 0, "a redirect was followed");
});

const REFUSED =
  /^Cannot start a (?:chat|run): http:\S+ cannot be reached \(.*refused.*\); check the base URL, the network and the service(?:; the run was not started)?$/;

for (const at of ["create thread", "create run"] as const) {
  Deno.test(`a service that does not listen at "${at}", and then listens again, is an error once for an editor`, async () => {
    await using service = await absentAt(at);
    await using editor = new Editor({ env: settings(service) });
    await editor.request("initialize");
    const ask = async () => {
      const created = await editor.request("session/new");
      if (at === "create thread") return created;
      return await editor.prompt(created.result.sessionId, "ask");
    };
    assertMatch((await ask()).error?.message ?? "", REFUSED);
    await service.return();
    assertEquals((await ask()).error, undefined);
  });
}
