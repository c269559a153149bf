import {
  answer,
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
    if (!target) return refusal(404, "No such path");
    if (request.method !== target.method) {
      return answer(405, "", { allow: target.method })();
    }
    if (request.headers.get("x-api-key") !== (this.#options.key ?? TEST_KEY)) {
      return refusal(401, "The API key is missing or wrong");
    }
    if (request.headers.has("transfer-encoding")) {
      return refusal(411, "A body needs a Content-Length");
    }
    if (target.operation === "create thread") {
      return this.#createThread(request);
    }
    const thread = this.#threads.get(target.threadId ?? "");
    if (!thread) return refusal(404, "No such thread");
    if (target.operation === "create run") {
      return this.#createRun(request, thread);
    }
    const run = thread.runs.get(target.runId ?? "");
    if (!run) return refusal(404, "No such run");
    return this.#stream(request, run);
  }

  #createThread({ headers, body }: RecordedRequest): Response {
    if (body !== "" || headers.has("content-type")) {
      return refusal(400, "A thread is created without a body");
    }
    const threadId = crypto.randomUUID();
    this.#threads.set(threadId, {
      prompts: [],
      runs: new Map(),
    });
    return json({ thread_id: threadId })();
  }

  #createRun({ headers, body }: RecordedRequest, thread: Thread): Response {
    if (!hasMediaType(headers.get("content-type"), "application/json")) {
      return refusal(
        415,
        "A run is created with Content-Type application/json",
      );
    }
    const parameters = parseObject(body);
    if (!parameters) return refusal(400, "The body is not a JSON object");
    const { agentName, prompt, wait, ...others } = parameters;
    if (agentName !== "the-brain") return refusal(422, "Unknown agentName");
    if (typeof prompt !== "string" || prompt.trim() === "") {
      return refusal(422, "prompt must be a string that is not blank");
    }
    if (wait !== false) return refusal(422, "wait must be false");
    const [other] = Object.keys(others);
    if (other !== undefined) {
      return refusal(422, `Unknown field ${JSON.stringify(other)}`);
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
    if (!hasMediaType(headers.get("accept"), "text/event-stream")) {
      return refusal(406, "A run is streamed as text/event-stream");
    }
    const { pace = 0, ids = false } = this.#options;
    const seen = ids ? Number(headers.get("last-event-id") ?? 0) : 0;
    const items = run.events.slice(seen);
    const options = { end: run.end, headers: { "cache-control": "no-store" } };
    return events(
      (signal) => paced(items, pace, signal),
      ids ? { ...options, firstId: seen + 1 } : options,
    )();
  }
}

async function* paced<T>(
  items: readonly T[],
  pace: number,
  signal: AbortSignal,
) {
  for (const item of items) {
    if (pace > 0) await sleep(pace, signal);
    yield item;
  }
}

/** A refusal with its reason in JSON. */
export function refusal(status: number, message: string): Response {
  return json({ message }, status)();
}

/** Whether a header names this media type, in a list or with parameters. */
function hasMediaType(header: string | null, type: string): boolean {
  const named = header?.toLowerCase().split(/[;,]/) ?? [];
  return named.some((part) => part.trim() === type);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null;
    return isObject && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The operation and ids in a request's path. */
export interface Target {
  readonly operation: Operation;
  /** The one method that the operation has. */
  readonly method: string;
  readonly threadId: string | undefined;
  readonly runId: string | undefined;
}

const PATH = /^\/threads(?:\/([^/?]+)\/runs(?:\/([^/?]+)\/stream)?)?$/;

/** Finds the operation of a path that is still percent-encoded. */
export function route(path: string, prefix: string): Target | undefined {
  const isBelow = path.startsWith(prefix);
  const match = isBelow ? PATH.exec(path.slice(prefix.length)) : null;
  if (match === null) return undefined;
  const [threadId, runId] = match.slice(1).map((id) => id && decode(id));
  const ids = { threadId, runId };
  if (runId !== undefined) {
    return { operation: "stream", method: "GET", ...ids };
  }
  const operation = threadId === undefined ? "create thread" : "create run";
  return { operation, method: "POST", ...ids };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The longest list that `count to N` yields. */
const COUNT_LIMIT = 10_000;

/**
 * Runs a prompt through a small, deterministic agent.
 *
 * | prompt | reply |
 * | --- | --- |
 * | `hello`, `hi` (and any words after it) | a greeting |
 * | `what did I say before?`, anything with `did I say`, `did I ask` or `remember` | the earlier prompts of the thread, numbered |
 * | `6 * 7`, `what is 6 * 7?` | the product |
 * | `count to 3` | one number a line, 10,000 at most |
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
    const length = Math.min(Number(count[1]), COUNT_LIMIT);
    return Array.from({ length }, (_, index) => index + 1).join("\n");
  }
  const [, a = "", b = ""] = /^(?:what is )?(\d+) \* (\d+)\??$/i.exec(prompt) ??
    [];
  if (a !== "") return `${a} * ${b} = ${Number(a) * Number(b)}`;
  return `You said: ${prompt}`;
}
