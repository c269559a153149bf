import { assertEquals } from "@std/assert";
import {
  type LineLook,
  linesAbout,
} from "../../../lib/interactive/event_lines.ts";
import { JsonView } from "../../../lib/interactive/json_view.ts";
import { PromptLines } from "../../../lib/interactive/stdin_prompts.ts";
import type { ViewEvent } from "../../../lib/interactive/view.ts";
import { COLOURED, PLAIN } from "../../../lib/text/style.ts";
import { stepsOf } from "../../support/scripts.ts";
import { serviceError } from "../../support/service_errors.ts";
import { redacted } from "../../support/texts.ts";

const CHAT: LineLook = {
  style: PLAIN,
  isTyped: true,
  isQuiet: false,
  isPlain: true,
  keys: redacted("the keys"),
};

/** The failure of the events with one. */
const FAILURE = serviceError("stream run", {
  reason: redacted(""),
  status: 502,
  stage: "perhaps taken",
});

/** Events, the line of each with --plain (`!`: also with -q), and what --json writes. */
const EVENTS = String.raw`
  event {"type":"banner","text":"a banner"}
  line a banner
  event {"type":"begin"}
  event {"type":"thread","threadId":"t"}
  line thread t / the keys
  json {"type":"thread","thread_id":"t"}
  event {"type":"run","runId":"r"}
  json {"type":"run","run_id":"r"}
  event {"type":"wait","reason":"service busy","milliseconds":65000}
  line service busy, again in 1 min 5 s
  event {"type":"progress","node":"plan","status":"done\u0007"}
  line plan: done
  json {"type":"progress","node":"plan","status":"done\u0007"}
  event {"type":"progress","node":"","status":""}
  line :
  json {"type":"progress","node":"","status":""}
  event {"type":"end","completed":true,"total":1700}
  line total 1.7 s
  event {"type":"end","completed":true}
  event {"type":"reply","text":"a\nb","isNotice":false}
  json {"type":"reply","text":"a\nb"}
  event {"type":"reply","text":"Done.","isNotice":true,"note":"Unclear."}
  line! warning: Unclear.
  json {"type":"reply","text":"Done.","note":"Unclear."}
  event {"type":"error","message":"no","failure":true}
  line! error: no
  json {"type":"error","message":"no","operation":"stream run","status":502,"fate":"may go on"}
  event {"type":"error","message":"no"}
  line! error: no
  json {"type":"error","message":"no"}
  event {"type":"ctrl-c","isFirst":true}
  line! Ctrl-C again leaves
  event {"type":"ctrl-c","isFirst":false}
  event {"type":"farewell"}
  event {"type":"farewell","threadId":"t"}
  line agent-gateway --thread t
  event {"type":"dropped","what":"thread","prompts":2}
  event {"type":"dropped","what":"run","prompts":0}
  line! Stopped following the run. The run may continue on the service.
  event {"type":"dropped","what":"run","prompts":1}
  line! Stopped following the run, and dropped 1 queued prompt. The run may continue on the service.
  event {"type":"dropped","what":"prompt","prompts":0}
  line! Stopped waiting for the service. The prompt did not run.
  event {"type":"dropped","what":"prompt","prompts":2}
  line! Stopped waiting for the service, and dropped 2 queued prompts. The prompt did not run.
  event {"type":"dropped","what":"unanswered prompt","prompts":0}
  line! Stopped waiting for an answer. The run may have started.
  event {"type":"dropped","what":"unanswered prompt","prompts":1}
  line! Stopped waiting for an answer, and dropped 1 queued prompt. The run may have started.
  event {"type":"dropped","what":"reply","prompts":0}
  line! Dropped the rest of the reply.
  event {"type":"dropped","what":"reply","prompts":1}
  line! Dropped the rest of the reply and 1 queued prompt.
`;

/** The lines of an event, whose texts need no brand here. */
function linesOf(event: object, look: Partial<LineLook>): string {
  return linesAbout(event as ViewEvent, { ...CHAT, ...look });
}

Deno.test("an event is lines, with -q what was dropped and is wrong alone, and a line of JSON without internal fields", async () => {
  let written = "";
  const stdout = {
    write: (bytes: Uint8Array) =>
      Promise.resolve(void (written += new TextDecoder().decode(bytes))),
  };
  const prompts = new PromptLines(ReadableStream.from([]), false);
  const told: string[][] = [];
  const steps = stepsOf(EVENTS);
  for (const [, text] of steps.filter(([verb]) => verb === "event")) {
    const event = JSON.parse(text);
    if (event.failure) event.failure = FAILURE;
    const lines = linesOf(event, {});
    const quiet = linesOf(event, { isQuiet: true });
    written = "";
    await new JsonView(prompts, stdout).show({ ...event, internal: true });
    told.push(["event", text]);
    if (lines) {
      told.push([
        quiet ? "line!" : "line",
        lines.trimEnd().replace("\n", " / "),
      ]);
    }
    if (written) told.push(["json", written.trimEnd()]);
    assertEquals(quiet || lines, lines);
  }
  assertEquals(told, steps.map(([verb, text]) => [verb, text.trimEnd()]));
});

const NOTE = { type: "reply", text: "", isNotice: true, note: "so" };
const ERROR = { type: "error", message: "no" };
const LOOKS: readonly (readonly [object, Partial<LineLook>, lines: string])[] =
  [
    [{ type: "end", total: 1 }, { isPlain: false }, ""],
    [{ type: "end", total: 1 }, { isTyped: false }, ""],
    [{ type: "thread", threadId: "t" }, { keys: undefined }, "thread t\n"],
    [{ type: "farewell", threadId: "t" }, { keys: undefined }, ""],
    [NOTE, { isQuiet: true, isTyped: false }, ""],
    [{ type: "banner", text: "one" }, { style: COLOURED }, "one\n"],
    [ERROR, { style: COLOURED }, "\x1b[31merror:\x1b[39m no\n"],
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
    assertEquals(linesOf(event, look), lines);
  }
});
