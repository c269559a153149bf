import {
  complete,
  type End,
  events,
  json,
  progress,
  sleep,
  type StreamItem,
} from "./behaviours.ts";
import type { Operation, RecordedRequest } from "./exchange.ts";

/** The key that the service accepts by default. */
export const TEST_KEY = "test-key-0123456789abcdef";

export interface RemoteAgentOptions {
  /** The one key that is accepted. The default is {@linkcode TEST_KEY}. */
  readonly key?: string;
  /** Milliseconds before each event of a stream. The default is 0. */
  readonly pace?: number;
  /** Whether each event has an `id:` and streams resume after a `Last-Event-ID`. */
  readonly ids?: boolean;
}

interface Thread {
  readonly prompts: string[];
  readonly runs: Map<string, Run>;
}

interface Run {
  readonly events: readonly StreamItem[];
  readonly end: End;
}

/** A header of each operation, and the one value that it has. */
const FIELDS = {
  "create thread": ["content-type", null],
  "create run": ["content-type", "application/json"],
  "stream": ["accept", "text/event-stream"],
} as const;

/** Prompts that make the service fail, for use without code. */
const FAULTS: ReadonlyMap<string, End> = new Map([
  ["please break off", "break"],
  ["please hang", "hang"],
]);

/**
 * The three operations as the service offers them: strict about requests, with
 * threads that are kept, and runs whose replies come from {@linkcode think}.
 *
 * Three prompts fail by themselves: `please fail` is refused with 500,
 * `please break off` breaks the connection in the middle of the stream, and
 * `please hang` falls silent there.
 */
export class RemoteAgent {
  readonly #options: RemoteAgentOptions;
  readonly #threads = new Map<string, Thread>();

  constructor(options: RemoteAgentOptions) {
    this.#options = options;
  }

  /** Checks a request strictly, and performs it. */
  answer(request: RecordedRequest, target: Target | undefined): Response {
    if (!target) return refusal(404, "No such operation");
    const { operation, threadId = "", runId = "" } = target;
    const { headers } = request;
    if (headers.get("x-api-key") !== (this.#options.key ?? TEST_KEY)) {
      return refusal(401, "The API key is missing or wrong");
    }
    const [name, value] = FIELDS[operation];
    if (headers.get(name) !== value || headers.has("transfer-encoding")) {
      return refusal(400, `${name} must be ${value}, and a body have a length`);
    }
    if (operation === "create thread") return this.#createThread();
    const thread = this.#threads.get(threadId);
    if (!thread) return refusal(404, "No such thread");
    if (operation === "create run") return this.#createRun(request, thread);
    const run = thread.runs.get(runId);
    if (!run) return refusal(404, "No such run");
    return this.#stream(request, run);
  }

  #createThread(): Response {
    const threadId = crypto.randomUUID();
    this.#threads.set(threadId, { prompts: [], runs: new Map() });
    return json({ thread_id: threadId })();
  }

  #createRun({ body }: RecordedRequest, thread: Thread): Response {
    const { prompt } = JSON.parse(body);
    const expected = { agentName: "the-brain", prompt, wait: false };
    if (body !== JSON.stringify(expected) || !`${prompt}`.trim()) {
      return refusal(422, "The run is not as the contract says");
    }
    if (prompt === "please fail") {
      return refusal(500, "The run could not be started");
    }
    const runId = crypto.randomUUID();
    thread.runs.set(runId, this.#execute(prompt, thread));
    return json({ run_id: runId })();
  }

  #execute(prompt: string, thread: Thread): Run {
    const { steps, reply } = think(prompt, thread.prompts);
    thread.prompts.push(prompt);
    const end = FAULTS.get(prompt);
    if (end) return { events: steps, end };
    const last = {
      ...complete(reply),
      messages: [
        { role: "user", content: prompt },
        { role: "assistant", content: reply },
      ],
    };
    return { events: [...steps, last], end: "close" };
  }

  #stream({ headers }: RecordedRequest, run: Run): Response {
    const { pace = 0, ids = false } = this.#options;
    const seen = ids ? Number(headers.get("last-event-id") ?? 0) : 0;
    async function* items(signal: AbortSignal) {
      for (const item of run.events.slice(seen)) {
        if (pace > 0) await sleep(pace, signal);
        yield item;
      }
    }
    const options = { end: run.end, headers: { "cache-control": "no-store" } };
    return events(items, ids ? { ...options, firstId: seen + 1 } : options)();
  }
}

/** A refusal with its reason in JSON. */
export function refusal(status: number, message: string): Response {
  return json({ message }, status)();
}

/** The operation and ids of a request. */
export interface Target {
  readonly operation: Operation;
  readonly threadId: string | undefined;
  readonly runId: string | undefined;
}

/** The path of each operation, after any prefix. */
const PATH = /\/threads(?:\/([^/?]+)\/runs(?:\/([^/?]+)\/stream)?)?$/;

/** Finds the operation of a request by its path, which is still percent-encoded. */
export function route(method: string, path: string): Target | undefined {
  const match = PATH.exec(path);
  if (match === null) return undefined;
  const [threadId, runId] = match.slice(1)
    .map((id) => id && decodeURIComponent(id));
  const isStream = runId !== undefined;
  if (method !== (isStream ? "GET" : "POST")) return undefined;
  const post = threadId === undefined ? "create thread" : "create run";
  return { operation: isStream ? "stream" : post, threadId, runId };
}

/**
 * Runs a prompt through a small, deterministic agent.
 *
 * | prompt | reply |
 * | --- | --- |
 * | `hello`, `hi` (and any words after it) | a greeting |
 * | `what did I say before?`, anything with `did I say`, `did I ask` or `remember` | the earlier prompts of the thread, numbered |
 * | `6 * 7`, `what is 6 * 7?` | the product |
 * | `count to 3` | one number a line |
 * | anything else | `You said: ` and the prompt |
 *
 * @param prompt The user's text.
 * @param earlier The thread's prompts before this one, oldest first.
 */
function think(prompt: string, earlier: readonly string[]) {
  const { length } = earlier;
  const recalled = `${length || "no"} earlier prompt${length > 1 ? "s" : ""}`;
  return {
    steps: [
      progress("plan", "started"),
      progress("recall", recalled),
      progress("write", "started"),
      progress("write", "done"),
    ],
    reply: reply(prompt.trim(), earlier),
  };
}

function reply(prompt: string, earlier: readonly string[]): string {
  if (/^(hello|hi)\b/i.test(prompt)) {
    return "Hello! I am the-brain. Ask me something, or what you said before.";
  }
  if (/\bdid i (say|ask)\b|\bremember\b/i.test(prompt)) {
    if (earlier.length === 0) return "Nothing yet: this thread is new.";
    const list = earlier.map((said, index) => `${index + 1}. ${said}`);
    return `Earlier on this thread you said:\n${list.join("\n")}`;
  }
  const count = /^count to (\d+)$/i.exec(prompt);
  if (count) {
    const length = Number(count[1]);
    return Array.from({ length }, (_, index) => index + 1).join("\n");
  }
  const [, a = "", b = ""] = /^(?:what is )?(\d+) \* (\d+)\??$/i.exec(prompt) ??
    [];
  if (a !== "") return `${a} * ${b} = ${Number(a) * Number(b)}`;
  return `You said: ${prompt}`;
}
