import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { clientIn } from "../../../lib/bridge/capabilities.ts";
import {
  ClientOutput,
  ProgressLines,
} from "../../../lib/bridge/client_output.ts";
import { safe } from "../../../lib/text.ts";
import { ErrorCode, RpcError } from "../../../lib/bridge/json_rpc.ts";
import { message, thought } from "../../../lib/bridge/session_updates.ts";
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
    const name = redacted(text);
    const progress = { type: "progress", node: name, status: name } as const;
    await output.update(text, thought(text, progress));
    await output.progress(new ProgressLines(text, text), progress);
    const said = { by: "agent", messageId: text, text } as const;
    await output.update(text, message(said));
    await output.say(text, said);
    output.respond(text, { sessionId: text });
    output.fail(text, new RpcError(-32603, text, { details: text }));

    const lines = (await output.text()).split(ENDS);
    assertEquals(lines.length, 7);
    assertEquals(lines[1], lines[0]);
    assertEquals(lines[3], lines[2]);
    const [step, , reply, response, error] = lines.slice(1, 6)
      .map((line) => JSON.parse(line));
    assert(step.params.update._meta.node === name);
    assert(reply.params.update.content.text === text);
    assert(response.result.sessionId === text && response.id === text);
    assert(error.error.data.details === text && error.error.message === text);
  }
});

Deno.test("an update is a notification with its session and nothing else", async () => {
  const output = new KeptOutput();
  const update = { sessionUpdate: "x" };
  await output.update("s", update);
  assertEquals(await output.messages(), [{
    jsonrpc: "2.0",
    method: "session/update",
    params: { sessionId: "s", update },
  }]);
});

Deno.test("an event is formatted as any other update, whatever character is in its names", async () => {
  for (const node of [...BLOCKS[0] ?? "", ""]) {
    const name = redacted(node);
    const event = {
      type: "progress",
      node: name,
      status: safe`a${name}`,
    } as const;
    const output = new KeptOutput();
    await output.update("s", thought("m", event));
    await output.progress(new ProgressLines("s", "m"), event);
    const [update, progress] = (await output.text()).split("\n");
    assertEquals(progress, update);
  }
});

Deno.test("a long message is whole, wherever it is cut while it is written", async () => {
  for (const start of ["", "x", "\u0085", "é"]) {
    const text = `${start}${"😀".repeat(100_000)}`;
    const output = new KeptOutput();
    await output.say("s", { by: "agent", messageId: "m", text });
    assertEquals((await output.text()).includes("\\ud83d"), false);
    const [{ params }] = await output.messages();
    assert(params.update.content.text === text);
  }
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
      output.fail(1, new RpcError(code, details, { details }));
    }
    const [opening, other] = await output.messages();
    assertEquals(other.error.data, { details });
    assertEquals(opening.error.data, name === "zed" ? undefined : { details });
    assertEquals(opening.error.message, details);
  }
});

Deno.test("a response keeps 10 ms of distance from the moment when the update before it was written", async () => {
  using clock = new FakeClock();
  const output = new KeptOutput();
  const { promise, resolve } = Promise.withResolvers<void>();
  output.writing = promise;
  await output.update("s", { sessionUpdate: "x" });
  let hasDistance = false;
  const keeping = output.keepDistance().then(() => hasDistance = true);

  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(clock.pending, 0); // It is not written yet.
  resolve();
  await output.flush();
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals([clock.pending, hasDistance], [1, false]);
  clock.passTo(9);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(hasDistance, false);
  clock.passTo(10);
  await keeping;
});

Deno.test("nothing but ClientOutput writes what the bridge writes", async () => {
  const folder = new URL("../../../lib/bridge/", import.meta.url);
  const found = [];
  for await (const { name } of Deno.readDir(folder)) {
    const code = await Deno.readTextFile(new URL(name, folder));
    if (/LineWriter|outputSink|\.write(?:InTurn)?\(/.test(code)) {
      found.push(name);
    }
  }
  assertEquals(found, ["client_output.ts"]);
});
