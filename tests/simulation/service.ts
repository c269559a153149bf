/**
 * The remote service and the network on the way to it, as far as a `fetch` can tell:
 * what a story plans for both, and what they do. What is recorded here is the truth that
 * the promises are held against.
 *
 * @module
 */

import fc from "fast-check";
import type { World } from "./world.ts";

export const BASE_URL = "http://127.0.0.1:8000";
export const API_KEY = "key-0123456789abcdef";

export type Operation = "create thread" | "create run" | "stream run";

/** What becomes of one request. */
export type Fault =
  | { readonly kind: "good" }
  /** The answer takes so many milliseconds longer. */
  | { readonly kind: "late"; readonly ms: number }
  | {
    readonly kind: "answer";
    readonly status: number;
    /** Seconds. */
    readonly retryAfter: number | undefined;
    readonly body: "json" | "page" | "key" | "stalled";
    /** Whether the service runs the prompt all the same, where the status allows it. */
    readonly isTaken: boolean;
  }
  /** No connection is made. */
  | { readonly kind: "unreachable"; readonly text: string; readonly ms: number }
  /** The connection breaks before the answer. */
  | {
    readonly kind: "broken";
    readonly text: string;
    readonly ms: number;
    readonly isTaken: boolean;
  }
  /** Nothing ever comes. */
  | { readonly kind: "silent"; readonly isTaken: boolean }
  /** A 2xx answer to a `POST` that holds no usable id. */
  | { readonly kind: "unusable"; readonly body: string }
  /** A stream that ends after some of its events. */
  | {
    readonly kind: "ends";
    readonly events: number;
    readonly how: StreamEnd;
  };

/** How a stream ends before its run does; `vanished`: nothing comes any more. */
export type StreamEnd = "reset" | "closed" | "vanished" | "cut in a line";

/** What a run does, one after the other, each after so many milliseconds. */
export interface Step {
  readonly ms: number;
  readonly what: "progress" | "comment" | "failure" | "unknown" | "retry";
}

export interface RunPlan {
  readonly steps: readonly Step[];
  /** Milliseconds from the last step to the end. */
  readonly ms: number;
  /** `closes`: its stream ends without a word. `hangs`: nothing more comes. */
  readonly end: "complete" | "failed" | "closes" | "hangs";
  readonly isLong: boolean;
}

/** What happens at a moment, for so many milliseconds. */
export interface Trouble {
  readonly at: number;
  readonly ms: number;
  /**
   * `stop`: the process is stopped. `sleep`: the machine is, and has no network for 5 s
   * more. `restart`: the service breaks all connections and comes back. `amnesia`: it
   * comes back without its threads and runs. `outage`: no packet passes.
   */
  readonly kind: "stop" | "sleep" | "restart" | "amnesia" | "outage";
}

export interface ServicePlan {
  /** How events are numbered; `some`: every other one; `own`: by each connection from 1. */
  readonly ids:
    | "none"
    | "some"
    | "from 0"
    | "from 1"
    | "random"
    | "pairs"
    | "own";
  readonly isIdLast: boolean;
  /** What it sends after `Last-Event-ID`: a status, or events from one on. */
  readonly resumes: "after" | "from start" | "from last" | 204 | 404 | 410;
  /** Milliseconds between comments that keep a stream alive; 0 for none. */
  readonly pings: number;
  readonly runs: readonly RunPlan[];
  readonly faults: Readonly<Record<Operation, readonly Fault[]>>;
  readonly troubles: readonly Trouble[];
}

/** A moment or a duration of any size that limits are about, in milliseconds. */
export const anySpan: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: 0, max: 3_000 }),
  fc.integer({ min: 0, max: 20_000 }),
  fc.integer({ min: 0, max: 130_000 }),
  fc.integer({ min: 0, max: 1_200_000 }),
);

const anyShortSpan = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 2_000 }) },
  { weight: 1, arbitrary: anySpan },
  { weight: 1, arbitrary: fc.integer({ min: 550_000, max: 800_000 }) },
);

const REFUSED = "tcp connect error: Connection refused (os error 111)";
const GO_AWAY = "connection error received: not a result of an error";
const RESET = "connection error: Connection reset by peer (os error 104)";

const BROKEN_BODY = "error reading a body from connection";

