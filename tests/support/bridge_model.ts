import { assert, assertEquals } from "@std/assert";
import type { Answered } from "../../lib/bridge/methods.ts";
import type { RunEvent } from "../../lib/gateway/run_events.ts";
import type { FakeRun } from "./bridge_ends.ts";
import { isObject, type Line, parseLine } from "./bridge_line.ts";

/** How a call to the service ends. `code`: the JSON-RPC error that the editor gets. */
export type Outcome =
  | { readonly threadId: string }
  | { readonly complete: true }
  | { readonly code: number };

/** A prompt that the bridge has to start a run for. */
export interface ModelRun {
  readonly id: string;
  readonly sessionId: string;
  readonly threadId: string;
  readonly prompt: string;
  /** The session's cancelled prompts that have to be answered first. */
  readonly after: readonly ModelRun[];
  started?: true;
  /** The updates that the service has sent and the editor has not received. */
  readonly events: RunEvent[];
  outcome?: Outcome;
  /** The outcome at the moment of the cancellation, which may cross it. */
  cancelled?: { readonly outcome: Outcome | undefined };
  answered?: true;
}

/** A session that the bridge has to create a thread for. */
export interface ModelThread {
  outcome?: Outcome;
}

/** An answer that has to come. */
interface Due {
  readonly id: string;
  readonly method?: string;
  readonly params?: Line["value"];
  /** Whether something else has to be sent before it. */
  readonly waits?: () => boolean;
  readonly accepts: (message: Line["value"]) => boolean;
  /** The same, if something else was still unsent when the answer was made. */
  readonly tolerates?: (message: Line["value"]) => boolean;
  /** Applies the answer's effect on the model. */
  readonly then?: (message: Line["value"]) => void;
}

const decoder = new TextDecoder();

const failsBy = (...codes: readonly number[]) => (message: Line["value"]) =>
  codes.includes(message.error?.code) && message.error.message !== "";

/**
 * A model of the bridge. Tests pass it each line that the bridge reads and each
 * event of the service; it checks each line that the bridge sends.
 */
export class BridgeModel {
  /** The calls that the bridge has to make, in the order of the prompts. */
  readonly runs: ModelRun[] = [];
  readonly threads: ModelThread[] = [];
  /** Every session so far, in the order of the answers. */
  readonly everySession: string[] = [];
  readonly #open = new Map<string, string>(); // sessions to threads
  readonly #maxLineBytes: number;
  #due: Due[] = [];
  #initialized = false;
  #response: Line | undefined;

  /** @param maxLineBytes The most bytes of a line of input. */
  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Handles a line that the bridge reads. */
  receive(bytes: Uint8Array): void {
    const line = bytes.length > this.#maxLineBytes
      ? "too long"
      : parseLine(decoder.decode(bytes));
    if (line === "too long") {
      this.#due.push({ id: "null", accepts: failsBy(-32600) });
    } else if (line === undefined) {
      this.#due.push({ id: "null", accepts: failsBy(-32700) });
    } else if (isResponse(line.value)) {
      return; // The line asks for nothing.
    } else if (!isObject(line.value) || typeof line.value.method !== "string") {
      this.#due.push({ id: line.id ?? "null", accepts: failsBy(-32600) });
    } else if (!("id" in line.value)) {
      this.#notice(line);
    } else if (line.id === undefined) {
      this.#due.push({ id: "null", accepts: failsBy(-32600) });
    } else {
      const { id, value: { method, params } } = line;
      this.#due.push({ id, method, params, ...this.#call(line, line.id) });
    }
  }

  /** Handles the start of a run. */
  start({ threadId, prompt, options }: FakeRun): ModelRun {
    const run = this.startable.find((run) =>
      run.sessionId === options.sessionId
    );
    assert(run, "no run was due");
    assertEquals([threadId, prompt], [run.threadId, run.prompt]);
    run.started = true;
    return run;
  }

  /** The runs that the bridge has to start. */
  get startable(): readonly ModelRun[] {
    return this.runs.filter((run) =>
      !run.started && !run.answered && !run.cancelled &&
      run.after.every(({ answered }) => answered)
    );
  }

  /** Checks a line that the bridge sends. */
  send(text: string): void {
    assertEquals(this.#response, undefined, "a response was not reported");
    assert(/^[^\n]*\n$/.test(text), "this is not one line");
    const line = parseLine(text);
    assert(isObject(line?.value) && line.value.jsonrpc === "2.0", text);
    if ("method" in line.value) this.#update(line.value);
    else this.#response = line;
  }

  /** Checks which request the bridge says that it has just answered. */
  answered({ id, method, sessionId }: Answered): void {
    if (id === undefined) return; // a notification
    const response = this.#response;
    assert(response, "an answer was not sent");
    this.#response = undefined;
    const possible = this.#due.filter((due) =>
      due.id === response.id && due.method === method &&
      (typeof due.params?.sessionId !== "string" ||
        due.params.sessionId === sessionId) &&
      !due.waits?.()
    );
    const due = possible.find((due) => due.accepts(response.value)) ??
      possible.find((due) => due.tolerates?.(response.value));
    assert(due, `not to be answered so: ${JSON.stringify(response.value)}`);
    this.#due.splice(this.#due.indexOf(due), 1);
    due.then?.(response.value);
  }

