import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import {
  type ProcessUsage,
  processUsage,
} from "../../tools/bench/processes.ts";
import { settings } from "../support/client_process.ts";
import { Editor, isUpdate, type Message } from "../support/editor.ts";
import { times } from "../support/repetitions.ts";

const MIB = 1024 * 1024;

/** Memory is read from /proc, so only on Linux. */
const ignore = Deno.build.os !== "linux";

/** A service that only sends fixed answers, with this as its only stream. */
function serve(stream: () => Iterable<Uint8Array>) {
  const abort = new AbortController();
  let ids = 0;
  const server = Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      signal: abort.signal,
      onListen: () => {},
    },
    async (request) => {
      await request.body?.cancel();
      if (request.method === "GET") {
        return new Response(ReadableStream.from(stream()), {
          headers: { "content-type": "text/event-stream" },
        });
      }
      const id = `${ids++}`;
      return Response.json({ thread_id: id, run_id: id });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    async [Symbol.asyncDispose]() {
      abort.abort();
      await server.finished;
    },
  };
}

/** An editor whose messages are too many to be kept. */
function open(
  service: { readonly url: string },
  onMessage: (message: Message) => void = () => {},
): Editor {
  return new Editor({ env: settings(service), onMessage });
}

const usage = ({ client }: Editor) => processUsage(client.pid);

const encoder = new TextEncoder();
const line = (event: unknown) => `data: ${JSON.stringify(event)}\n\n`;
const COMPLETE = encoder.encode(
  line({ event: "complete", instructorState: { explanation: "Done." } }),
);

function* repeat(bytes: Uint8Array, times: number) {
  for (let i = 0; i < times; i++) yield bytes;
}

const EIGHT_MIB = encoder.encode("x".repeat(8 * MIB));

Deno.test({
  name:
    "a line of 512 MiB on standard input is refused and not held, and the next one works",
  ignore,
  async fn() {
    await using service = serve(() => [COMPLETE]);
    await using bridge = new Editor({ env: settings(service) });
    await bridge.request("agents/list");
    const before = await usage(bridge);

    for (const chunk of repeat(EIGHT_MIB, 64)) await bridge.write(chunk);
    await bridge.write("\n");
    const { result } = await bridge.request("agents/list");

    const { peak } = await usage(bridge);
    assertLess(peak - before.resident, 200 * MIB);
    assertEquals((await bridge.response(null)).error?.code, -32600);
    assertEquals(result.agents.length, 1);
    assertEquals((await bridge.finish()).code, 0);
  },
});

Deno.test({
  name:
    "a line without an end in a stream is an error and not held, and the next prompt works",
  ignore,
  async fn() {
    const streams = [repeat(EIGHT_MIB, Infinity), [COMPLETE]];
    await using service = serve(() => streams.shift() ?? []);
    await using bridge = open(service);
    const sessionId = await bridge.newSession();
    const params = { sessionId, prompt: "hello" };
    const before = await usage(bridge);

    const { error } = await bridge.request("session/prompt", params);
    const { result } = await bridge.request("session/prompt", params);

    const { peak } = await usage(bridge);
    assertLess(peak - before.resident, 400 * MIB);
    assertEquals(error?.code, -32603);
    assertMatch(
      error?.message ?? "",
      /a line of the stream is longer than 16777216 bytes/,
    );
    assertEquals(result, { stopReason: "end_turn" });
    assertEquals((await bridge.finish()).code, 0);
  },
});

Deno.test({
  name: "a long run of events arrives in order, and memory stays flat",
  ignore,
  async fn() {
    const COUNT = times(1_000_000);
    function* stream() {
      for (let i = 0; i < COUNT;) {
        let text = "";
        for (const end = i + 1000; i < end; i++) {
          text += line({ event: "progress", node: "count", status: `${i}` });
        }
        yield encoder.encode(text);
      }
      yield COMPLETE;
    }
    await using service = serve(stream);
    let count = 0;
    let ordered = true;
    let warm: Promise<ProcessUsage> | undefined;
    await using bridge = open(service, (message) => {
      if (!isUpdate(message)) return;
      const { params } = message;
      const { _meta, content } = params.update;
      ordered &&= _meta?.status === `${count}` ||
        count === COUNT && content.text === "Done.";
      count++;
      if (count === COUNT / 2) warm = usage(bridge);
    });
    const sessionId = await bridge.newSession();

    const params = { sessionId, prompt: "hello" };
    const { result } = await bridge.request("session/prompt", params);

    assertEquals(result, { stopReason: "end_turn" });
    assertEquals(count, COUNT + 1);
    assert(ordered);
    assert(warm);
    const { peak } = await usage(bridge);
    assertLess(peak - (await warm).peak, 64 * MIB);
    assertEquals((await bridge.finish()).code, 0);
  },
});

Deno.test({
  name:
    "sessions with a prompt each leave nothing in memory when they are closed",
  ignore,
  async fn() {
    await using service = serve(() => [COMPLETE]);
    await using bridge = open(service);
    await bridge.request("initialize");
    const use = async (count: number) => {
      const next = async () => {
        while (count-- > 0) {
          const { result } = await bridge.request("session/new");
          const { sessionId } = result;
          const params = { sessionId, prompt: "hello" };
          const answer = await bridge.request("session/prompt", params);
          assertEquals(answer.result, { stopReason: "end_turn" });
          await bridge.request("session/close", { sessionId });
        }
      };
      await Promise.all(Array.from({ length: 20 }, next));
    };
    await use(2_000);
    const warm = await usage(bridge);

    await use(times(10_000));

    const { peak } = await usage(bridge);
    assertLess(peak - warm.peak, 32 * MIB);
    assertEquals((await bridge.finish()).code, 0);
  },
});