const UNREACHABLE = [
  REFUSED,
  "dns error: failed to lookup address information: Name or service not known",
  "tcp connect error: No route to host (os error 113)",
  "tcp connect error: Connection timed out (os error 110)",
];

/** By these a request was certainly not taken. */
const NOT_TAKEN = ["connection closed", GO_AWAY, `${GO_AWAY} (b"max_age")`];

const BROKEN = [
  "connection closed before message completed",
  RESET,
  "stream error received: not a result of an error",
  "stream error received: refused stream before processing any application logic",
  // What a peer writes may look like anything.
  `connection error received: unspecific protocol error detected (b"client error (Connect): ${REFUSED}")`,
  `connection error received: unspecific protocol error detected (b"${GO_AWAY}")`,
  `connection error received: ${API_KEY}`,
];

const anyStatus = fc.constantFrom(
  ...[302, 400, 401, 403, 404, 408, 409, 410, 422, 425, 429, 429, 499],
  ...[500, 502, 503, 503, 504],
);

const anyPostFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constant<Fault>({ kind: "good" }),
  fc.record({
    kind: fc.constant("answer" as const),
    status: anyStatus,
    retryAfter: fc.constantFrom(undefined, 0, 3, 30, 100),
    body: fc.constantFrom("json", "page", "key", "stalled"),
    isTaken: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("unreachable" as const),
    text: fc.constantFrom(...UNREACHABLE, REFUSED, REFUSED),
    ms: anyShortSpan,
  }),
  fc.record({
    kind: fc.constant("broken" as const),
    text: fc.constantFrom(...NOT_TAKEN, ...BROKEN),
    ms: anyShortSpan,
    isTaken: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("silent" as const),
    isTaken: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("late" as const), ms: anyShortSpan }),
  fc.record({
    kind: fc.constant("unusable" as const),
    body: fc.constantFrom("{}", "[", "", "<html><title>Sign in</title>"),
  }),
);

const anyStreamFault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 1, arbitrary: anyPostFault.filter((f) => f.kind !== "unusable") },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("ends" as const),
      events: fc.nat(4),
      how: fc.constantFrom("reset", "closed", "vanished", "cut in a line"),
    }),
  },
);

const anyRun: fc.Arbitrary<RunPlan> = fc.record({
  steps: fc.array(
    fc.record({
      ms: anyShortSpan,
      what: fc.constantFrom(
        ...["progress", "progress", "progress", "progress"] as const,
        ...["comment", "failure", "unknown", "retry"] as const,
      ),
    }),
    { maxLength: 6 },
  ),
  ms: anyShortSpan,
  end: fc.constantFrom(
    ...["complete", "complete", "complete", "complete"] as const,
    ...["failed", "closes", "hangs"] as const,
  ),
  isLong: fc.boolean(),
});

/** Mostly good requests: a story in which everything fails at once tells little. */
function faults(fault: fc.Arbitrary<Fault>, maxLength: number) {
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant<readonly Fault[]>([]) },
    { weight: 1, arbitrary: fc.array(fault, { maxLength }) },
  );
}

export const anyService: fc.Arbitrary<ServicePlan> = fc.record({
  ids: fc.constantFrom(
    ...["none", "some", "from 0", "from 1", "random", "pairs", "own"] as const,
  ),
  isIdLast: fc.boolean(),
  resumes: fc.constantFrom(
    ...["after", "after", "from start", "from start", "from last"] as const,
    ...[204, 404, 410] as const,
  ),
  pings: fc.constantFrom(0, 0, 1_000, 15_000, 100_000),
  runs: fc.array(anyRun, { minLength: 1, maxLength: 3 }),
  faults: fc.record({
    "create thread": faults(anyPostFault, 5),
    "create run": faults(anyPostFault, 5),
    "stream run": fc.array(anyStreamFault, { maxLength: 8 }),
  }),
  troubles: fc.array(
    fc.record({
      at: anySpan,
      ms: anySpan,
      kind: fc.constantFrom(
        ...["stop", "stop", "sleep"] as const,
        ...["restart", "amnesia", "outage"] as const,
      ),
    }),
    { maxLength: 3 },
  ),
});