  /** What the bridge still has to answer without waiting for anything. */
  get overdue(): readonly unknown[] {
    return this.#due.filter((due) => !due.waits?.());
  }

  /** What the bridge still has to answer. */
  get due(): readonly unknown[] {
    return this.#due;
  }

  #call(
    { value: { method, params } }: Line,
    id: string,
  ): Pick<Due, "accepts" | "tolerates" | "waits" | "then"> {
    const sessionId = isObject(params) ? params.sessionId : undefined;
    switch (method) {
      case "initialize":
        this.#initialized = true;
        return {
          accepts: ({ result }) =>
            result?.protocolVersion === 1 && result.capabilities.agents,
        };
      case "agents/list":
        return {
          accepts: ({ result }) => result?.agents[0].id === "the-brain",
        };
      case "session/new":
        return this.#initialized
          ? this.#newSession()
          : { accepts: failsBy(-32600) };
      case "session/resume":
        return this.#resume(sessionId);
      case "session/prompt":
        return this.#prompt(id, params);
      case "session/cancel":
        if (typeof sessionId !== "string") return { accepts: failsBy(-32602) };
        this.#cancel((run) => run.sessionId === sessionId);
        return { accepts: isEmptyResult };
      case "session/close":
        if (typeof sessionId !== "string") return { accepts: failsBy(-32602) };
        return this.#close(sessionId);
      default:
        return { accepts: failsBy(-32601) };
    }
  }

  #newSession(): Pick<Due, "accepts" | "tolerates" | "waits" | "then"> {
    const thread: ModelThread = {};
    this.threads.push(thread);
    const accepts = (
      { outcome }: ModelThread,
      message: Line["value"],
      sessions: Iterable<string>,
    ) =>
      outcome !== undefined && "code" in outcome
        ? failsBy(outcome.code)(message)
        : outcome !== undefined && "threadId" in outcome &&
          mayBeCalled(outcome.threadId, message.result?.sessionId, sessions);
    return {
      waits: () => thread.outcome === undefined,
      accepts: (message) => accepts(thread, message, this.#open.keys()),
      tolerates: (message) => accepts(thread, message, this.everySession),
      then: ({ result }) => {
        if (thread.outcome === undefined || !("threadId" in thread.outcome)) {
          return;
        }
        this.#open.set(result.sessionId, thread.outcome.threadId);
        this.everySession.push(result.sessionId);
      },
    };
  }

  #resume(sessionId: unknown): Pick<Due, "accepts"> {
    const codes = this.#initialized ? [] : [-32600];
    const isId = typeof sessionId === "string" && sessionId.isWellFormed() &&
      !["", ".", ".."].includes(sessionId) &&
      new TextEncoder().encode(sessionId).length <= 1024;
    if (!isId && !this.#open.has(`${sessionId}`)) codes.push(-32602);
    if (codes.length > 0) return { accepts: failsBy(...codes) };
    const id = `${sessionId}`;
    if (!this.#open.has(id)) {
      this.#open.set(id, id);
      this.everySession.push(id);
    }
    return { accepts: isEmptyResult };
  }

  #prompt(
    id: string,
    params: Line["value"],
  ): Pick<Due, "accepts" | "waits" | "then"> {
    const sessionId = isObject(params) ? params.sessionId : undefined;
    const threadId = this.#open.get(sessionId);
    const prompt = isObject(params) ? promptText(params.prompt) : undefined;
    const codes = [];
    if (typeof sessionId !== "string" || prompt === undefined) {
      codes.push(-32602);
    }
    if (typeof sessionId === "string" && threadId === undefined) {
      codes.push(-32002);
    }
    const after = this.#running((run) => run.sessionId === sessionId);
    if (after.some(({ cancelled }) => !cancelled)) codes.push(-32600);
    if (codes.length > 0 || threadId === undefined || prompt === undefined) {
      return { accepts: failsBy(...codes) };
    }
    const run: ModelRun = {
      ...{ id, sessionId, threadId, prompt, after },
      events: [],
    };
    this.runs.push(run);
    return {
      waits: () =>
        run.outcome === undefined && run.cancelled === undefined ||
        run.after.some(({ answered }) => !answered),
      accepts: (message) => mayEnd(run, message),
      then: () => run.answered = true,
    };
  }

  #close(sessionId: string): Pick<Due, "accepts" | "waits"> {
    if (!this.#open.delete(sessionId)) return { accepts: failsBy(-32002) };
    const [run] = this.#cancel((run) => run.sessionId === sessionId);
    return {
      waits: () => run !== undefined && !run.answered,
      accepts: isEmptyResult,
    };
  }

  #notice({ value: { method, params }, requestId }: Line): void {
    if (!isObject(params)) return;
    if (method === "session/cancel") {
      this.#cancel((run) => run.sessionId === params.sessionId);
    } else if (method === "$/cancel_request" && requestId !== undefined) {
      this.#cancel((run) => run.id === requestId);
    }
  }

  #running(which: (run: ModelRun) => boolean): readonly ModelRun[] {
    return this.runs.filter((run) => !run.answered && which(run));
  }

  #cancel(which: (run: ModelRun) => boolean): readonly ModelRun[] {
    const runs = this.#running(which);
    for (const run of runs) run.cancelled ??= { outcome: run.outcome };
    return runs;
  }

  #update({ method, params }: Line["value"]): void {
    assertEquals(method, "session/update");
    const { sessionId } = params;
    const [run] = this.#running((run) => run.sessionId === sessionId);
    assert(run && !run.cancelled, "an update does not belong to a run");
    const event = run.events.shift();
    assert(event, "the service has sent no such event");
    assertEquals(
      params.update,
      event.event === "complete"
        ? {
          sessionUpdate: "agent_message_chunk",
          content: { type: "text", text: event.reply },
        }
        : {
          sessionUpdate: "agent_thought_chunk",
          content: { type: "text", text: `${event.node}: ${event.status}\n` },
          _meta: { node: event.node, status: event.status },
        },
    );
  }
}

