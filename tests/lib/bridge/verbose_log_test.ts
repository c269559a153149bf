import { assert, assertEquals, assertMatch } from "@std/assert";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import { ServiceError } from "../../../lib/gateway/service_error.ts";
import { VerboseLog } from "../../../lib/bridge/verbose_log.ts";
import { VERSION } from "../../../lib/version.ts";

const TIME = /^agent-gateway \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /;

const SETTINGS = {
  baseUrl: "https://service.example/base",
  sources: { apiKey: "environment", baseUrl: "--base-url" },
};

/** The lines that a log writes after the first two, without the time. */
async function logged(write: (log: VerboseLog) => void): Promise<string[]> {
  let text = "";
  const decoder = new TextDecoder();
  const log = new VerboseLog(
    new WritableStream<Uint8Array>({
      write: (bytes) => void (text += decoder.decode(bytes)),
    }).getWriter(),
    SETTINGS,
  );
  write(log);
  await log.flush();
  return text.trimEnd().split("\n").slice(2).map((line) => {
    assertMatch(line, TIME);
    return line.replace(TIME, "");
  });
}

Deno.test("VerboseLog begins with what a bug report has to say: versions, and where the settings came from", async () => {
  let text = "";
  const decoder = new TextDecoder();
  const log = new VerboseLog(
    new WritableStream<Uint8Array>({
      write: (bytes) => void (text += decoder.decode(bytes)),
    }).getWriter(),
    SETTINGS,
  );
  await log.flush();

  assertEquals(text.split("\n").map((line) => line.replace(TIME, "")), [
    `version ${VERSION}, deno ${Deno.version.deno}, ${Deno.build.target}`,
    "settings: key from environment, base URL https://service.example/base from --base-url",
    "",
  ]);
});

Deno.test("VerboseLog.answered() tells method, id, session, outcome and duration", async () => {
  const lines = await logged((log) => {
    log.answered({
      id: 3,
      method: "session/prompt",
      sessionId: "s-1",
      result: { stopReason: "end_turn" },
      milliseconds: 1234.4,
    });
    log.answered({
      id: "a",
      method: "session/new",
      result: { sessionId: "s-2" },
      milliseconds: 5.6,
    });
    log.answered({
      id: 9007199254740993n,
      method: "nope",
      error: new RpcError(-32601, 'Method not found: "nope"'),
      milliseconds: 0,
    });
    log.answered({
      id: null,
      error: new RpcError(-32700, "Parse error: the line is not valid JSON"),
      milliseconds: 0,
    });
    log.answered({
      method: "session/cancel",
      sessionId: "s-1",
      milliseconds: 0,
    });
  });

  assertEquals(lines, [
    'session/prompt id=3 session=s-1: {"stopReason":"end_turn"}, 1234 ms',
    'session/new id="a": {"sessionId":"s-2"}, 6 ms',
    'nope id=9007199254740993: error -32601, Method not found: "nope", 0 ms',
    "invalid line id=null: error -32700, Parse error: the line is not valid JSON, 0 ms",
    "session/cancel session=s-1: notification",
  ]);
});

Deno.test("VerboseLog.answered() tells a failure of the service without the service's words", async () => {
  const answered = (cause: ServiceError) => ({
    id: 1,
    method: "session/prompt",
    error: new RpcError(-32603, cause.message, { cause }),
    milliseconds: 1,
  });

  const lines = await logged((log) => {
    log.answered(answered(
      new ServiceError("the service answered 422: bad prompt: my secret", {
        operation: "create run",
        status: 422,
      }),
    ));
    log.answered(answered(
      new ServiceError("the connection failed", { operation: "stream run" }),
    ));
  });

  assertEquals(lines, [
    "session/prompt id=1: error -32603, create run: 422, 1 ms",
    "session/prompt id=1: error -32603, Cannot follow the run: the connection failed, 1 ms",
  ]);
});

Deno.test("VerboseLog.exchange() tells operation, session, run, status and duration", async () => {
  const lines = await logged((log) => {
    log.exchange({ operation: "create run", status: 500, milliseconds: 12.3 });
    log.exchange({
      operation: "stream run",
      sessionId: "s-1",
      runId: "r-1",
      status: undefined,
      milliseconds: 60_000,
    });
    log.exchange({
      operation: "create run",
      sessionId: "s-1",
      status: 200,
      milliseconds: 1,
    });
  });

  assertEquals(lines, [
    "create run: 500, 12 ms",
    "stream run session=s-1 run=r-1: no answer, 60000 ms",
    "create run session=s-1: 200, 1 ms",
  ]);
});

Deno.test("VerboseLog.asked() tells the session, the outcome and the duration, and nothing of the file", async () => {
  const lines = await logged((log) => {
    const responses = [
      { result: { content: "secret" }, error: undefined },
      { result: undefined, error: { message: "secret" } },
    ].map((outcome) => ({ kind: "response", id: 1, ...outcome } as const));
    for (const response of [...responses, undefined]) {
      log.asked({
        method: "fs/read_text_file",
        sessionId: "s-1",
        response,
        milliseconds: 1.6,
      });
    }
  });

  assertEquals(lines, [
    "asked fs/read_text_file session=s-1: answered, 2 ms",
    "asked fs/read_text_file session=s-1: error, 2 ms",
    "asked fs/read_text_file session=s-1: no answer, 2 ms",
  ]);
});

Deno.test("VerboseLog keeps a line short, plain and one line, whatever an editor sends", async () => {
  const [line = ""] = await logged((log) =>
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

Deno.test("VerboseLog drops lines that nobody reads, and survives a reader that is gone", async () => {
  let written = 0;
  const release = Promise.withResolvers<void>();
  const log = new VerboseLog(
    new WritableStream<Uint8Array>({
      write: async (bytes) => {
        await release.promise;
        written += bytes.length;
      },
    }).getWriter(),
    SETTINGS,
  );
  const broken = new VerboseLog(
    new WritableStream<Uint8Array>({
      write: () => Promise.reject(new Error("gone")),
    }).getWriter(),
    SETTINGS,
  );
  const exchange = {
    operation: "create run",
    status: 200,
    milliseconds: 1,
  } as const;

  for (let i = 0; i < 50_000; i++) {
    log.exchange(exchange);
    broken.exchange(exchange);
  }
  release.resolve();
  await log.flush();
  await broken.flush();

  const MIB = 1024 * 1024;
  assert(written > MIB && written < MIB + 1000, `${written} bytes`);
});