/** A run, as the service knows it. */
export class Run {
  readonly id: string;
  readonly threadId: string;
  readonly prompt: string;
  readonly plan: RunPlan;
  readonly reply: string;
  /** Its events so far. */
  readonly events: RunEvent[] = [];
  /** Whether it has ended, as a whole or by the loss of the service's memory. */
  isOver = false;
  /** Whether it does nothing any more, and does not end. */
  isHung = false;
  /** Whether it has ended without a reply, and the service says so. */
  hasFailed = false;
  /** The position of the last event that reached the program, counted from 0. */
  furthest = -1;
  /** When the end of the reply came, or waited, at the program's socket. */
  completeAt: number | undefined;

  constructor(
    { id, threadId, prompt, plan }: Pick<
      Run,
      "id" | "threadId" | "prompt" | "plan"
    >,
  ) {
    this.id = id;
    this.threadId = threadId;
    this.prompt = prompt;
    this.plan = plan;
    this.reply = `Reply of ${id} to ${prompt}.` +
      (plan.isLong ? ` ${id}`.repeat(500) : "");
  }
}

interface RunEvent {
  readonly position: number;
  readonly kind: Step["what"] | "complete" | "failed";
  readonly id: string;
  readonly data: string;
}

/** One request, and what became of it. */
export class Exchange {
  readonly operation: Operation;
  readonly askedAt: number;
  readonly url: string;
  readonly headers: Headers;
  readonly prompt: string | undefined;
  /** Whether its bytes left the process. */
  wasSent = false;
  /** The run that it created, or follows. */
  run: Run | undefined;
  status: number | undefined;
  /** Seconds. */
  retryAfter: number | undefined;
  /** Why `fetch` failed. */
  failure: string | undefined;
  openedAt: number | undefined;
  /** When the last byte came, or waited, at the program's socket. */
  lastByteAt: number | undefined;
  /** How many events came for the user that no connection had brought before. */
  news = 0;
  /** When the last of them came. */
  newestAt: number | undefined;
  /** When the end of the reply came on it. */
  completeAt: number | undefined;
  /** How it ended; `dropped`: by the program. */
  ending: "whole" | "broken" | "dropped" | undefined;
  endedAt = Infinity;

  constructor(
    { operation, askedAt, url, headers, prompt }: Pick<
      Exchange,
      "operation" | "askedAt" | "url" | "headers" | "prompt"
    >,
  ) {
    this.operation = operation;
    this.askedAt = askedAt;
    this.url = url;
    this.headers = headers;
    this.prompt = prompt;
  }
}

/** One request on its way: what the service and the network can do with it. */
class Connection {
  readonly exchange: Exchange;
  readonly response: Promise<Response>;
  /** How many events it has sent, and the most that it will send. */
  sent = 0;
  limit = Infinity;
  /** What happens after that. */
  how: StreamEnd = "closed";
  isVanished = false;
  readonly #world: World;
  readonly #heldUntil: () => number;
  readonly #answered = Promise.withResolvers<Response>();
  #body: ReadableByteStreamController | undefined;
  #arrival = 0;

