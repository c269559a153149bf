import { assertEquals } from "@std/assert";
import { linesAbout } from "../../../lib/interactive/event_lines.ts";
import { COLOURED, PLAIN } from "../../../lib/text/style.ts";
import { redacted, serviceId } from "../../support/texts.ts";
import { unchanged } from "../../../lib/text.ts";

const OPTIONS = {
  style: PLAIN,
  isTyped: true,
  isQuiet: false,
  isPlain: true,
};

const END = { type: "end", completed: true } as const;

/** Events with their lines, and whether these are shown with `-q`, too. */
const LINES = [
  [{ type: "banner", text: redacted("a banner") }, "a banner\n", false],
  [{ type: "thread", threadId: serviceId("t\x1b[31m") }, "thread t\n", false],
  [
    { type: "wait", reason: "service busy", milliseconds: 65_000 },
    "service busy, again in 1 min 5 s\n",
    false,
  ],
  [
    {
      type: "progress",
      node: redacted("\x9b2Jplan"),
      status: redacted("x\ny\rz"),
    },
    "plan: x y z\n",
    false,
  ],
  [
    { type: "progress", node: redacted(""), status: redacted("") },
    ": \n",
    false,
  ],
  [{ ...END, total: 1_700 }, "total 1.7 s\n", false],
  [{ type: "dropped", what: "thread", prompts: 2 }, "", true],
  [
    { type: "dropped", what: "run", prompts: 0 },
    "Stopped following the run. The run may continue on the service.\n",
    true,
  ],
  [
    { type: "dropped", what: "run", prompts: 1 },
    "Stopped following the run, and dropped 1 queued prompt. The run may continue on the service.\n",
    true,
  ],
  [
    { type: "dropped", what: "prompt", prompts: 0 },
    "Dropped the prompt before it was sent. It did not run.\n",
    true,
  ],
  [
    { type: "dropped", what: "prompt", prompts: 2 },
    "Dropped the prompt before it was sent, and 2 queued prompts. It did not run.\n",
    true,
  ],
  [
    { type: "dropped", what: "reply", prompts: 0 },
    "Dropped the rest of the reply.\n",
    true,
  ],
  [
    { type: "dropped", what: "reply", prompts: 1 },
    "Dropped the rest of the reply and 1 queued prompt.\n",
    true,
  ],
  [
    { type: "dropped", what: "reply", prompts: 2 },
    "Dropped the rest of the reply and 2 queued prompts.\n",
    true,
  ],
  [{ type: "error", message: redacted("a\x1b[31m\nb") }, "error: a b\n", true],
  [{ type: "farewell", threadId: undefined }, "", true],
] as const;
Deno.test("linesAbout() shows an event as lines, cleaned; with -q what was dropped and errors alone", () => {
  for (const [event, lines, isAlways] of LINES) {
    const { type } = event;
    assertEquals<string>(linesAbout(event, OPTIONS), lines, type);
    const quiet = linesAbout(event, { ...OPTIONS, isQuiet: true });
    assertEquals<string>(quiet, isAlways ? lines : "", type);
  }
});

Deno.test("linesAbout() shows the total of runs alone, with --plain alone", () => {
  assertEquals(linesAbout(END, OPTIONS), "");
  const event = { ...END, total: 1 };
  assertEquals(linesAbout(event, { ...OPTIONS, isPlain: false }), "");
});

Deno.test("linesAbout() colours the word that says what a line is, and no text; in a script, the program's name comes first", () => {
  const options = { ...OPTIONS, style: COLOURED };
  assertEquals(
    linesAbout({ type: "banner", text: redacted("one") }, options) +
      linesAbout({ type: "error", message: redacted("no") }, options) +
      linesAbout({
        type: "reply",
        text: unchanged(""),
        isNotice: true,
        note: redacted("so"),
      }, {
        ...options,
        isTyped: false,
      }),
    "one\n\x1b[31merror:\x1b[39m no\nagent-gateway: \x1b[1mwarning:\x1b[22m so\n",
  );
});

const CONTINUATIONS = {
  "thread-1": "--thread thread-1",
  "a:b@c/%.,+_": "--thread a:b@c/%.,+_",
  "-t": "--thread=-t",
  "two words": "--thread 'two words'",
  "~root": "--thread '~root'",
  "a;b&c|d>e*f?g[h]{i,j}!k#l\\m`n(o)^p=q":
    "--thread 'a;b&c|d>e*f?g[h]{i,j}!k#l\\m`n(o)^p=q'",
  "it's $HOME": "--thread 'it'\\''s $HOME'",
  "-a b": "--thread='-a b'",
};
Deno.test("linesAbout() quotes the id of the thread to go on with for the shell", () => {
  for (const [threadId, option] of Object.entries(CONTINUATIONS)) {
    const line = linesAbout(
      { type: "farewell", threadId: serviceId(threadId) },
      OPTIONS,
    );
    assertEquals(line, `agent-gateway ${option}\n`);
  }
});