/** Whether a new session on a thread may have this id, while there are others. */
function mayBeCalled(
  threadId: string,
  sessionId: unknown,
  others: Iterable<string>,
): boolean {
  const taken = new Set(others);
  const fits = threadId.length <= 200 && !/[^!-~]/.test(threadId);
  if (sessionId === threadId) return fits;
  return typeof sessionId === "string" && /^[0-9a-f-]{36}$/.test(sessionId) &&
    !taken.has(sessionId) && (!fits || taken.has(threadId));
}

/** Whether a prompt's answer fits the outcome of its run. */
function mayEnd(run: ModelRun, message: Line["value"]): boolean {
  const { stopReason } = message.result ?? {};
  if (run.cancelled && stopReason === "cancelled") return true;
  const outcome = run.cancelled ? run.cancelled.outcome : run.outcome;
  if (outcome === undefined) return false;
  return "code" in outcome
    ? failsBy(outcome.code)(message)
    : stopReason === "end_turn" && run.events.length === 0;
}

/** The text of a prompt, or `undefined` if its params are invalid. */
function promptText(prompt: Line["value"]): string | undefined {
  const blocks: Line["value"][] | undefined = typeof prompt === "string"
    ? [{ type: "text", text: prompt }]
    : Array.isArray(prompt)
    ? prompt
    : undefined;
  if (!blocks?.every(isBlock)) return undefined;
  const text = blocks.map((block, i) => {
    if (block.type !== "text") return mention(block);
    return blocks[i - 1]?.type === "text" ? `\n${block.text}` : block.text;
  }).join("");
  if (!/\S/.test(text)) return undefined;
  const contexts = blocks.filter(({ type }) => type === "resource")
    .map(({ resource: { uri, text } }) =>
      `\n\n<context uri="${uri}">\n${text.replace(/\r?\n$/, "")}\n</context>`
    );
  return text + contexts.join("");
}

function isBlock(block: Line["value"]): boolean {
  const { type, text, uri, resource } = isObject(block) ? block : {};
  const { uri: place, text: content } = isObject(resource) ? resource : {};
  const areTexts = (...values: readonly unknown[]) =>
    values.every((value) => typeof value === "string");
  return type === "text" && areTexts(text) ||
    type === "resource_link" && areTexts(uri) ||
    type === "resource" && areTexts(place, content);
}

function mention({ name, uri, resource }: Line["value"]): string {
  const place: string = uri ?? resource.uri;
  const last = place.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const isName = typeof name === "string" && /\S/.test(name);
  return `[${isName ? name : decoded(last)}](${place})`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isResponse(value: unknown): boolean {
  return isObject(value) && !("method" in value) &&
    ("result" in value || "error" in value);
}

function isEmptyResult({ result }: Line["value"]): boolean {
  return isObject(result) && Object.keys(result).length === 0;
}
