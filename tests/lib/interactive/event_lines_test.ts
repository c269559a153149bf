import { assertEquals } from "@std/assert";
import {
  type LineLook,
  linesAbout,
} from "../../../lib/interactive/event_lines.ts";
import { JsonView } from "../../../lib/interactive/json_view.ts";
import { PromptLines } from "../../../lib/interactive/stdin_prompts.ts";
import type { ViewEvent } from "../../../lib/interactive/view.ts";
import { COLOURED, PLAIN } from "../../../lib/text/style.ts";
import { blocksOf } from "../../support/blocks.ts";
import { stepsOf } from "../../support/scripts.ts";
import { serviceError } from "../../support/service_errors.ts";
import { testRows } from "../../support/tables.ts";
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

testRows(
  "linesAbout() of {event} with {look}: {lines}",
  "event | look | lines",
  `
{"type":"end","total":1}              | {"isPlain":false}   |
{"type":"end","total":1}              | {"isTyped":false}   |
{"type":"thread","threadId":"t"}      | {"keys":""}         | thread t
{"type":"farewell","threadId":"t"}    | {"keys":""}         |
{"type":"reply","note":"so"}          | {"isQuiet":true,"isTyped":false} |
{"type":"banner","text":"one"}        | {"style":"colours"} | one
{"type":"error","message":"no"}       | {"style":"colours"} | \x1b[31merror:\x1b[39m no
{"type":"reply","note":"so"}          | {"style":"colours","isTyped":false} | agent-gateway: \x1b[1mwarning:\x1b[22m so
`,
  ({ event, look, lines }) => {
    const { style, keys, ...others } = JSON.parse(look);
    const told = linesOf(JSON.parse(event), {
      ...others,
      ...style && { style: COLOURED },
      ...keys === "" && { keys: undefined },
    });
    assertEquals(told, lines && `${lines}\n`);
  },
);

/** Options that quote the id of a thread for a shell, and below each the id. */
const QUOTED = blocksOf(String.raw`
--thread a:b@c/%.,+_
  a:b@c/%.,+_
--thread=-t
  -t
--thread 'two words'
  two words
--thread '~root'
  ~root
--thread 'a;b&c|d>e*f?g[h]{i,j}!k#l\\m\u0060n(o)^p=q'
  a;b&c|d>e*f?g[h]{i,j}!k#l\\m\u0060n(o)^p=q
--thread 'it'\\''s $HOME'
  it's $HOME
--thread='-a b'
  -a b
`);
Deno.test("linesAbout() tells how to continue a thread, quoted for a shell", () => {
  for (const [option, [threadId]] of QUOTED) {
    const told = linesOf({ type: "farewell", threadId }, {});
    assertEquals(told, `agent-gateway ${option}\n`);
  }
});