  constructor(
    world: World,
    exchange: Exchange,
    { signal, heldUntil }: {
      readonly signal: AbortSignal | null | undefined;
      readonly heldUntil: () => number;
    },
  ) {
    this.#world = world;
    this.exchange = exchange;
    this.#heldUntil = heldUntil;
    this.response = this.#answered.promise;
    const drop = () => {
      if (!this.#end("dropped")) return;
      this.#answered.reject(signal?.reason);
      this.#body?.error(signal?.reason);
    };
    signal?.addEventListener("abort", drop);
    if (signal?.aborted) drop();
  }

  get isOver(): boolean {
    return this.exchange.ending !== undefined;
  }

  /** Lets headers arrive, and the body if it is known. */
  answer(
    ms: number,
    status: number,
    { headers = {}, body }: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | undefined;
    } = {},
  ): void {
    this.#arrive(ms, () => {
      const { exchange } = this;
      exchange.status = status;
      exchange.openedAt = this.#world.now;
      const hasBody = status !== 204;
      const stream = new ReadableStream({
        type: "bytes",
        start: (controller) => void (this.#body = controller),
        cancel: () => void this.#end("dropped"),
      });
      const init = { status, headers };
      this.#answered.resolve(new Response(hasBody ? stream : null, init));
      if (!hasBody) this.#end("whole");
    });
    if (body === undefined || status === 204) return;
    this.send(body);
    this.close();
  }

  /** Lets `fetch` fail. */
  fail(ms: number, kind: "Connect" | "SendRequest", text: string): void {
    this.#arrive(ms, () => {
      this.exchange.failure = text;
      this.#end("broken");
      this.#answered.reject(this.#rejection(kind, text));
    });
  }

  /** An error of `fetch`, in the words of Deno 2.9.6. */
  #rejection(kind: "Connect" | "SendRequest", text: string): TypeError {
    const { url } = this.exchange;
    const about = kind === "Connect"
      ? `error sending request for url (${url})`
      : `error sending request from 127.0.0.1:1 for ${url} (127.0.0.1:8000)`;
    const cause = new Error(`${about}: client error (${kind}): ${text}`);
    return new TypeError("fetch failed", { cause });
  }

  /** Sends text in chunks that are cut anywhere. */
  send(text: string): number {
    const bytes = new TextEncoder().encode(text);
    const cut = this.#world.below(3) === 0
      ? this.#world.below(bytes.length)
      : 0;
    if (cut > 0) this.#sendBytes(bytes.slice(0, cut));
    return this.#sendBytes(bytes.slice(cut));
  }

  /** Ends the answer as a whole. */
  close(): void {
    this.#arrive(0, () => {
      if (!this.#end("whole")) return;
      this.#body?.close();
      this.#body?.byobRequest?.respond(0); // ends a read that waits
    });
  }

  /**
   * Breaks the connection, before or after the headers, a moment after the program has
   * got what came before: a reset would throw that away.
   */
  reset(): void {
    this.#arrive(0, () => this.#world.after(5, "socket", () => this.#break()));
    this.isVanished = true; // Nothing follows.
  }

  #break(): void {
    const { exchange } = this;
    if (this.isOver) return;
    const hasHeaders = exchange.openedAt !== undefined;
    exchange.failure = hasHeaders ? BROKEN_BODY : RESET;
    this.#end("broken");
    if (hasHeaders) this.#body?.error(new TypeError(BROKEN_BODY));
    else this.#answered.reject(this.#rejection("SendRequest", RESET));
  }

  /** Ends the stream as the plan says. */
  finish(): void {
    if (this.how === "closed") this.close();
    else if (this.how === "vanished") this.isVanished = true;
    else this.reset();
  }

  #sendBytes(bytes: Uint8Array): number {
    const arrival = this.#arrive(0, () => {
      this.exchange.lastByteAt = arrival;
      if (bytes.length > 0) this.#body?.enqueue(new Uint8Array(bytes));
    });
    return arrival;
  }

  /** Lets something reach the program, in order; returns when it is at its socket. */
  #arrive(ms: number, act: () => void): number {
    const { now } = this.#world;
    this.#arrival = Math.max(
      this.#arrival + this.#world.below(2),
      now + ms + 1 + this.#world.below(3),
      this.#heldUntil(),
    );
    if (this.isVanished) return this.#arrival;
    this.#world.after(this.#arrival - now, "socket", () => {
      if (!this.isOver) act();
    });
    return this.#arrival;
  }

  #end(how: "whole" | "broken" | "dropped"): boolean {
    const { exchange } = this;
    if (exchange.ending !== undefined) return false;
    exchange.ending = how;
    exchange.endedAt = this.#world.now;
    if (exchange.operation === "stream run" || how !== "whole") {
      const reason = how === "broken" ? ` (${exchange.failure})` : "";
      this.#world.tell(`  ${exchange.operation}: ${how}${reason}`);
    }
    return true;
  }
}

