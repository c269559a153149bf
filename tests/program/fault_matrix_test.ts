import {
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertObjectMatch,
} from "@std/assert";
import { Client, runClient, settings } from "../support/client_process.ts";
import { Editor, type Response } from "../support/editor.ts";
import { type Fault, faults, type Outcome } from "../support/faults.ts";
import {
  AbsentService,
  FaultyService,
  REPLY,
} from "../support/faulty_service.ts";
import type { Operation } from "../support/service/exchange.ts";
import { RawServer } from "../support/service/raw_server.ts";

/**
 * Each cell is a process of its own, and some wait, so several run in parallel. On
 * Wine each process would inherit the connections of the other cells, which then
 * do not end when the service closes them.
 */
const AT_A_TIME = Deno.env.has("ON_WINE") ? 1 : 16;

/** The operations as errors name them, and how their messages begin. */
const NAMES: Readonly<Record<Operation, readonly [string, string]>> = {
  "create thread": ["create thread", "Cannot create a thread: "],
  "create run": ["create run", "Cannot start a run: "],
  "stream": ["stream run", "Cannot follow the run: "],
};

const MODES = ["interactive", "bridge"] as const;
type Mode = typeof MODES[number];

const OPERATIONS = ["create thread", "create run", "stream"] as const;

/** One fault at one operation in one mode. */
interface Cell {
  readonly name: string;
  readonly at: Operation;
  readonly mode: Mode;
  readonly outcome: Outcome;
  /** Asserts the outcome. */
  show(): Promise<void>;
}

function cellsOf(fault: Fault): readonly Cell[] {
  const { name, onKeptConnection = false, post, run = post, stream } = fault;
  const outcomes = { "create thread": post, "create run": run, stream };
  return OPERATIONS.flatMap((at) => {
    const outcome = outcomes[at];
    if (outcome === undefined) return [];
    const cell = { name, at, outcome };
    const show = () => askByRequest(fault, cell);
    const bridge = { ...cell, mode: "bridge", show } as const;
    // Interactive mode creates its thread first, when no connection has been kept yet.
    if (onKeptConnection && at === "create thread") return [bridge];
    const prompt = () => askByPrompt(fault, cell);
    return [{ ...cell, mode: "interactive", show: prompt } as const, bridge];
  });
}

/** The requests of an operation that meet the fault after `before` successful ones. */
function faultyAfter(
  good: number,
  { times = 1 }: Fault,
  { requests }: Outcome,
): readonly number[] {
  const length = Math.min(times, requests); // The next prompt meets no fault.
  return Array.from({ length }, (_, index) => good + index + 1);
}

/** Interactive mode: prompts, piped in. */
async function askByPrompt(
  fault: Fault,
  { at, outcome }: Pick<Cell, "at" | "outcome">,
): Promise<void> {
  const before = fault.onKeptConnection ? 1 : 0;
  await using service = await FaultyService.start({
    at,
    faulty: faultyAfter(before, fault, outcome),
    answer: fault.answer,
    keepsConnections: fault.onKeptConnection,
  });

  const { code, stdout, stderr } = await runClient({
    args: ["--quiet"],
    env: settings(service),
    stdin: "before\n".repeat(before) + "faulty\nnext\n",
  });

  const failed = outcome.reason !== undefined;
  if (failed) {
    assertMatch(stderr, /^Error: [^\n]+\n$/);
    assertFailure(stderr.slice("Error: ".length, -1), at, outcome);
  } else {
    assertEquals(stderr, "");
  }
  const ends = failed && at === "create thread";
  const good = ends ? 0 : before + (failed ? 0 : 1) + 1;
  assertEquals(stdout, `${REPLY}\n`.repeat(good));
  assertEquals(code, failed ? 1 : 0);
  const others = at === "create thread" ? 0 : before + 1;
  assertEquals(service.requests(at).length, outcome.requests + others);
}

/** Bridge mode: requests of an editor. */
async function askByRequest(
  fault: Fault,
  { at, outcome }: Pick<Cell, "at" | "outcome">,
): Promise<void> {
  const before = fault.onKeptConnection ? 1 : 0;
  const good = at === "create thread" ? 1 : before;
  await using service = await FaultyService.start({
    at,
    faulty: faultyAfter(good, fault, outcome),
    answer: fault.answer,
    keepsConnections: fault.onKeptConnection,
  });
  await using editor = new Editor({ env: settings(service) });
  const sessionId = await editor.newSession();
  if (before > 0) await editor.prompt(sessionId, "before");
  const ask = () =>
    at === "create thread"
      ? editor.request("session/new")
      : editor.prompt(sessionId, "ask");

  const faulty = await ask();
  const next = await ask();
  const { code, stderr } = await editor.finish();

  const failed = outcome.reason !== undefined;
  if (failed) assertError(faulty, at, outcome);
  else assertEquals(faulty.error, undefined);
  assertEquals(next.error, undefined);
  const asked = at === "create thread" ? 0 : failed ? 1 : 2;
  assertEquals(
    editor.texts(sessionId, "agent_message_chunk"),
    Array.from({ length: before + asked }, () => REPLY),
  );
  assertEquals([code, stderr], [0, ""]);
  assertEquals(service.requests(at).length, good + outcome.requests + 1);
}

function assertError({ error }: Response, at: Operation, outcome: Outcome) {
  const [operation] = NAMES[at];
  // The tests of the bridge check the rest: the wording and the run.
  const { status } = outcome;
  assertObjectMatch(
    { data: error?.data },
    { data: status === undefined ? { operation } : { operation, status } },
  );
  const message = error?.message ?? "";
  assertReason(message.slice(message.indexOf(": ") + 2), at, outcome);
}

