import { assertEquals } from "@std/assert";
import {
  type LineEvent,
  type LineLook,
  linesAbout,
} from "../../../lib/interactive/event_lines.ts";
import { JsonView } from "../../../lib/interactive/json_view.ts";
import { PromptLines } from "../../../lib/interactive/stdin_prompts.ts";
import { COLOURED, PLAIN } from "../../../lib/text/style.ts";
import { serviceError } from "../../support/service_errors.ts";
import { redacted } from "../../support/texts.ts";

const CHAT: LineLook = {
  style: PLAIN,
  isTyped: true,
  isQuiet: false,
  isPlain: true,
};
const GOES_ON = "The run may continue on the service.";
const FAILURE = serviceError("stream run", {
  reason: redacted(""),
  status: 502,
  stage: "perhaps taken",
});

/** Events, their lines with --plain (with ! also with -q), and what --json writes. */
const EVENTS:
  readonly (readonly [event: object, lines: string, json: string])[] = [
    [{ type: "banner", text: "a banner" }, "a banner", ""],
    [{ type: "begin" }, "", ""],
    [
      { type: "thread", threadId: "t" },
      "thread t",
      '{"type":"thread","thread_id":"t"}',
    ],
    [{ type: "run", runId: "r" }, "", '{"type":"run","run_id":"r"}'],
    [
      { type: "wait", reason: "service busy", milliseconds: 65_000 },
      "service busy, again in 1 min 5 s",
      "",
    ],
    [
      { type: "progress", node: "plan", status: "done\x07" },
      "plan: done",
      '{"type":"progress","node":"plan","status":"done\\u0007"}',
    ],
    [
      { type: "progress", node: "", status: "" },
      ": ",
      '{"type":"progress","node":"","status":""}',
    ],
    [{ type: "end", completed: true, total: 1_700 }, "total 1.7 s", ""],
    [{ type: "end", completed: true }, "", ""],
    [
      { type: "reply", text: "a\nb", isNotice: false },
      "",
      '{"type":"reply","text":"a\\nb"}',
    ],
    [
      { type: "reply", text: "Done.", isNotice: true, note: "Unclear." },
      "!warning: Unclear.",
      '{"type":"reply","text":"Done.","note":"Unclear."}',
    ],
    [
      { type: "error", message: "no", failure: FAILURE },
      "!error: no",
      '{"type":"error","message":"no","operation":"stream run","status":502,"fate":"may go on"}',
    ],
    [
      { type: "error", message: "no" },
      "!error: no",
      '{"type":"error","message":"no"}',
    ],
    [{ type: "ctrl-c", isFirst: true }, "!Ctrl-C again leaves", ""],
    [{ type: "ctrl-c", isFirst: false }, "", ""],
    [{ type: "farewell", threadId: undefined }, "", ""],
    [{ type: "farewell", threadId: "t" }, "agent-gateway --thread t", ""],
    ...[
      ["thread", 2, ""],
      ["run", 0, `Stopped following the run. ${GOES_ON}`],
      [
        "run",
        1,
        `Stopped following the run, and dropped 1 queued prompt. ${GOES_ON}`,
      ],
      ["prompt", 0, "Dropped the prompt before it was sent. It did not run."],
      [
        "prompt",
        2,
        "Dropped the prompt before it was sent, and 2 queued prompts. It did not run.",
      ],
      ["reply", 0, "Dropped the rest of the reply."],
      ["reply", 1, "Dropped the rest of the reply and 1 queued prompt."],
    ].map(([what, prompts, lines]) =>
      [{ type: "dropped", what, prompts }, lines && `!${lines}`, ""] as [
        object,
        string,
        string,
      ]
    ),
  ];

/** The lines of an event, whose texts need no brand here. */
function linesOf(event: object, look: LineLook): string {
  return linesAbout(event as LineEvent, look);
}

Deno.test("an event is lines, with -q what was dropped and is wrong alone, and a line of JSON without internal fields", async () => {
  const prompts = new PromptLines(ReadableStream.from([]), false);
  for (const [event, marked, json] of EVENTS) {
    const lines = marked.replace("!", "") + (marked === "" ? "" : "\n");
    assertEquals(linesOf(event, CHAT), lines);
    const quiet = linesOf(event, { ...CHAT, isQuiet: true });
    assertEquals(quiet, marked.startsWith("!") ? lines : "");

    let written = "";
    const view = new JsonView(prompts, {
      write: async (bytes) =>
        void await (written += new TextDecoder().decode(bytes)),
    });
    const internal = { ...event, internal: true };
    await view.show(internal as unknown as LineEvent);
    assertEquals(written, json === "" ? "" : `${json}\n`);
  }
});

const TOTAL = { type: "end", completed: true, total: 1 };
const NOTE = { type: "reply", text: "", isNotice: true, note: "so" };
const LOOKS: readonly (readonly [object, Partial<LineLook>, lines: string])[] =
  [
    [TOTAL, { isPlain: false }, ""],
    [TOTAL, { isTyped: false }, ""],
    [{ type: "banner", text: "one" }, { style: COLOURED }, "one\n"],
    [
      { type: "error", message: "no" },
      { style: COLOURED },
      "\x1b[31merror:\x1b[39m no\n",
    ],
    [
      NOTE,
      { style: COLOURED, isTyped: false },
      "agent-gateway: \x1b[1mwarning:\x1b[22m so\n",
    ],
    ...Object.entries({
      "a:b@c/%.,+_": "--thread a:b@c/%.,+_",
      "-t": "--thread=-t",
      "two words": "--thread 'two words'",
      "~root": "--thread '~root'",
      "a;b&c|d>e*f?g[h]{i,j}!k#l\\m`n(o)^p=q":
        "--thread 'a;b&c|d>e*f?g[h]{i,j}!k#l\\m`n(o)^p=q'",
      "it's $HOME": "--thread 'it'\\''s $HOME'",
      "-a b": "--thread='-a b'",
    }).map(([threadId, option]) =>
      [{ type: "farewell", threadId }, {}, `agent-gateway ${option}\n`] as const
    ),
  ];
Deno.test("linesAbout() tells the total to a person with --plain alone, colours the word that says what a line is, and quotes the thread for a shell", () => {
  for (const [event, look, lines] of LOOKS) {
    assertEquals(linesOf(event, { ...CHAT, ...look }), lines);
  }
});