export class Service {
  readonly exchanges: Exchange[] = [];
  readonly runs: Run[] = [];
  /** How many clients of `fetch` are open. */
  clients = 0;
  readonly #world: World;
  readonly #plan: ServicePlan;
  readonly #threads = new Set<string>();
  readonly #connections = new Set<Connection>();
  readonly #counts: Record<Operation, number> = {
    "create thread": 0,
    "create run": 0,
    "stream run": 0,
  };
  #threadCount = 0;
  #downUntil = 0;
  #unreachableUntil = 0;
  #heldUntil = 0;

  constructor(world: World, plan: ServicePlan) {
    this.#world = world;
    this.#plan = plan;
    for (const trouble of plan.troubles) {
      world.after(trouble.at, "outside", () => this.#begin(trouble));
    }
    world.replace(globalThis, {
      fetch: (url: string, init: RequestInit) => this.#fetch(url, init),
    });
    world.replace(Deno, {
      createHttpClient: () => {
        this.clients++;
        let isOpen = true;
        const close = () => {
          if (isOpen) this.clients--;
          isOpen = false;
        };
        return { close, [Symbol.dispose]: close };
      },
    });
  }

  #begin({ kind, ms }: Trouble): void {
    const { now } = this.#world;
    const seconds = `${ms / 1000} s`;
    switch (kind) {
      case "stop":
        return this.#world.stop(ms);
      case "sleep":
        this.#world.tell("the machine sleeps: its connections vanish");
        this.#unreachableUntil = now + ms + 5_000;
        for (const connection of this.#connections) {
          connection.isVanished = true;
        }
        return this.#world.stop(ms);
      case "amnesia":
      case "restart":
        this.#world.tell(`the service is down for ${seconds} (${kind})`);
        if (kind === "amnesia") this.#forget();
        this.#downUntil = now + ms;
        for (const connection of this.#connections) connection.reset();
        this.#connections.clear();
        return;
      case "outage":
        this.#world.tell(`no packet passes for ${seconds}`);
        this.#unreachableUntil = this.#heldUntil = now + ms;
        return;
      default:
        kind satisfies never;
    }
  }

  #forget(): void {
    for (const run of this.runs) run.isOver = run.hasFailed = true;
    this.#threads.clear();
  }

  #fetch(url: string, init: RequestInit): Promise<Response> {
    const world = this.#world;
    const operation: Operation = url.endsWith("/threads")
      ? "create thread"
      : url.endsWith("/runs")
      ? "create run"
      : "stream run";
    const text = world.texts.get(init.body as Blob);
    const exchange = new Exchange({
      operation,
      askedAt: world.now,
      url,
      headers: new Headers(init.headers),
      prompt: text === undefined ? undefined : JSON.parse(text).prompt,
    });
    this.exchanges.push(exchange);
    const connection = new Connection(world, exchange, {
      signal: init.signal,
      heldUntil: () => this.#heldUntil,
    });
    const count = this.#counts[operation]++;
    const fault = this.#plan.faults[operation][count] ?? { kind: "good" };
    const cursor = exchange.headers.get("last-event-id");
    const about = exchange.prompt ?? (cursor === null ? "" : `after ${cursor}`);
    world.tell(`${operation} ${about}: ${JSON.stringify(fault)}`);
    this.#connect(connection, fault);
    return connection.response;
  }

  #connect(connection: Connection, fault: Fault): void {
    const world = this.#world;
    if (world.now < this.#unreachableUntil) {
      return connection.fail(1_000, "Connect", UNREACHABLE[2] ?? "");
    }
    if (world.now < this.#downUntil) {
      return connection.fail(10, "Connect", REFUSED);
    }
    if (fault.kind === "unreachable") {
      return connection.fail(fault.ms, "Connect", fault.text);
    }
    world.after(10 + world.below(20), "outside", () => {
      // Whoever is dropped before the connection is made sends nothing.
      if (connection.isOver) return;
      connection.exchange.wasSent = true;
      this.#connections.add(connection);
      this.#meet(connection, fault);
    });
  }

  /** Does with a request that has come what the plan says. */
  #meet(connection: Connection, fault: Fault): void {
    const { exchange } = connection;
    switch (fault.kind) {
      case "answer":
        if (fault.isTaken && isTakenWith(fault.status)) this.#take(exchange);
        return this.#refuse(connection, fault);
      case "broken":
        if (fault.isTaken && !NOT_TAKEN.includes(fault.text)) {
          this.#take(exchange);
        }
        return connection.fail(fault.ms, "SendRequest", fault.text);
      case "silent":
        if (fault.isTaken) this.#take(exchange);
        return;
      case "unusable":
        this.#take(exchange);
        return connection.answer(5, 200, { body: fault.body });
      case "ends":
        connection.limit = fault.events;
        connection.how = fault.how;
        return this.#accept(connection, 5);
      case "late":
        return this.#accept(connection, fault.ms);
      case "good":
        return this.#accept(connection, 5);
      case "unreachable":
        return;
      default:
        fault satisfies never;
    }
  }

  #refuse(
    connection: Connection,
    { status, retryAfter, body }: Extract<Fault, { kind: "answer" }>,
  ): void {
    connection.exchange.retryAfter = retryAfter;
    const headers = {
      "content-type": body === "page" ? "text/html" : "application/json",
      ...retryAfter !== undefined && { "retry-after": String(retryAfter) },
    };
    const bodies = {
      json: '{"error":"not now"}',
      page: "<html><title>Bad gateway</title></html>",
      key: JSON.stringify({ error: `the key ${API_KEY} is not known` }),
      stalled: undefined,
    };
    connection.answer(5, status, { headers, body: bodies[body] });
  }

  /** Answers a request as a service should. */
  #accept(connection: Connection, ms: number): void {
    const { exchange } = connection;
    const body = this.#take(exchange);
    if (body !== undefined) {
      const headers = { "content-type": "application/json" };
      const status = "error" in body ? 404 : 200;
      const text = JSON.stringify(body);
      return connection.answer(ms, status, { headers, body: text });
    }
    this.#stream(connection, ms);
  }

  /** Does what a `POST` asks for. Returns the answer; `undefined` for a stream. */
  #take(exchange: Exchange): object | undefined {
    const [, , , , thread = ""] = exchange.url.split("/");
    switch (exchange.operation) {
      case "create thread": {
        const id = `t${++this.#threadCount}`;
        this.#threads.add(id);
        return { thread_id: id };
      }
      case "create run": {
        const { prompt = "" } = exchange;
        if (!this.#threads.has(thread)) return { error: "no such thread" };
        const count = this.runs.length;
        const { runs } = this.#plan;
        const plan = runs[count % runs.length];
        if (plan === undefined) throw new Error("a story plans no runs");
        const id = `r${count + 1}`;
        const run = new Run({ id, threadId: thread, prompt, plan });
        exchange.run = run;
        this.runs.push(run);
        this.#world.tell(`  the service runs ${prompt} as ${id}`);
        this.#play(run, 0);
        return { run_id: id };
      }
      case "stream run":
        return undefined;
      default:
        return exchange.operation satisfies never;
    }
  }

  /** Lets a run do its next step. */
  #play(run: Run, index: number): void {
    const step = run.plan.steps[index];
    this.#world.after(step?.ms ?? run.plan.ms, "outside", () => {
      if (run.isOver) return;
      if (step !== undefined) {
        this.#add(run, step.what);
        return this.#play(run, index + 1);
      }
      const { end } = run.plan;
      run.isHung = end === "hangs";
      run.isOver = !run.isHung;
      run.hasFailed = end === "failed";
      if (end === "complete" || end === "failed") this.#add(run, end);
      if (end === "closes") {
        for (const connection of this.#followers(run)) connection.close();
      }
    });
  }

  #add(run: Run, kind: RunEvent["kind"]): void {
    const position = run.events.length;
    const id = this.#idOf(position);
    const event = { position, kind, id, data: dataOf(run, kind, position) };
    run.events.push(event);
    for (const connection of this.#followers(run)) {
      this.#send(connection, event);
    }
  }

  #idOf(position: number): string {
    switch (this.#plan.ids) {
      case "random":
        return `x${this.#world.below(1e9)}`;
      case "pairs":
        return String(position >> 1);
      case "some":
        return position % 2 === 0 ? String(position) : "";
      case "from 0":
        return String(position);
      default:
        return String(position + 1);
    }
  }

  *#followers(run: Run): Generator<Connection> {
    for (const connection of this.#connections) {
      const { exchange } = connection;
      if (exchange.operation !== "stream run" || exchange.run !== run) continue;
      if (!connection.isOver) yield connection;
    }
  }

  /** Begins a stream, from where the plan resumes it. */
  #stream(connection: Connection, ms: number): void {
    const { exchange } = connection;
    const [, , , , , , runId] = exchange.url.split("/");
    const run = this.runs.find(({ id }) => id === runId);
    const { resumes, pings } = this.#plan;
    const cursor = exchange.headers.get("last-event-id");
    if (run === undefined || !this.#threads.has(run.threadId)) {
      return connection.answer(ms, 404, { body: '{"error":"no such run"}' });
    }
    if (cursor !== null && typeof resumes === "number") {
      return connection.answer(ms, resumes, { body: '{"error":"gone"}' });
    }
    const headers = { "content-type": "text/event-stream" };
    connection.answer(ms, 200, { headers });
    exchange.run = run;
    if (pings > 0) this.#ping(connection, run, pings);
    for (const event of run.events.slice(this.#firstAfter(cursor, run))) {
      this.#send(connection, event);
    }
    if (run.isOver || connection.limit === 0) connection.finish();
  }

  /** The position of the first event after an id, as this service sees it. */
  #firstAfter(cursor: string | null, { events }: Run): number {
    const { ids, resumes } = this.#plan;
    if (cursor === null || ids === "own" || resumes === "from start") return 0;
    const last = events.findLastIndex(({ id }) => id === cursor);
    return Math.max(0, resumes === "from last" ? last : last + 1);
  }

  #ping(connection: Connection, run: Run, ms: number): void {
    this.#world.after(ms, "outside", () => {
      const isOver = connection.isOver || connection.isVanished;
      if (isOver || run.isOver || run.isHung) return;
      connection.send(": ping\n\n");
      this.#ping(connection, run, ms);
    });
  }

  /** Sends an event, and ends the stream after it where the plan says so. */
  #send(connection: Connection, event: RunEvent): void {
    const { exchange: { run }, how, limit } = connection;
    if (connection.sent >= limit) return connection.finish();
    const frame = this.#frame(event, connection.sent++);
    const isCut = connection.sent === limit && how === "cut in a line";
    const arrival = connection.send(
      isCut ? frame.slice(0, frame.length >> 1) : frame,
    );
    if (run !== undefined && !isCut && !connection.isVanished) {
      this.#world.after(arrival - this.#world.now, "outside", () => {
        if (!connection.isOver) this.#arrived(connection.exchange, run, event);
      });
    }
    const isLast = event.kind === "complete" || event.kind === "failed";
    if (connection.sent >= limit) connection.finish();
    else if (isLast) connection.close();
  }

  /** Notes what waits at the program's socket, whether the process is stopped or not. */
  #arrived(exchange: Exchange, run: Run, { kind, position }: RunEvent): void {
    const { now } = this.#world;
    if (kind === "complete") {
      run.completeAt ??= now;
      exchange.completeAt = now;
    }
    if (position <= run.furthest) return;
    run.furthest = position;
    if (kind !== "progress" && kind !== "complete") return;
    exchange.news++;
    exchange.newestAt = now;
  }

  /** An event on the wire. */
  #frame({ kind, id, data }: RunEvent, count: number): string {
    const { ids, isIdLast } = this.#plan;
    if (kind === "comment") return `: ${data}\n\n`;
    if (kind === "retry") return `retry: ${data}\n\n`;
    const line = `data: ${data}\n`;
    if (ids === "none" || id === "") return `${line}\n`;
    const name = `id: ${ids === "own" ? count + 1 : id}\n`;
    // Of events that share an id, only one that has it first can be told to be old.
    const isLast = isIdLast && ids !== "pairs";
    return isLast ? `${line}${name}\n` : `${name}${line}\n`;
  }
}

/** Whether `fetch` failed before a connection was made. */
export function isUnreachable({ failure = "" }: Exchange): boolean {
  return UNREACHABLE.includes(failure);
}

/** Whether a request was certainly not taken, by why `fetch` failed. */
export function isNotTaken({ failure = "" }: Exchange): boolean {
  return NOT_TAKEN.includes(failure);
}

/** Whether a status leaves it open that a service has taken the request. */
export function isTakenWith(status: number): boolean {
  return status >= 500 || [408, 425, 499].includes(status);
}

function dataOf(run: Run, kind: RunEvent["kind"], position: number): string {
  switch (kind) {
    case "progress":
      return JSON.stringify({
        event: "progress",
        node: `${run.id}.${position}`,
        status: "works",
      });
    case "complete": {
      const instructorState = { explanation: run.reply };
      return JSON.stringify({ event: "complete", instructorState });
    }
    case "failure":
    case "failed":
      return JSON.stringify({
        event: "error",
        message: `${run.id} has failed`,
      });
    case "unknown":
      return JSON.stringify({ event: "token", text: "x" });
    case "comment":
      return "still here";
    case "retry":
      return "3000";
    default:
      return kind satisfies never;
  }
}
