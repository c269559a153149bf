import { assertEquals, assertLess } from "@std/assert";
import { processUsage } from "../../tools/bench/processes.ts";
import { settings } from "../support/client_process.ts";
import { Editor, type Message } from "../support/editor.ts";
import { times } from "../support/repetitions.ts";
import {
  type Behaviour,
  complete,
  encodeItem,
  events,
  progress,
} from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";
import { soon } from "../support/waits.ts";

const MIB = 1024 * 1024;
const EIGHT_MIB = new Uint8Array(8 * MIB).fill(0x78);

/** A bridge whose messages are too many to be kept. */
interface Setup {
  readonly bridge: Editor;
  readonly sessionId: string;
  readonly usage: () => ReturnType<typeof processUsage>;
  onRequest: (message: Message) => void;
}

/**
 * Tests that a bridge takes at most `most` MiB of memory more than before.
 *
 * @param stream The streams of all runs.
 * @param act May return how much memory it had, to begin with, in bytes.
 */
function test(
  name: string,
  most: number,
  stream: Behaviour | undefined,
  act: (setup: Setup) => Promise<void | number>,
): void {
  Deno.test({
    name,
    ignore: Deno.build.os !== "linux", // The memory is read from /proc.
    async fn() {
      await using service = ReferenceService.start();
      if (stream) service.misbehave("stream", stream, Infinity);
      await using bridge = new Editor({
        env: settings(service),
        onRequest: (message) => setup.onRequest(message),
      });
      const setup: Setup = {
        bridge,
        usage: () => processUsage(bridge.client.pid),
        onRequest: () => {},
        sessionId: await bridge.newSession(),
      };
      const { resident } = await setup.usage();
      const before = await act(setup) ?? resident;
      const { peak } = await setup.usage();
      assertLess(peak - before, most * MIB);
      assertEquals((await bridge.finish()).code, 0);
    },
  });
}

test(
  "a line of 256 MiB on standard input is refused and not held, and the next one works",
  100,
  undefined,
  async ({ bridge }) => {
    for (let i = 0; i < 32; i++) await bridge.client.write(EIGHT_MIB);
    await bridge.client.write("\n");
    const { result } = await bridge.request("agents/list");
    assertEquals((await bridge.response(null)).error?.code, -32600);
    assertEquals(result.agents.length, 1);
  },
);

test(
  "a line without an end in a stream is an error and not held",
  400,
  events(function* () {
    yield encodeItem(progress("plan", "on"), 1); // It could be resumed.
    for (;;) yield EIGHT_MIB;
  }),
  async ({ bridge, sessionId }) => {
    const { error } = await bridge.prompt(sessionId, "hello");
    const why = "A line of the stream is larger than 16 MiB. ";
    assertEquals(error?.message, `${why}The run may still continue.`);
  },
);

const COUNT = times(400_000);

test(
  "a long run of events arrives in order, and memory stays flat",
  64,
  events(function* () {
    for (let i = 0; i < COUNT; i++) yield progress("count", `${i}`);
    yield complete("Done.");
  }, { chunkSize: 64 * 1024 }),
  async (setup) => {
    let count = 0;
    const done = Promise.withResolvers<void>();
    let warm: ReturnType<Setup["usage"]> | undefined;
    setup.onRequest = ({ params: { update } }) => {
      if (update._meta?.status === `${count}`) count++;
      if (count === COUNT / 2) warm ??= setup.usage();
      if (update.content?.text === "Done.") done.resolve();
    };
    await setup.bridge.sendPrompt(setup.sessionId, "hello");
    await soon(done.promise, () => `${COUNT} events, but ${count}`, 540_000);
    assertEquals(count, COUNT);
    return (await warm)?.peak;
  },
);

test(
  // Closed chats can be loaded again: 16 MiB, and what holds them.
  "sessions that were closed take no more memory than their transcripts may",
  40,
  events([complete("Done.")]),
  async ({ bridge, usage }) => {
    const use = async (count: number) => {
      const next = async () => {
        while (count-- > 0) {
          const { result } = await bridge.request("session/new");
          const answer = await bridge.prompt(result.sessionId, "hello");
          assertEquals(answer.result.stopReason, "end_turn");
          await bridge.request("session/close", result);
        }
      };
      await Promise.all(Array.from({ length: 20 }, next));
    };
    await use(2_000); // V8's own memory grows until then.
    const { peak } = await usage();
    await use(times(2_000));
    return peak;
  },
);

for (
  const reply of ["x".repeat(15_000_000), "Done 😀 ok\n".repeat(1_070_000)]
) {
  const start = JSON.stringify(reply.slice(0, 12));
  test(
    `a reply of 15 MB that begins with ${start} is whole, and takes less than 110 MiB of memory`,
    110,
    events([complete(reply)]),
    async (setup) => {
      let text = "";
      setup.onRequest = ({ params }) =>
        text += params.update.content?.text ?? "";
      const { result } = await setup.bridge.prompt(setup.sessionId, "hello");
      assertEquals(result.stopReason, "end_turn");
      assertEquals(text === reply, true);
    },
  );
}
