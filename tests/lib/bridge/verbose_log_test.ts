import { assert, assertEquals, assertMatch } from "@std/assert";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import { ServiceError } from "../../../lib/gateway.ts";
import { type Answered, VerboseLog } from "../../../lib/bridge/verbose_log.ts";
import { VERSION } from "../../../lib/version.ts";

type Failure = ServiceError["failure"];

const TIME = /^agent-gateway \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /;

const SETTINGS = {
  baseUrl: "https://service.example/base",
  sources: { apiKey: "environment", baseUrl: "--base-url" },
};

/** The lines that a log writes, without the time. */
function logged(write: (log: VerboseLog) => void): string[] {
  let text = "";
  write(new VerboseLog((line) => text += line, SETTINGS));
  return text.trimEnd().split("\n").map((line) => {
    assertMatch(line, TIME);
    return line.replace(TIME, "");
  });
}

Deno.test("VerboseLog begins with what a bug report has to say: versions, and where the settings came from", () => {
  assertEquals(logged(() => {}), [
    `version ${VERSION}, deno ${Deno.version.deno}, ${Deno.build.target}`,
    "settings: key from environment, base URL https://service.example/base from --base-url",
  ]);
});

const ANSWERED: readonly (readonly [answered: Answered, line: string])[] = [
  [
    {
      ...{ method: "session/prompt", id: 3, sessionId: "s-1" },
      ...{ result: { stopReason: "end_turn" }, milliseconds: 1234.4 },
    },
    'session/prompt id=3 session=s-1: {"stopReason":"end_turn"}, 1234 ms',
  ],
  [
    {
      ...{ method: "session/new", id: "a" },
      ...{ result: { sessionId: "s-2" }, milliseconds: 5.6 },
    },
    'session/new id="a": {"sessionId":"s-2"}, 6 ms',
  ],
  [
    {
      ...{ method: "nope", id: 9007199254740993n, milliseconds: 0 },
      error: new RpcError(-32601, 'Method not found: "nope"'),
    },
    'nope id=9007199254740993: error -32601, Method not found: "nope", 0 ms',
  ],
  [
    { id: null, error: new RpcError(-32700, "Parse error"), milliseconds: 0 },
    "invalid line id=null: error -32700, Parse error, 0 ms",
  ],
  [
    { method: "session/cancel", sessionId: "s-1", milliseconds: 0 },
    "session/cancel session=s-1: notification",
  ],
];
Deno.test("VerboseLog.answered() tells method, id, session, outcome and duration", () => {
  for (const [answered, line] of ANSWERED) {
    const [, , ...lines] = logged((log) => log.answered(answered));
    assertEquals(lines, [line]);
  }
});

Deno.test("VerboseLog.answered() tells a failure of the service with thread and run, and without the service's words", () => {
  const failures: readonly Failure[] = [
    {
      operation: "create run",
      ...{ reason: "answered 422", fate: "refused" },
      ...{ detail: "bad prompt: my secret", status: 422 },
    },
    {
      operation: "stream run",
      ...{ reason: "the run failed", fate: "failed" },
      ...{ detail: "my secret", threadId: "t-1", runId: "r-1" },
    },
  ];
  const [, , ...lines] = logged((log) => {
    for (const failure of failures) {
      const cause = new ServiceError(failure);
      const error = new RpcError(-32603, cause.message, { cause });
      log.answered({ id: 1, method: "session/prompt", error, milliseconds: 1 });
    }
  });

  const start = "session/prompt id=1: error -32603,";
  assertEquals(lines, [
    `${start} create run: 422, 1 ms`,
    `${start} stream run thread=t-1 run=r-1: the run failed, 1 ms`,
  ]);
});

Deno.test("VerboseLog.exchange() tells operation, session, run, status and duration", () => {
  const operation = "create run";
  const [, , ...lines] = logged((log) => {
    log.exchange({ operation, status: 500, milliseconds: 12.3 });
    log.exchange({
      ...{ operation: "stream run", sessionId: "s-1", runId: "r-1" },
      ...{ status: undefined, milliseconds: 60_000 },
    });
  });

  assertEquals(lines, [
    "create run: 500, 12 ms",
    "stream run session=s-1 run=r-1: no answer, 60000 ms",
  ]);
});

Deno.test("VerboseLog.asked() tells the session, the outcome and the duration, and nothing of the file", () => {
  const kind = "response";
  const responses = [
    { kind, id: 1, result: { content: "secret" }, error: undefined },
    { kind, id: 1, result: undefined, error: { message: "secret" } },
    undefined,
  ] as const;
  const [, , ...lines] = logged((log) => {
    for (const response of responses) {
      const method = "fs/read_text_file";
      log.asked({ method, sessionId: "s-1", response, milliseconds: 1.6 });
    }
  });

  assertEquals(lines, [
    "asked fs/read_text_file session=s-1: answered, 2 ms",
    "asked fs/read_text_file session=s-1: error, 2 ms",
    "asked fs/read_text_file session=s-1: no answer, 2 ms",
  ]);
});

Deno.test("VerboseLog keeps a line short, plain and one line, whatever an editor sends", () => {
  const [, , line = ""] = logged((log) =>
    log.answered({
      id: "i".repeat(1_000_000),
      method: `\x1b[31mred\r\n\x07${"m".repeat(1_000_000)}`,
      sessionId: "s".repeat(1_000_000),
      result: { value: "r".repeat(1_000_000) },
      milliseconds: 0,
    })
  );

  assert(line.length < 500, `${line.length} characters`);
  assertMatch(
    line,
    /^red m+\.\.\. id="i+\.\.\. session=s+\.\.\.: \{"value":"r+\.\.\., 0 ms$/,
  );
});
