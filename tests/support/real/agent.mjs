// deno-lint-ignore-file explicit-module-boundary-types -- Node.js 20 runs JavaScript alone.
/**
 * The agent of the service on Hono: threads and runs in memory, and a few prompts
 * instead of a model. `langgraph_graph.mjs` and `fast_api.py` know the same
 * prompts.
 *
 * | prompt | run |
 * | --- | --- |
 * | `say nothing` | completes without a reply |
 * | `fail` | fails in its second node |
 * | `wait` | never ends its second node |
 * | `be refused` | cannot be started: the code that starts it throws |
 * | `break before` | the code that streams it throws before the first event |
 * | `break during` | the code that streams it throws once, after the first event |
 * | anything else | replies `You said: ` and the prompt |
 */
import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { setImmediate } from "node:timers/promises";

const threads = new Map();

export function createThread() {
  const id = randomUUID();
  threads.set(id, { messages: [], runs: new Map() });
  return id;
}

/** Starts a run and returns its id; `undefined` if there is no such thread. */
export function startRun(threadId, prompt) {
  const thread = threads.get(threadId);
  if (!thread) return undefined;
  if (prompt === "be refused") throw new Error("the queue of runs is closed");
  const id = randomUUID();
  const run = { prompt, events: [], changed: new EventEmitter() };
  thread.runs.set(id, run);
  think(thread, run);
  return id;
}

export function findRun(threadId, runId) {
  return threads.get(threadId)?.runs.get(runId);
}

/** The events of a run from an index on, as they happen. The last one is not `progress`. */
export async function* follow(run, index = 0) {
  if (run.prompt === "break before") throw new Error("the log is unreadable");
  for (;; index++) {
    while (index >= run.events.length) await once(run.changed, "event");
    yield run.events[index];
    if (run.events[index].event !== "progress") return;
    if (run.prompt === "break during" && !run.isBroken) {
      run.isBroken = true;
      await setImmediate(); // The event is sent before.
      throw new Error("the log is unreadable");
    }
  }
}

function think({ messages }, run) {
  const emit = (event) => {
    run.events.push(event);
    run.changed.emit("event");
  };
  const { prompt } = run;
  messages.push({ role: "user", content: prompt });
  emit({ event: "progress", node: "plan", status: "done" });
  if (prompt === "wait") return;
  if (prompt === "fail") {
    return emit({ event: "error", message: "node write: no quota is left" });
  }
  const content = prompt === "say nothing" ? "" : `You said: ${prompt}`;
  messages.push({ role: "assistant", content });
  emit({ event: "progress", node: "write", status: "done" });
  emit({ event: "complete", messages: [...messages] });
}
