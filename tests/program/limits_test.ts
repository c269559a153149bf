import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import {
  type ProcessUsage,
  processUsage,
} from "../../tools/bench/processes.ts";
import { settings } from "../support/client_process.ts";
import { Editor, isUpdate, type Message } from "../support/editor.ts";
import { times } from "../support/repetitions.ts";
import {
  complete,
  encodeItem,
  events,
  progress,
} from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

const MIB = 1024 * 1024;

/** Memory is read from /proc, so only on Linux. */
const ignore = Deno.build.os !== "linux";

/** An editor whose messages are too many to be kept. */
function open(
  service: { readonly url: string },
  onMessage: (message: Message) => void = () => {},
): Editor {
  return new Editor({ env: settings(service), onMessage });
}

const usage = ({ client }: Editor) => processUsage(client.pid);

function* repeat(bytes: Uint8Array, times: number) {
  for (let i = 0; i < times; i++) yield bytes;
}

const EIGHT_MIB = new Uint8Array(8 * MIB).fill(0x78);

Deno.test({
  name:
    "a line of 256 MiB on standard input is refused and not held, and the next one works",
  ignore,
  async fn() {
    await using service = ReferenceService.start();
    await using bridge = new Editor({ env: settings(service) });
    await bridge.request("agents/list");
    const before = await usage(bridge);

    for (const chunk of repeat(EIGHT_MIB, 32)) await bridge.write(chunk);
    await bridge.write("\n");
    const { result } = await bridge.request("agents/list");

    const { peak } = await usage(bridge);
    assertLess(peak - before.resident, 100 * MIB);
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
    await using service = ReferenceService.start();
    const resumable = encodeItem(progress("plan", "on"), { id: 1 });
    service.misbehave(
      "stream",
      events(function* () {
        yield resumable;
        yield* repeat(EIGHT_MIB, Infinity);
      }),
    );
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
      /A line of the stream is longer than 16777216 bytes/,
    );
    assertEquals(result.stopReason, "end_turn");
    assertEquals((await bridge.finish()).code, 0);
  },
});

Deno.test({
  name: "a long run of events arrives in order, and memory stays flat",
  ignore,
  async fn() {
    const COUNT = times(1_000_000);
    function* steps() {
      for (let i = 0; i < COUNT; i++) yield progress("count", `${i}`);
      yield complete("Done.");
    }
    await using service = ReferenceService.start();
    service.misbehave("stream", events(steps, { chunkSize: 64 * 1024 }));
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

    assertEquals(result.stopReason, "end_turn");
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
    await using service = ReferenceService.start();
    service.misbehave("stream", events([complete("Done.")]), Infinity);
    await using bridge = open(service);
    await bridge.request("initialize");
    const use = async (count: number) => {
      const next = async () => {
        while (count-- > 0) {
          const { result } = await bridge.request("session/new");
          const { sessionId } = result;
          const params = { sessionId, prompt: "hello" };
          const answer = await bridge.request("session/prompt", params);
          assertEquals(answer.result.stopReason, "end_turn");
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

const LARGE_REPLIES = {
  "of ASCII": "x".repeat(15_000_000),
  "with emoji": "Done 😀 ok\n".repeat(1_070_000),
};
for (const [what, reply] of Object.entries(LARGE_REPLIES)) {
  Deno.test({
    name:
      `a reply ${what} of 15 MB is whole, and takes less than 110 MiB of memory`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      service.misbehave("stream", events([complete(reply)]), Infinity);
      let text = "";
      await using bridge = open(service, ({ params }) => {
        text += params?.update?.content?.text ?? "";
      });
      const sessionId = await bridge.newSession();
      const before = await usage(bridge);
      const params = { sessionId, prompt: "hello" };
      const { result } = await bridge.request("session/prompt", params);

      assertEquals(result.stopReason, "end_turn");
      assertEquals(text === reply, true);
      const { peak } = await usage(bridge);
      assertLess(peak - before.resident, 110 * MIB);
      assertEquals((await bridge.finish()).code, 0);
    },
  });
}
