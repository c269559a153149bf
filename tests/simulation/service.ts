/**
 * The remote service: its threads, its runs and their streams. What is recorded here is
 * the truth that the promises are held against.
 *
 * @module
 */

import { Connection, Exchange } from "./network.ts";
import {
  API_KEY,
  type Fault,
  type HttpsPlan,
  type LineFault,
  NO_ROUTE,
  NOT_TAKEN,
  type Operation,
  REFUSED,
  type RunPlan,
  type ServicePlan,
  type Step,
  type Trouble,
} from "./plans.ts";
import { HttpClient, Machine, type RelayProxy } from "./relayed.ts";
import type { World } from "./world.ts";

/** What the program gives to `fetch`. */
type Request = RequestInit & { readonly client: HttpClient };

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

export class Service {
  /** All calls of `fetch`, also those that came to no relay. */
  readonly asked: Exchange[] = [];
  /** The kind of fault that each of them met. */
  readonly faults: Fault["kind"][] = [];
  readonly runs: Run[] = [];
  readonly baseUrl: string;
  /** The program's own connections; `undefined` with `http:`. */
  readonly machine: Machine | undefined;
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

  constructor(world: World, plan: ServicePlan, https?: HttpsPlan) {
    this.#world = world;
    this.#plan = plan;
    this.baseUrl = https === undefined
      ? "http://127.0.0.1:8000"
      : "https://agent.test";
    this.machine = https && new Machine(world, https, {
      heldUntil: () => this.#heldUntil,
      whyUnreachable: () => this.#whyUnreachable(),
    });
    for (const trouble of plan.troubles) {
      world.after(trouble.at, "outside", () => this.#begin(trouble));
    }
    world.replace(globalThis, {
      fetch: (url: string, init: Request) => this.#fetch(url, init),
    });
    world.replace(Deno, {
      createHttpClient: ({ proxy }: { readonly proxy?: RelayProxy }) => {
        this.clients++;
        return new HttpClient(proxy, () => void this.clients--);
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
        this.machine?.interrupt("vanished");
        return this.#world.stop(ms);
      case "amnesia":
      case "restart":
        this.#world.tell(`the service is down for ${seconds} (${kind})`);
        if (kind === "amnesia") this.#forget();
        this.#downUntil = now + ms;
        for (const connection of this.#connections) connection.reset();
        this.#connections.clear();
        this.machine?.interrupt("reset");
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

  #fetch(url: string, init: Request): Promise<Response> {
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
    this.asked.push(exchange);
    const connection = new Connection(world, exchange, {
      signal: init.signal,
      heldUntil: () => this.#heldUntil,
    });
    const count = this.#counts[operation]++;
    const fault = this.#plan.faults[operation][count] ?? { kind: "good" };
    const cursor = exchange.headers.get("last-event-id");
    const after = cursor === null ? undefined : `after ${cursor}`;
    const request = [operation, exchange.prompt ?? after].filter(Boolean);
    world.tell(`${request.join(" ")}: ${JSON.stringify(fault)}`);
    this.faults.push(fault.kind);
    exchange.isRelayed = init.client.proxy !== undefined;
    if (exchange.isRelayed) {
      this.machine?.send(connection, init.client, () => {
        this.#connections.add(connection);
        this.#meet(connection, fault);
      });
    } else this.#connect(connection, fault);
    return connection.response;
  }

  /** The requests to the service: those that left this machine, as far as it let them. */
  get exchanges(): readonly Exchange[] {
    return this.asked.filter(({ isRelayed, hasPort }) => !isRelayed || hasPort);
  }

  #whyUnreachable(): Extract<LineFault, { kind: "unreachable" }> | undefined {
    const { now } = this.#world;
    if (now < this.#unreachableUntil) {
      return { kind: "unreachable", text: NO_ROUTE, ms: 1_000 };
    }
    if (now >= this.#downUntil) return undefined;
    return { kind: "unreachable", text: REFUSED, ms: 10 };
  }

  #connect(connection: Connection, fault: Fault): void {
    const world = this.#world;
    const why = this.#whyUnreachable() ?? fault;
    if (why.kind === "unreachable") {
      return connection.fail(why.ms, "Connect", why.text);
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
        return this.#after(connection, fault.ms, () => {
          connection.fail(0, "SendRequest", fault.text);
        });
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
      case "unreachable": // It is about connections, and this one was made.
        return this.#accept(connection, 5);
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
    const body = this.#take(connection.exchange);
    this.#after(connection, ms, () => {
      if (body === undefined) return this.#stream(connection);
      const headers = { "content-type": "application/json" };
      const status = "error" in body ? 404 : 200;
      const text = JSON.stringify(body);
      connection.answer(0, status, { headers, body: text });
    });
  }

  /** Does something later, unless the connection breaks until then. */
  #after(connection: Connection, ms: number, act: () => void): void {
    this.#world.after(ms, "outside", () => {
      if (!connection.isOver && !connection.isVanished) act();
    });
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
  #stream(connection: Connection): void {
    const { exchange } = connection;
    const [, , , , , , runId] = exchange.url.split("/");
    const run = this.runs.find(({ id }) => id === runId);
    const { resumes, pings } = this.#plan;
    const cursor = exchange.headers.get("last-event-id");
    if (run === undefined || !this.#threads.has(run.threadId)) {
      return connection.answer(0, 404, { body: '{"error":"no such run"}' });
    }
    if (cursor !== null && typeof resumes === "number") {
      return connection.answer(0, resumes, { body: '{"error":"gone"}' });
    }
    const headers = { "content-type": "text/event-stream" };
    connection.answer(0, 200, { headers });
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
    const { exchange, how, limit } = connection;
    const { run } = exchange;
    if (connection.sent >= limit) return connection.finish();
    const frame = this.#frame(event, connection.sent++);
    const isCut = connection.sent === limit && how === "cut in a line";
    const text = isCut ? frame.slice(0, frame.length >> 1) : frame;
    exchange.hasData ||= !isCut && text.includes("data:");
    const arrival = connection.send(text);
    if (run !== undefined && !isCut && !connection.isVanished) {
      this.#world.after(arrival - this.#world.now, "outside", () => {
        if (!connection.isOver) this.#arrived(exchange, run, event);
      });
    }
    const isLast = event.kind === "complete" || event.kind === "failed";
    if (connection.sent >= limit) connection.finish();
    else if (isLast) connection.close();
  }

  /** Notes what waits at the program's socket, whether the process is stopped or not. */
  #arrived(exchange: Exchange, run: Run, event: RunEvent): void {
    const { kind, position, id } = event;
    const { now } = this.#world;
    if (kind === "retry") exchange.hasRetry = true;
    if (kind === "complete") {
      run.completeAt ??= now;
      exchange.completeAt = now;
    }
    if (position <= run.furthest) return;
    run.furthest = position;
    if (kind !== "progress" && kind !== "complete") return;
    // What shares its id with the last event cannot be told from that one.
    const isLastAgain = id === exchange.headers.get("last-event-id");
    if (isLastAgain && kind === "progress") return;
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
