import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { runBridge } from "../../lib/bridge.ts";
import { FakeClock } from "./clocks.ts";
import { type Message, Messages } from "./editor.ts";
import { FakeGateway, type FakeRun } from "./fake_gateway.ts";
import { serviceError } from "./service_errors.ts";
import { redacted } from "./texts.ts";

/**
 * Plays a transcript of a bridge in memory, and asserts that all of it came true:
 *
 * - `> ID METHOD PARAMS`, without the id a notification; `> {...}`, any line; `> end`, the
 *   end of the input. Params are JSON, or the id of a session and the text of a prompt.
 * - `* RUN node: status`, `* RUN = REPLY` and `* RUN ! WORDS`: an event of the service,
 *   and a failure (`! gone`: the service does not know the thread any more).
 * - `~ MILLISECONDS` pass. From `~ pause` to `~ resume`, what the bridge writes is not read.
 * - `< ...`: what the bridge wrote; `@ RUN THREAD PROMPT`: a run that it started.
 */
export async function play(
  transcript: string,
): Promise<{ messages: readonly Message[]; gateway: FakeGateway }> {
  using clock = new FakeClock();
  const gateway = new FakeGateway();
  const received = new Messages();
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const writer = input.writable.getWriter();
  let reading = Promise.withResolvers<void>();
  reading.resolve();
  const write = async (bytes: Uint8Array) => {
    await reading.promise;
    received.receive(new TextDecoder().decode(bytes));
  };
  runBridge({ stdin: input.readable, stdout: { write }, gateway });

  const expected = transcript.trim().split("\n").map((line) => line.trim());
  const log: string[] = [];
  let runs = 0;
  const look = async () => {
    const { length } = received.messages;
    for (let turn = 0; turn < 10; turn++) {
      await setImmediate();
      if (turn === 5) clock.elapse(1); // lines are gathered for a millisecond
    }
    const news = received.messages.slice(length);
    log.push(...news.map((message) => `< ${shown(message)}`));
    for (const { threadId, prompt } of gateway.runs.slice(runs)) {
      const text = JSON.stringify(prompt).slice(1, -1);
      log.push(`@ ${++runs} ${threadId} ${text}`);
    }
  };
  for (const line of expected) {
    const [sign, first = "", ...rest] = line.split(" ");
    if (sign === ">" && first === "end") writer.close();
    else if (sign === ">") {
      const sent = messageIn(line.slice(2));
      received.expectAnswer(sent);
      writer.write(new TextEncoder().encode(`${sent}\n`));
    } else if (sign === "*") {
      happen(gateway.runs[Number(first) - 1], rest.join(" "));
    } else if (line === "~ pause") reading = Promise.withResolvers();
    else if (line === "~ resume") reading.resolve();
    else if (sign === "~") clock.elapse(Number(first));
    else continue;
    log.push(line);
    await look();
  }
  assertEquals(log.map(inShort), expected.map(inShort));
  return { messages: received.messages, gateway };
}

/** A line as a failure shows it. */
function inShort(line: string): string {
  const { length } = line;
  return length < 200 ? line : `${line.slice(0, 99)}... (${length} characters)`;
}

/** The JSON of a message that is written in short. */
function messageIn(line: string): string {
  if (line.startsWith("{")) return line;
  const [, id, method, rest = ""] =
    /^(?:([-"\d]\S*|null) )?(\S+) ?(.*)$/s.exec(line) ?? [];
  const [sessionId, ...words] = rest.split(" ");
  const isShort = rest !== "" && !/^[[{]/.test(rest);
  const params = isShort
    ? { sessionId, prompt: words.join(" ") }
    : JSON.parse(rest || "null") ?? undefined;
  const message = { method, params };
  return JSON.stringify(
    id === undefined ? message : { id: JSON.parse(id), ...message },
  );
}

/** The failure of a run on a thread that the service does not know any more. */
const GONE = {
  reason: redacted("No such thread"),
  stage: "refused",
  isThreadGone: true,
} as const;

function happen(run: FakeRun | undefined, what: string): void {
  assert(run, "there is no such run");
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
