import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { ChatView } from "../../../lib/interactive/chat_view.ts";
import { Conversation } from "../../../lib/interactive/conversation.ts";
import { StatusLine } from "../../../lib/interactive/status_line.ts";
import type { Terminal } from "../../../lib/interactive/terminal.ts";
import { PLAIN } from "../../../lib/text.ts";
import { VERSION } from "../../../lib/version.ts";
import { FakeGateway, type FakeRun } from "../../support/fake_gateway.ts";
import { FakeClock } from "../../support/clocks.ts";
import { Person } from "../../support/terminal_emulator.ts";
import { redacted } from "../../support/texts.ts";
import { until } from "../../support/waits.ts";

const TALKING: Terminal = {
  isTyped: true,
  isScreen: true,
  isAscii: false,
  isQuiet: false,
  isPlain: false,
  style: PLAIN,
  replies: "clean",
  mixesReplies: true,
  endsProgress: false,
  keys: redacted("the keys"),
};
const QUIET = { ...TALKING, isQuiet: true };

/** A chat of a person on the thread `thread-1`, whose runs the test drives. */
class Chat extends Person {
  readonly view: ChatView;
  readonly conversation: Conversation;
  readonly ending: Promise<number>;
  /** The replies that were written. */
  replies = "";
  /** Holds up the writing of replies. */
  reading = Promise.resolve();
  readonly #gateway = new FakeGateway();

  constructor(terminal: Terminal = QUIET, now = () => this.time) {
    super(50, 100, terminal);
    const { isPlain, isQuiet } = terminal;
    const columns = () => this.size.columns;
    this.view = new ChatView({
      surface: this.editor,
      reply: async (text) => {
        this.replies += text;
        this.write(`${text}\n`);
        await this.reading;
      },
      terminal,
      status: isPlain || isQuiet
        ? undefined
        : new StatusLine({ ...terminal, columns, now }),
    });
    this.conversation = new Conversation({
      ...{ gateway: this.#gateway, view: this.view },
      ...{ maskedKey: "****", baseUrl: "https://service.example" },
      now: () => this.time,
    });
    this.ending = this.conversation.runInteractive();
  }

  /** Types a prompt, and waits until its run has started. */
  async send(prompt: string): Promise<FakeRun> {
    const { runs } = this.#gateway;
    const count = runs.length;
    this.type(`${prompt}\r`);
    await until(() => runs.length !== count);
    return this.#gateway.run;
  }

  /** Presses Ctrl-C at a time. Returns whether the program goes on. */
  ctrlC(milliseconds: number): boolean {
    this.time = milliseconds;
    return this.conversation.interrupt();
  }

  override [Symbol.dispose](): void {
    void this.conversation.leave();
    super[Symbol.dispose]();
  }
}

const BUSY = {
  type: "wait",
  reason: "service busy",
  milliseconds: 5_100,
} as const;

Deno.test("--plain writes a line for each event, and draws nothing during a run; what is typed meanwhile shows at the next prompt", async () => {
  using chat = new Chat({ ...TALKING, isPlain: true });
  const reading = Promise.withResolvers<void>();
  chat.reading = reading.promise;
  chat.time = 500;
  const run = await chat.send("one");
  const { length } = chat.written;

  chat.time = 2_200;
  chat.view.show(BUSY);
  run.progress("plan\x1b[31m", "started\n");
  run.progress("plan", "done");
  chat.type("tw");
  await setImmediate();
  run.complete("One.");
  await until(() => chat.replies !== "");

  assertEquals(
    chat.written.slice(length),
    "service busy, again in 6 s\nplan: started \nplan: done\ntotal 1.7 s\n\nOne.\n",
  );
  reading.resolve();
  await chat.seesLast("total 1.7 s", "", "One.", "", "> tw");
});

Deno.test("a chat shows banner and keys once, the nodes of a run with a status below, and at the end how to go on", async () => {
  using chat = new Chat(TALKING);
  const banner = [
    `agent-gateway ${VERSION}, agent the-brain, key ****`,
    "service https://service.example",
    "thread thread-1",
    "the keys",
  ];
  await chat.sees(...banner, "", ">");
  const run = await chat.send("one");
  chat.time = 500;
  chat.view.show(BUSY);
  chat.type("tw");
  await chat.sees(
    ...[...banner, "", "> one"],
    ...["⠹ service busy, again in 6 s  0.5 s  Ctrl-C stops", "> tw"],
  );
  run.progress("plan", "done");
  run.progress("write", "started");
  await chat.seesLast("⠹ write: started  0.0 s  Ctrl-C stops", "> tw");
  chat.time = 600;
  run.complete("# One");

  const nodes = ["✓ plan: done  0.0 s", "  write: started  0.1 s"];
  const end = [...nodes, "✓ total  0.6 s", "", "# One", "", "> two"];
  await chat.sees(...banner, "", "> one", ...end.with(-1, "> tw"));
  const second = await chat.send("o");
  chat.time = 1_100;
  second.progress("plan", "started");
  await chat.seesLast("> two", "⠹ plan: started  0.0 s  Ctrl-C stops");
  await chat.conversation.leave();
  await chat.seesLast(
    ...["> two", "✗ plan: started  0.0 s", "✗ total  0.5 s"],
    "agent-gateway --thread thread-1",
  );
});

Deno.test("a chat refuses a prompt of more than 16 MiB, and takes the next one", async () => {
  using chat = new Chat();
  const paste = "é".repeat(8 * 1024 * 1024 + 1);
  chat.type(`\x1b[200~${paste}\x1b[201~\r`);
  await chat.seesLast("error: The prompt is larger than 16 MiB", ">");
  assertEquals((await chat.send("two")).prompt, "two");
});

Deno.test("a chat draws its status four times a second, and at each event until the operation ends", () => {
  using clock = new FakeClock();
  using chat = new Chat(TALKING, () => clock.time);
  const frames: number[] = [];
  chat.editor.refresh = () => void frames.push(clock.time);

  chat.view.show({ type: "begin" });
  for (let i = 0; i < 3; i++) clock.pass();
  assertEquals(frames, [0, 250, 500, 750]);
  chat.view.show({
    type: "progress",
    node: redacted("plan"),
    status: redacted("done"),
  });
  assertEquals(frames.length, 5);
  clock.time += 60_000;
  const shown = chat.view.show({ type: "end", completed: false });
  assertEquals(shown, undefined);
  clock.pass();
  assertEquals(frames.length, 5);
});