function assertFailure(message: string, at: Operation, outcome: Outcome) {
  const [, start] = NAMES[at];
  assertEquals(message.slice(0, start.length), start);
  if (at === "stream") assertEquals(message.slice(-RUN.length), RUN);
  assertReason(message.slice(start.length), at, outcome);
}

/** The end of an error for a run that could not be followed. */
const RUN = " (thread thread-1, run run-1)";

function assertReason(
  text: string,
  at: Operation,
  { reason, status }: Outcome,
) {
  assertMatch(text.replace(RUN, ""), reason ?? /never/);
  // A prompt that may have run is not sent again, and no message suggests it.
  if (at !== "create thread" && status !== 429) {
    assertNotMatch(text, /try again|try later/);
  }
}

/** A host name that does not exist. All operations use it, so the first one fails. */
function unknownName(): readonly Cell[] {
  const env = settings({ url: "https://service.invalid" });
  const at = "create thread";
  const outcome = {
    requests: 0,
    reason:
      /^https:\/\/service\.invalid cannot be reached \(.+\); check the base URL and the network$/,
  };
  const cell = { name: "name not found", at, outcome } as const;
  return [
    {
      ...cell,
      mode: "interactive",
      async show() {
        const output = await runClient({ args: ["--quiet"], env });
        assertEquals([output.code, output.stdout], [1, ""]);
        assertFailure(output.stderr.slice("Error: ".length, -1), at, outcome);
      },
    },
    {
      ...cell,
      mode: "bridge",
      async show() {
        await using editor = new Editor({ env });
        await editor.request("initialize");
        assertError(await editor.request("session/new"), at, outcome);
        assertError(await editor.request("session/new"), at, outcome);
        assertEquals((await editor.finish()).code, 0);
      },
    },
  ];
}

/** A service that does not listen when a thread or a run is due, and then listens again. */
function refusedConnections(at: Operation): readonly Cell[] {
  const advice = "check that the service runs, and the base URL";
  const outcome = {
    requests: 0,
    reason: RegExp(
      `^http:\\S+ cannot be reached \\(.*refused.*\\); ${advice}$`,
    ),
  };
  const cell = { name: "refused", at, outcome } as const;
  return [
    {
      ...cell,
      mode: "interactive",
      async show() {
        await using service = new AbsentService(at);
        await using client = new Client({
          args: ["--quiet"],
          env: settings(service),
        });
        const ends = at === "create thread";
        if (!ends) await client.write("faulty\n");
        const error = await client.stderr.waitFor("\n");
        service.return();
        const { code, stdout, stderr } = await client.finish("next\n");

        assertEquals(stderr, error);
        assertFailure(error.slice("Error: ".length, -1), at, outcome);
        assertEquals([code, stdout], [1, ends ? "" : `${REPLY}\n`]);
      },
    },
    {
      ...cell,
      mode: "bridge",
      async show() {
        await using service = new AbsentService(at);
        await using editor = new Editor({ env: settings(service) });
        await editor.request("initialize");
        const ask = async () => {
          const created = await editor.request("session/new");
          if (at === "create thread") return created;
          return await editor.prompt(created.result.sessionId, "ask");
        };
        assertError(await ask(), at, outcome);
        service.return();
        assertEquals((await ask()).error, undefined);
        assertEquals((await editor.finish()).code, 0);
      },
    },
  ];
}

Deno.test("whatever the service does wrong, at each operation and in both modes, the user reads what it is and goes on (interface 7)", async (t) => {
  await using elsewhere = await RawServer.start(() => {});
  const cells = [
    ...unknownName(),
    ...(["create thread", "create run"] as const).flatMap(refusedConnections),
    ...faults(elsewhere.url).flatMap(cellsOf),
  ];
  const passed = new Set<Cell>();
  const left = cells.values();
  const work = async () => {
    for (const cell of left) {
      const passes = await t.step({
        name: `${cell.name}, ${cell.at}, ${cell.mode}: ${summary(cell)}`,
        fn: () => cell.show(),
        sanitizeOps: false,
        sanitizeResources: false,
        sanitizeExit: false,
      });
      if (passes) passed.add(cell);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  if (Deno.env.has("FAULT_TABLE")) console.log(table(cells, passed));
  assertEquals(elsewhere.connections, 0, "a redirect was followed");
});

/** The user's output, and the number of requests that the service sees. */
function summary({ at, mode, outcome }: Cell): string {
  const { reason, requests } = outcome;
  const end = mode === "bridge"
    ? (at === "create thread" ? -32010 : -32603)
    : at === "create thread"
    ? "exit 1"
    : "error";
  return `${reason === undefined ? "reply" : end}, ${requests}x`;
}

function table(cells: readonly Cell[], passed: ReadonlySet<Cell>): string {
  const columns = OPERATIONS.flatMap((at) =>
    MODES.map((mode) => ({ at, mode }))
  );
  const rows = new Map(
    cells.map(({ name }) => [name, ["-", "-", "-", "-", "-", "-"]]),
  );
  for (const cell of cells) {
    const column = columns.findIndex(({ at, mode }) =>
      at === cell.at && mode === cell.mode
    );
    rows.get(cell.name)?.splice(
      column,
      1,
      `${passed.has(cell) ? "ok" : "FAILED"}: ${summary(cell)}`,
    );
  }
  const line = (first: string, rest: readonly string[]) =>
    [first.padEnd(44), ...rest.map((text) => text.padEnd(16))].join(" ")
      .trimEnd();
  return [
    line("", columns.map(({ at }) => at)),
    line("", columns.map(({ mode }) => mode)),
    ...Array.from(rows, ([name, texts]) => line(name, texts)),
  ].join("\n");
}
