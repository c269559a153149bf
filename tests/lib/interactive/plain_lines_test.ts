import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { ChatView } from "../../../lib/interactive/chat_view.ts";
import { PlainLines } from "../../../lib/interactive/plain_lines.ts";
import { PromptLines } from "../../../lib/interactive/stdin_prompts.ts";
import type { Terminal } from "../../../lib/interactive/terminal.ts";
import type { ViewEvent } from "../../../lib/interactive/view.ts";
import { PLAIN } from "../../../lib/text.ts";
import { FakeClock } from "../../support/clocks.ts";
import { redacted, shownText } from "../../support/texts.ts";

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

/** Asks for a prompt, types a line (`=` begins one), drops, ends, or shows an event. */
type Act = "ask" | "drop" | "end" | `=${string}` | object;

/** Acts on a view of plain lines, each with what is written to standard error then. */
type Session = readonly (readonly [Act, written: string])[];

/** Plays a session. Returns what was asked for and came, and the kinds of what was written. */
async function play(
  terminal: Terminal,
  session: Session,
  reply = () => Promise.resolve(),
): Promise<{ readonly inputs: unknown[]; readonly kinds: unknown[] }> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const typing = writable.getWriter();
  let stderr = "";
  const kinds: unknown[] = [];
  const surface = new PlainLines({
    prompts: new PromptLines(readable, terminal.isTyped),
    stderr: (text, kind) => {
      stderr += text;
      if (text !== "") kinds.push(kind ?? "other");
    },
    sign: shownText(terminal.keys === undefined ? "" : "> "),
  });
  const view = new ChatView({ surface, reply, terminal });
  assertEquals(view.typing !== undefined, terminal.isTyped);
  const inputs: unknown[] = [];
  const act = async (act: Act) => {
    if (act === "ask") {
      void view.readPrompt().then((input) =>
        inputs.push(input.kind === "text" ? input.text : input.kind)
      );
    } else if (act === "drop") inputs.push(view.typing?.dropWaiting());
    else if (act === "end") void typing.close();
    else if (typeof act === "object") await view.show(act as ViewEvent);
    else void typing.write(new TextEncoder().encode(`${act.slice(1)}\n`));
    await setImmediate();
  };
  for (const [step, written] of session) {
    await act(step);
    assertEquals(stderr, written, JSON.stringify(step));
    stderr = "";
  }
  return { inputs, kinds };
}

const ctrlC = (isFirst: boolean) => ({ type: "ctrl-c", isFirst });
const progress = { type: "progress", node: "plan", status: "done" };
const reply = { type: "reply", text: "One.", isNotice: false };
const error = { type: "error", message: "no" };
const farewell = { type: "farewell", threadId: "t" };
const HOW = "agent-gateway --thread t\n";

const SESSIONS: Readonly<
  Record<string, readonly [Terminal, Session, inputs: readonly unknown[]]>
> = {
  "a dumb terminal shows the keys once, a sign before each prompt, and at the end how to go on":
    [
      DUMB,
      [
        ...[["ask", "the keys\n> "], ["=one", ""], ["=waits", ""]] as const,
        ...[["drop", ""], ["ask", "> "], ["end", ""]] as const,
        [farewell, `\n${HOW}`],
      ],
      ["one", 1, "end"],
    ],
  "Ctrl-C at the prompt of a dumb terminal shows the sign again, and during a run only the hint":
    [
      { ...DUMB, isQuiet: true },
      [
        ["ask", "> "],
        [ctrlC(true), "\nCtrl-C again leaves\n> "],
        [ctrlC(false), "\n> "],
        ["=one", ""],
        [ctrlC(true), "\nCtrl-C again leaves\n"],
        [ctrlC(false), ""],
        [{ ...farewell, threadId: undefined }, ""],
      ],
      ["one"],
    ],
  "lines that were typed ahead on a dumb terminal appear after the sign when their turn comes":
    [
      DUMB,
      [
        ...[["ask", "the keys\n> "], ["=one", ""], [
          "=two\x1b[2J",
          "",
        ]] as const,
        ...[["=", ""], ["=no\0", ""], ["ask", "> two\n"]] as const,
        [progress, "plan: done\n"],
        ...[["ask", "> \n"], ["ask", ""], [error, "error: no\n"]] as const,
        ["ask", "> "],
      ],
      ["one", "two\x1b[2J", "", "refused"],
    ],
  "a person whose terminal does not show standard error gets no sign, and no line again":
    [
      { ...DUMB, keys: undefined },
      [["=one", ""], ["ask", ""], ["end", ""], ["ask", ""], [farewell, ""]],
      ["one", "end"],
    ],
  "a chat without a person shows neither a sign nor how to go on": [
    PIPES,
    [["=one", ""], ["ask", ""], [farewell, ""]],
    ["one"],
  ],
};
for (const [what, [terminal, session, inputs]] of Object.entries(SESSIONS)) {
  Deno.test(what, async () => {
    assertEquals((await play(terminal, session)).inputs, inputs);
  });
}

Deno.test("a script whose replies go to another program shows no progress after the first one, but errors", async () => {
  for (const endsProgress of [false, true]) {
    using _clock = new FakeClock();
    const later = (line: string) => endsProgress ? "" : line;
    const { kinds } = await play({ ...PIPES, endsProgress }, [
      [{ type: "begin" }, ""],
      [progress, "plan: done\n"],
      [reply, ""],
      [{ type: "begin" }, ""],
      [progress, later("plan: done\n")],
      [{ type: "end", completed: false }, ""],
      [error, "agent-gateway: error: no\n"],
    ]);
    assertEquals(kinds, [
      "progress",
      ...later("progress") ? ["progress"] : [],
      "other",
    ]);
  }
});

Deno.test("a chat waits until a reply is written, and rejects when its reader is gone", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isWritten = false;
  const shown = play(PIPES, [[reply, ""]], () => promise)
    .then(() => isWritten = true);
  await setImmediate();
  assertFalse(isWritten);
  resolve();
  await shown;
  const gone = () => Promise.reject(new Deno.errors.BrokenPipe());
  await assertRejects(
    () => play(PIPES, [[reply, ""]], gone),
    Deno.errors.BrokenPipe,
  );
});
