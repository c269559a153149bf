import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { clientIn } from "../../../lib/bridge/capabilities.ts";
import { ClientOutput } from "../../../lib/bridge/client_output.ts";
import { ErrorCode, RpcError } from "../../../lib/bridge/json_rpc.ts";
import { unchanged } from "../../../lib/text.ts";
import { updatesFor } from "../../../lib/bridge/session_updates.ts";
import { FakeClock } from "../../support/clocks.ts";
import fc from "../../support/generated.ts";
import { redacted } from "../../support/texts.ts";

/** An output whose lines are kept, as the messages that they are. */
class KeptOutput extends ClientOutput {
  readonly #chunks: Uint8Array[];
  /** What writing waits for. */
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

/** Every character that is one code unit, in texts of 256. */
const BLOCKS = Array.from(
  { length: 0x100 },
  (_, block) =>
    Array.from(
      { length: 0x100 },
      (_, i) => String.fromCharCode(block * 0x100 + i),
    ).join(""),
);

Deno.test("each message is one line for every reader of lines, whatever is in it", async () => {
  for (const text of BLOCKS) {
    const output = new KeptOutput();
    const ids = { thoughts: text, reply: text };
    const name = redacted(text);
    const events = [
      { type: "progress", node: name, status: name },
      { type: "reply", text: unchanged(text), isNotice: false },
    ] as const;
    for (const event of events) {
      const updates = updatesFor(event, ids, output.client);
      for (const update of updates) output.update(text, update);
    }
    output.respond(text, { sessionId: text });
    output.fail(
      text,
      new RpcError(-32603, name, { details: name }),
    );

    const lines = (await output.text()).split(ENDS);
    assertEquals(lines.length, 5);
    const [step, reply, response, error] = lines.slice(0, -1)
      .map((line) => JSON.parse(line));
    assert(step.params.update._meta.node === name);
    assert(reply.params.update.content.text === unchanged(text));
    assert(response.result.sessionId === text && response.id === text);
    assert(error.error.data.details === name && error.error.message === name);
  }
});

Deno.test("an update is a notification with its session and nothing else", async () => {
  const output = new KeptOutput();
  const update = { sessionUpdate: "x" };
  output.update("s", update);
  assertEquals(await output.messages(), [{
    jsonrpc: "2.0",
    method: "session/update",
    params: { sessionId: "s", update },
  }]);
});

/** Any text, lone surrogates included. */
const anyText = fc.array(fc.nat(0x10ffff))
  .map((points) => String.fromCodePoint(...points));

Deno.test("a message is one line with any text", async () => {
  const property = fc.asyncProperty(anyText, async (text) => {
    const output = new KeptOutput();
    output.notify("m", { text });
    const written = await output.text();
    assertEquals(JSON.parse(written).params.text, text);
    assertNotMatch(written.slice(0, -1), ENDS);
  });
  await fc.assert(property);
});

Deno.test("Zed gets the error that opens no session without data, and other errors and clients with exactly the details", async () => {
  const details = "No key";
  for (const name of ["zed", "other"]) {
    const output = new KeptOutput();
    output.client = clientIn({ clientInfo: { name } });
    for (
      const code of [ErrorCode.cannotOpenSession, ErrorCode.internalError]
    ) {
      output.fail(
        1,
        new RpcError(code, redacted(details), { details: redacted(details) }),
      );
    }
    const [opening, other] = await output.messages();
    assertEquals(other.error.data, { details });
    assertEquals(opening.error.data, name === "zed" ? undefined : { details });
    assertEquals(opening.error.message, details);
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
