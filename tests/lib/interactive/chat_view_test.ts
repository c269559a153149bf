import { assertEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { ChatView } from "../../../lib/interactive/chat_view.ts";
import { Conversation } from "../../../lib/interactive/conversation.ts";
import { PlainLines } from "../../../lib/interactive/plain_lines.ts";
import { StatusLine } from "../../../lib/interactive/status_line.ts";
import { PromptLines } from "../../../lib/interactive/stdin_prompts.ts";
import type { Terminal } from "../../../lib/interactive/terminal.ts";
import type { ViewEvent } from "../../../lib/interactive/view.ts";
import { PLAIN } from "../../../lib/text.ts";
import { VERSION } from "../../../lib/version.ts";
import { FakeClock } from "../../support/clocks.ts";
import { FakeGateway, type FakeRun } from "../../support/fake_gateway.ts";
import { stepsOf } from "../../support/scripts.ts";
import { Person } from "../../support/terminal_emulator.ts";
import { redacted, shownText } from "../../support/texts.ts";
import { until } from "../../support/waits.ts";

const PIPES: Terminal = {
  isTyped: false,
  isScreen: false,
  isAscii: false,
  isQuiet: false,
  isPlain: false,
  style: PLAIN,
  replies: "unchanged",
  mixesReplies: false,
  endsProgress: false,
  keys: undefined,
};
const DUMB: Terminal = { ...PIPES, isTyped: true, keys: redacted("the keys") };
const SCREEN = { ...DUMB, isScreen: true, mixesReplies: true };

/** Events by their names in the scripts of this file. */
const EVENTS: Readonly<Record<string, object>> = {
  thread: { type: "thread", threadId: "t" },
  begin: { type: "begin" },
  run: { type: "run", runId: "r" },
  busy: { type: "wait", reason: "service busy", milliseconds: 5_100 },
  "a: on": { type: "progress", node: "a", status: "on" },
  "b: on": { type: "progress", node: "b", status: "on" },
  end: { type: "end", completed: true, total: 1_700 },
  reply: { type: "reply", text: "One.", isNotice: false },
  error: { type: "error", message: "no" },
  "ctrl-c 1": { type: "ctrl-c", isFirst: true },
  "ctrl-c 2": { type: "ctrl-c", isFirst: false },
  farewell: { type: "farewell", threadId: "t" },
  "farewell without a thread": { type: "farewell", threadId: undefined },
};

/**
 * Plays a script: asks for a prompt, types or drops lines, ends the input, shows events, or
 * lets seconds pass. Returns it with what each step wrote to standard error, after `~` if
 * it may be dropped, and with the inputs that came.
 */
async function played(
  terminal: Terminal,
  script: string,
  write = () => Promise.resolve(),
): Promise<string> {
  using clock = new FakeClock();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const typing = writable.getWriter();
  let log = "";
  const surface = new PlainLines({
    prompts: new PromptLines(readable, terminal.isTyped),
    stderr: {
      write: (text, kind) => {
        if (text === "") return;
        log += ` => ${kind ? "~" : ""}${JSON.stringify(text)}`;
      },
    },
    sign: shownText(terminal.keys === undefined ? "" : "> "),
  });
  const view = new ChatView({ surface, stdout: { write }, terminal });
  assertEquals(view.typing !== undefined, terminal.isTyped);
  const inputs: unknown[] = [];
  for (const [verb, text] of stepsOf(script)) {
    const [step = ""] = `${verb} ${text}`.trimEnd().split(" => ");
    log += `\n${step}`;
    switch (verb) {
      case "ask":
        void view.readPrompt().then((input) =>
          inputs.push(input.kind === "text" ? input.text : input.kind)
        );
        break;
      case "type":
        void typing.write(new TextEncoder().encode(`${step.slice(5)}\n`));
        break;
      case "close":
        void typing.close();
        break;
      case "drop":
        inputs.push(view.typing?.dropWaiting());
        break;
      case "later":
        clock.elapse(Number.parseInt(text) * 1_000);
        break;
      case "stopped":
        clock.passTo(clock.time + Number(text) * 1_000);
        break;
      case "came":
        log += ` => ${JSON.stringify(inputs)}`;
        break;
      default:
        await view.show(EVENTS[step] as ViewEvent);
    }
    await setImmediate();
  }
  assertEquals(clock.pending, 0);
  return log;
}

const SCRIPTS: Readonly<
  Record<string, readonly [terminal: Terminal, script: string]>
> = {
  "a dumb terminal shows the keys once, a sign before each prompt, and at the end how to go on":
    [
      DUMB,
      String.raw`
      thread => "thread t\nthe keys\n"
      ask => "> "
      type one
      type waits
      drop
      ask => "> "
      close
      farewell => "\nagent-gateway --thread t\n"
      came => ["one",1,"end"]`,
    ],
  "Ctrl-C at the prompt of a dumb terminal shows the sign again, and during a run only the hint":
    [
      { ...DUMB, isQuiet: true },
      String.raw`
      ask => "> "
      ctrl-c 1 => "\nCtrl-C again leaves\n> "
      ctrl-c 2 => "\n> "
      type one
      ctrl-c 1 => "\nCtrl-C again leaves\n"
      ctrl-c 2
      farewell without a thread`,
    ],
  "lines that were typed ahead on a dumb terminal appear after the sign when their turn comes":
    [
      DUMB,
      String.raw`
      thread => "thread t\nthe keys\n"
      ask => "> "
      type one
      type two${"\x1b"}[2J
      type
      type no${"\0"}
      ask => "> two\n"
      a: on => ~"a: on\n"
      end
      ask => "> \n"
      ask
      error => "error: no\n"
      ask => "> "
      came => ["one","two\u001b[2J","","refused"]`,
    ],
  "a person whose terminal does not show standard error gets no sign, and no line again":
    [
      { ...DUMB, keys: undefined },
      String.raw`
      type one
      ask
      close
      ask
      farewell
      came => ["one","end"]`,
    ],
  "a chat without a person shows neither a sign nor how to go on": [
    PIPES,
    `
      type one
      ask
      farewell
      came => ["one"]`,
  ],
  "a script whose replies go to another program shows no progress after the first one, but errors":
    [
      { ...PIPES, endsProgress: true },
      String.raw`
      begin
      a: on => ~"a: on\n"
      end
      reply
      begin
      a: on
      end
      error => "agent-gateway: error: no\n"`,
    ],
  "another script shows progress after a reply, each line once, and each wait":
    [
      PIPES,
      String.raw`
      begin
      reply
      run
      busy => ~"service busy, again in 6 s\n"
      busy => ~"service busy, again in 6 s\n"
      a: on => ~"a: on\n"
      a: on
      b: on => ~"b: on\n"
      a: on => ~"a: on\n"
      end`,
    ],
  "what a script waits for is told after 10, 20, 40, ... s without a line, and then no more":
    [
      PIPES,
      String.raw`
      begin
      later 10 => ~"The service has not answered for 10 s\n"
      later 9
      later 1 => ~"The service has not answered for 20 s\n"
      later 20 => ~"The service has not answered for 40 s\n"
      run
      later 39
      later 1 => ~"running, 1 min 20 s\n"
      end
      later 999`,
    ],
  "silences begin at the last line": [
    PIPES,
    String.raw`
      begin
      later 8
      a: on => ~"a: on\n"
      later 1
      a: on
      later 9 => ~"running, 10 s\n"
      later 2
      busy => ~"service busy, again in 6 s\n"
      later 10 => ~"waiting, 10 s\n"
      end`,
  ],
  "silences begin at 10 s again after a line that follows a longer one": [
    PIPES,
    String.raw`
      begin
      a: on => ~"a: on\n"
      later 10 => ~"running, 10 s\n"
      later 10 => ~"running, 20 s\n"
      later 2
      b: on => ~"b: on\n"
      later 9
      later 1 => ~"running, 10 s\n"
      later 1
      busy => ~"service busy, again in 6 s\n"
      later 9
      busy => ~"service busy, again in 6 s\n"
      later 9
      later 1 => ~"waiting, 10 s\n"
      later 10 => ~"waiting, 20 s\n"
      end`,
  ],
  "a process that was stopped tells its silence once": [
    PIPES,
    String.raw`
      begin
      run
      stopped 60
      later 20 => ~"running, 1 min 5 s\n"
      end`,
  ],
  "with --quiet a script shows neither progress nor silence": [
    { ...PIPES, isQuiet: true },
    `
      begin
      run
      a: on
      later 999
      end`,
  ],
};
for (const [what, [terminal, script]] of Object.entries(SCRIPTS)) {
  Deno.test(what, async () => {
    const log = stepsOf(script).map((step) => step.join(" ").trim());
    assertEquals(await played(terminal, script), `\n${log.join("\n")}`);
  });
}

Deno.test("a chat rejects when the reader of its replies is gone", async () => {
  const gone = () => Promise.reject(new Deno.errors.BrokenPipe());
  await assertRejects(
    () => played(PIPES, "reply", gone),
    Deno.errors.BrokenPipe,
  );
});

/** A chat of a person on the thread `thread-1`, whose runs the test drives. */
class Chat extends Person {
  readonly view: ChatView;
  readonly conversation: Conversation;
  readonly #gateway = new FakeGateway();

  constructor(terminal: Terminal) {
    super(50, terminal);
    this.view = new ChatView({
      surface: this.editor,
      stdout: {
        write: async (bytes) =>
          await this.write(new TextDecoder().decode(bytes)),
      },
      terminal,
      status: terminal.isPlain ? undefined : new StatusLine({
        ...terminal,
        columns: () => this.size.columns,
      }),
    });
    this.conversation = new Conversation({
      gateway: this.#gateway,
      view: this.view,
      maskedKey: "****",
      baseUrl: "https://service.example",
    });
    void this.conversation.runInteractive();
  }

  get run(): FakeRun {
    return this.#gateway.run;
  }

  override async act(verb: string, text: string): Promise<void> {
    const [node = "", status = ""] = text.split(": ");
    const { runs } = this.#gateway;
    const { length } = runs;
    switch (verb) {
      case "send":
        await this.type(`${text}\r`);
        return await until(() => runs.length > length);
      case "progress":
        return this.run.progress(node, status);
      case "reply":
        return this.run.complete(text);
      case "event":
        return await this.view.show(EVENTS[text] as ViewEvent);
      case "leave":
        return await this.conversation.leave();
      default:
        return await super.act(verb, text);
    }
  }

  override [Symbol.dispose](): void {
    void this.conversation.leave();
    super[Symbol.dispose]();
  }
}

Deno.test("--plain writes a line for each event, and draws nothing during a run; what is typed meanwhile shows at the next prompt", async () => {
  using chat = new Chat({ ...SCREEN, isPlain: true });
  await chat.play("later 500\nsend one\nlater 1700");
  const { length } = chat.written;
  await chat.play("event busy\nprogress a: on\ntype tw");
  await setImmediate();
  await chat.play(`
    reply One.
    | ...
    | > one
    | service busy, again in 6 s
    | a: on
    | total 1.7 s
    |
    | One.
    |
    | > tw`);
  const [lines = ""] = chat.written.slice(length).split("\x1b", 1);
  assertEquals(
    lines,
    "service busy, again in 6 s\na: on\ntotal 1.7 s\n\nOne.\n\n",
  );
});

const BANNER = `
    | agent-gateway ${VERSION}, agent the-brain, key ****
    | service https://service.example
    | thread thread-1
    | the keys
    |`;
Deno.test("a chat shows banner and keys once, the nodes of a run with a status below, and at the end how to go on", async () => {
  using chat = new Chat(SCREEN);
  await chat.play(`
    ${BANNER}
    | >
    send one
    later 500
    event busy
    type tw
    ${BANNER}
    | > one
    | ⠹ service busy, again in 6 s  0.5 s  Ctrl-C stops
    | > tw
    progress plan: done
    progress write: started
    | ...
    | ⠹ write: started  0.0 s  Ctrl-C stops
    | > tw
    later 100
    reply # One
    ${BANNER}
    | > one
    | ✓ plan: done  0.0 s
    |   write: started  0.1 s
    | ✓ total  0.6 s
    |
    | # One
    |
    | > tw
    send o
    later 500
    progress plan: started
    | ...
    | > two
    | ⠹ plan: started  0.0 s  Ctrl-C stops
    leave
    | ...
    | > two
    | ✗ plan: started  0.0 s
    | ✗ total  0.5 s
    | agent-gateway --thread thread-1`);
});

Deno.test("a chat asks again below the error of a prompt that it refuses", async () => {
  using chat = new Chat(SCREEN);
  await chat.play(`
    ${BANNER}
    | >
    type ^[[200~a^@b^[[201~^M
    ${BANNER}
    | > a^@b
    | error: Not sent: it contains a NUL character. Pres
    | s Up to edit it
    | >`);
});

Deno.test("a chat draws its status four times a second, and at each event until the operation ends", () => {
  using chat = new Chat(SCREEN);
  const { clock } = chat;
  const show = (event: string) => chat.view.show(EVENTS[event] as ViewEvent);
  const frames: number[] = [];
  chat.editor.refresh = () => void frames.push(clock.time);

  show("begin");
  for (let i = 0; i < 3; i++) clock.pass();
  assertEquals(frames, [0, 250, 500, 750]);
  show("a: on");
  assertEquals(frames.length, 5);
  clock.time += 60_000;
  assertEquals(show("end"), undefined);
  clock.pass();
  assertEquals(frames.length, 5);
});
