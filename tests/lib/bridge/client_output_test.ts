import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { clientIn } from "../../../lib/bridge/capabilities.ts";
import { ClientOutput } from "../../../lib/bridge/client_output.ts";
import { ErrorCode, RpcError } from "../../../lib/bridge/json_rpc.ts";
import { FakeClock } from "../../support/clocks.ts";
import { redacted } from "../../support/texts.ts";

/** A client's output that keeps the messages that were written. */
class KeptOutput extends ClientOutput {
  readonly #chunks: Uint8Array[];
  /** Each write waits for this promise. */
  writing: Promise<void> = Promise.resolve();

  constructor() {
    const chunks: Uint8Array[] = [];
    super({
      write: async (bytes) => {
        await this.writing;
        chunks.push(bytes.slice());
      },
    });
    this.#chunks = chunks;
  }

  async text(): Promise<string> {
    await this.flush();
    return await new Blob(this.#chunks as BlobPart[]).text();
  }

  // deno-lint-ignore no-explicit-any -- what a test expects, it asserts
  async messages(): Promise<readonly any[]> {
    const lines = (await this.text()).split("\n");
    return lines.slice(0, -1).map((line) => JSON.parse(line));
  }
}

/** What some reader takes for the end of a line, and JSON may hold as it is. */
const ENDS = /[\n\r\u0085\u2028\u2029]/;

Deno.test("each message is one line for every reader of lines, whatever character is in it", async () => {
  for (let block = 0; block < 0x10000; block += 0x100) {
    const units = Array.from({ length: 0x100 }, (_, i) => block + i);
    const text = String.fromCharCode(...units);
    const output = new KeptOutput();
    output.update(text, { sessionUpdate: text });
    output.respond(text, { text });
    output.fail(text, new RpcError(1, redacted(text)));

    const lines = (await output.text()).split(ENDS).slice(0, -1);
    assertEquals(lines.map((line) => JSON.parse(line)), [
      {
        jsonrpc: "2.0",
        method: "session/update",
        params: { sessionId: text, update: { sessionUpdate: text } },
      },
      { jsonrpc: "2.0", id: text, result: { text } },
      { jsonrpc: "2.0", id: text, error: { code: 1, message: redacted(text) } },
    ]);
  }
});

Deno.test("Zed gets the error that opens no session without data, and other errors and clients with exactly the details", async () => {
  const message = redacted("No key");
  const { cannotOpenSession, internalError } = ErrorCode;
  for (const name of ["zed", "other"]) {
    const output = new KeptOutput();
    output.client = clientIn({ clientInfo: { name } });
    for (const code of [cannotOpenSession, internalError]) {
      output.fail(1, new RpcError(code, message, { details: message }));
    }
    const errors = (await output.messages()).map(({ error }) => error);
    const data = { details: message };
    const opening = { code: cannotOpenSession, message };
    assertEquals(errors, [
      name === "zed" ? opening : { ...opening, data },
      { code: internalError, message, data },
    ]);
  }
});

Deno.test("a response keeps a distance of 30 ms and 0.05 ms for each update, at most 1 s, from when they are written", async () => {
  using clock = new FakeClock();
  for (
    const [updates, distance] of [
      ...[[0, 0], [1, 31], [3, 31], [400, 50], [2000, 130]],
      ...[[19_400, 1000], [20_000, 1000], [100_000, 1000]],
    ] as const
  ) {
    const output = new KeptOutput();
    const { promise, resolve } = Promise.withResolvers<void>();
    output.writing = promise;
    output.update("s", { sessionUpdate: "x" });
    let hasDistance = false;
    const keeping = output.keepDistance(updates)
      .then(() => hasDistance = true);
    await setImmediate();
    assertEquals(clock.pending, 0); // It is not written yet.
    resolve();
    await output.flush();
    await setImmediate();
    clock.elapse(distance - 1);
    await setImmediate();
    assertEquals(hasDistance, updates === 0);
    clock.elapse(1);
    await keeping;
  }
});

Deno.test("nothing but ClientOutput writes what the bridge writes", async () => {
  const folder = new URL("../../../lib/bridge/", import.meta.url);
  const found = [];
  for await (const { name } of Deno.readDir(folder)) {
    const code = await Deno.readTextFile(new URL(name, folder));
    if (/LineWriter|outputSink|\.(?:write|gather)\(/.test(code)) {
      found.push(name);
    }
  }
  assertEquals(found, ["client_output.ts"]);
});
