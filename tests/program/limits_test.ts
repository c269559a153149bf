import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import {
  type ProcessUsage,
  processUsage,
} from "../../tools/bench/processes.ts";
import { settings } from "../support/client_process.ts";
import { Editor, type Message } from "../support/editor.ts";
import { times } from "../support/repetitions.ts";
import {
  complete,
  encodeItem,
  events,
  progress,
} from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

const MIB = 1024 * 1024;
const EIGHT_MIB = new Uint8Array(8 * MIB).fill(0x78);

function* repeat(bytes: Uint8Array, times: number) {
  for (let i = 0; i < times; i++) yield bytes;
}

/** A bridge in front of a service, and its memory, which is read from /proc. */
function test(
  name: string,
  fn: (service: ReferenceService) => Promise<void>,
): void {
  Deno.test({
    name,
    ignore: Deno.build.os !== "linux",
    async fn() {
      await using service = ReferenceService.start();
      await fn(service);
    },
  });
}

/** An editor whose messages are too many to be kept. */
function open(
  service: ReferenceService,
  onRequest: (message: Message) => void = () => {},
): Editor {
  return new Editor({ env: settings(service), onRequest });
}

const usage = ({ client }: Editor) => processUsage(client.pid);

test("a line of 256 MiB on standard input is refused and not held, and the next one works", async (service) => {
  await using bridge = new Editor({ env: settings(service) });
  await bridge.request("agents/list");
  const before = await usage(bridge);

  for (const chunk of repeat(EIGHT_MIB, 32)) await bridge.client.write(chunk);
  await bridge.client.write("\n");
  const { result } = await bridge.request("agents/list");

  const { peak } = await usage(bridge);
  assertLess(peak - before.resident, 100 * MIB);
  assertEquals((await bridge.response(null)).error?.code, -32600);
  assertEquals(result.agents.length, 1);
  assertEquals((await bridge.finish()).code, 0);
});

test("a line without an end in a stream is an error and not held, and the next prompt works", async (service) => {
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
  const before = await usage(bridge);

  const { error } = await bridge.prompt(sessionId, "hello");
  const { result } = await bridge.prompt(sessionId, "hello");

  const { peak } = await usage(bridge);
  assertLess(peak - before.resident, 400 * MIB);
  assertEquals(error?.code, -32603);
  const why = /A line of the stream is larger than 16 MiB/;
  assertMatch(error?.message ?? "", why);
  assertEquals(result.stopReason, "end_turn");
  assertEquals((await bridge.finish()).code, 0);
});

test("a long run of events arrives in order, and memory stays flat", async (service) => {
  const COUNT = times(1_000_000);
  function* steps() {
    for (let i = 0; i < COUNT; i++) yield progress("count", `${i}`);
    yield complete("Done.");
  }
  service.misbehave("stream", events(steps, { chunkSize: 64 * 1024 }));
  let count = 0;
  let ordered = true;
  let warm: Promise<ProcessUsage> | undefined;
  await using bridge = open(service, (message) => {
    const { _meta, content } = message.params.update;
    if (content === undefined) return; // a title
    ordered &&= _meta?.status === `${count}` ||
      count === COUNT && content.text === "Done.";
    count++;
    if (count === COUNT / 2) warm = usage(bridge);
  });

  const { result } = await bridge.prompt(await bridge.newSession(), "hello");

  assertEquals(result.stopReason, "end_turn");
  assertEquals([count, ordered], [COUNT + 1, true]);
  assert(warm);
  const { peak } = await usage(bridge);
  assertLess(peak - (await warm).peak, 64 * MIB);
  assertEquals((await bridge.finish()).code, 0);
});

test("sessions that were closed take no more memory than their transcripts may", async (service) => {
  service.misbehave("stream", events([complete("Done.")]), Infinity);
  await using bridge = open(service);
  await bridge.request("initialize");
  const use = async (count: number) => {
    const next = async () => {
      while (count-- > 0) {
        const { result } = await bridge.request("session/new");
        const { sessionId } = result;
        const answer = await bridge.prompt(sessionId, "hello");
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
  // Chats that were closed can be loaded again: 16 MiB, and what holds them.
  assertLess(peak - warm.peak, 64 * MIB);
  assertEquals((await bridge.finish()).code, 0);
});

const LARGE_REPLIES = {
  "of ASCII": "x".repeat(15_000_000),
  "with emoji": "Done 😀 ok\n".repeat(1_070_000),
};
for (const [what, reply] of Object.entries(LARGE_REPLIES)) {
  test(`a reply ${what} of 15 MB is whole, and takes less than 110 MiB of memory`, async (service) => {
    service.misbehave("stream", events([complete(reply)]), Infinity);
    let text = "";
    await using bridge = open(service, ({ params }) => {
      text += params?.update?.content?.text ?? "";
    });
    const sessionId = await bridge.newSession();
    const before = await usage(bridge);
    const { result } = await bridge.prompt(sessionId, "hello");

    assertEquals(result.stopReason, "end_turn");
    assertEquals(text === reply, true);
    const { peak } = await usage(bridge);
    assertLess(peak - before.resident, 110 * MIB);
    assertEquals((await bridge.finish()).code, 0);
  });
}
