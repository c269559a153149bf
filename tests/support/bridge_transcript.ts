import { assertEquals } from "@std/assert";
import { FakeClock } from "./clocks.ts";
import { MemoryEditor, type Message } from "./editor.ts";
import { serviceError } from "./service_errors.ts";
import { redacted } from "./texts.ts";

/**
 * Plays a transcript of a bridge in memory, and asserts that all of it came true:
 *
 * - `> ID METHOD PARAMS`, without the id a notification; `> {...}`, any line; `> end`, the
 *   end of the input. Params are JSON, or the id of a session and the text of a prompt.
 * - `* RUN node: status`, `* RUN = REPLY` and `* RUN ! WORDS`: an event of the service,
 *   and a failure (`! gone`: the service does not know the thread any more).
 * - `~ MILLISECONDS` pass.
 * - `< ...`: what the bridge wrote; `@ RUN THREAD PROMPT`: a run that it started.
 */
export async function play(transcript: string): Promise<MemoryEditor> {
  using clock = new FakeClock();
  const editor = new MemoryEditor();
  const expected = transcript.trim().split("\n").map((line) => line.trim());
  const log: string[] = [];
  const seen = { messages: 0, runs: 0 };
  const look = async () => {
    for (let turn = 0; turn < 10; turn++) {
      await editor.rest();
      if (turn === 5) clock.elapse(1); // lines are gathered for a millisecond
    }
    for (; seen.messages < editor.messages.length; seen.messages++) {
      const message = editor.messages[seen.messages];
      if (message !== undefined) log.push(`< ${shown(message)}`);
    }
    const { runs } = editor.gateway;
    for (; seen.runs < runs.length; seen.runs++) {
      const { threadId, prompt } = runs[seen.runs] ?? editor.gateway.run;
      const text = JSON.stringify(prompt).slice(1, -1);
      log.push(`@ ${seen.runs + 1} ${threadId} ${text}`);
    }
  };
  for (const line of expected) {
    const [sign, first = "", ...rest] = line.split(" ");
    if (sign === ">") await send(editor, line.slice(2));
    else if (sign === "*") happen(editor, Number(first), rest.join(" "));
    else if (sign === "~") clock.elapse(Number(first));
    else continue;
    log.push(line);
    await look();
  }
  assertEquals(log, expected);
  return editor;
}

async function send(editor: MemoryEditor, line: string): Promise<void> {
  if (line === "end") {
    editor.finish().catch(() => {}); // what came is in the transcript
    return;
  }
  if (line.startsWith("{")) return await editor.sendLine(line);
  const [, id, method, rest = ""] =
    /^(?:([-"\d]\S*|null) )?(\S+) ?(.*)$/s.exec(line) ?? [];
  const [sessionId, ...words] = rest.split(" ");
  const isShort = rest !== "" && !/^[[{]/.test(rest);
  const params = isShort
    ? { sessionId, prompt: words.join(" ") }
    : JSON.parse(rest || "null") ?? undefined;
  const message = { method, params };
  await editor.sendLine(
    JSON.stringify(
      id === undefined ? message : { id: JSON.parse(id), ...message },
    ),
  );
}

/** The failure of a run on a thread that the service does not know any more. */
const GONE = {
  reason: redacted("No such thread"),
  stage: "refused",
  threadGone: "certain",
} as const;

function happen(editor: MemoryEditor, number: number, what: string): void {
  const run = editor.gateway.runs[number - 1];
  if (run === undefined) throw new Error(`there is no run ${number}`);
  const [node = "", status = ""] = what.split(": ");
  if (what.startsWith("= ")) run.complete(what.slice(2));
  else if (what === "! gone") run.fail(serviceError("create run", GONE));
  else if (what.startsWith("! ")) run.fail(new Error(what.slice(2)));
  else run.progress(node, status);
}

/** A message of the bridge, in short. */
function shown({ id, method, params, result, error }: Message): string {
  if (error !== undefined) {
    const { code, message, data } = error;
    const isGone = `${data?.details}`.startsWith("Session not found: ");
    return `${JSON.stringify(id)} ${code} ${isGone ? "(gone) " : ""}${message}`;
  }
  if (method === undefined) {
    const { stopReason, protocolVersion, sessionId } = result;
    const [known] = [stopReason, protocolVersion, sessionId].filter(Boolean);
    return `${JSON.stringify(id)} ${known ?? JSON.stringify(result)}`;
  }
  if (method !== "session/update") {
    const asked = id === undefined ? "" : `${id} `;
    return `${asked}${method} ${params.path ?? JSON.stringify(params)}`;
  }
  const { sessionUpdate, content, title } = params.update;
  const text = content?.text ?? title;
  return `${params.sessionId} ${sessionUpdate}: ${text.trimEnd()}`;
}
