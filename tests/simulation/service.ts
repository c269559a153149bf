/**
 * The remote service: its threads, its runs and their streams. What is recorded here is
 * the truth that the promises are held against.
 *
 * @module
 */

import { Exchange, type Request } from "./network.ts";
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

  constructor(id: string, { url, prompt = "" }: Exchange, plan: RunPlan) {
    this.id = id;
    this.threadId = threadOf(url);
    this.prompt = prompt;
    this.plan = plan;
    this.reply = `Reply of ${id} to ${prompt}.` +
      (plan.isLong ? ` ${id}`.repeat(500) : "");
  }
}

function threadOf(url: string): string {
  return url.split("/")[4] ?? "";
}

interface RunEvent {
  readonly position: number;
  readonly kind: Step["what"] | "complete" | "failed";
  readonly id: string;
}

export class Service {
  /** All calls of `fetch`, also those that came to no relay. */
  readonly asked: Exchange[] = [];
  readonly runs: Run[] = [];
  readonly baseUrl: string;
  /** The program's own connections; `undefined` with `http:`. */
  readonly machine: Machine | undefined;
  /** How many clients of `fetch` are open. */
  clients = 0;
  readonly #world: World;
  readonly #plan: ServicePlan;
  readonly #threads = new Set<string>();
  readonly #open = new Set<Exchange>();
  /** The number of requests so far, by operation. */
  readonly #counts = new Map<Operation, number>();
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
        for (const exchange of this.#open) {
          exchange.isVanished = true;
        }
        this.machine?.interrupt("vanished");
        return this.#world.stop(ms);
      case "amnesia":
      case "restart":
        this.#world.tell(`the service is down for ${seconds} (${kind})`);
        if (kind === "amnesia") this.#forget();
        this.#downUntil = now + ms;
        for (const exchange of this.#open) exchange.reset();
        this.#open.clear();
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
    const exchange = new Exchange(world, url, init, () => this.#heldUntil);
    const { operation, prompt, headers } = exchange;
    const count = this.#counts.get(operation) ?? 0;
    this.#counts.set(operation, count + 1);
    const fault = this.#plan.faults[operation][count] ?? { kind: "good" };
    const cursor = headers.get("last-event-id");
    const after = cursor === null ? undefined : `after ${cursor}`;
    const request = [operation, prompt ?? after].filter(Boolean);
    world.tell(`${request.join(" ")}: ${JSON.stringify(fault)}`);
    this.asked.push(exchange);
    if (exchange.isRelayed) {
      this.machine?.send(exchange, init.client, () => {
        this.#open.add(exchange);
        this.#meet(exchange, fault);
      });
    } else this.#connect(exchange, fault);
    return exchange.response;
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

  #connect(exchange: Exchange, fault: Fault): void {
    const world = this.#world;
    const why = this.#whyUnreachable() ?? fault;
    if (why.kind === "unreachable") {
      return exchange.fail(why.ms, "Connect", why.text);
    }
    world.after(10 + world.below(20), "outside", () => {
      // Whoever is dropped before the connection is made sends nothing.
      if (exchange.isOver) return;
      this.#open.add(exchange);
      this.#meet(exchange, fault);
    });
  }

  /** Does with a request that has come what the plan says. */
  #meet(exchange: Exchange, fault: Fault): void {
    switch (fault.kind) {
      case "answer":
        if (fault.isTaken && isTakenWith(fault.status)) this.#take(exchange);
        return this.#refuse(exchange, fault);
      case "broken":
        if (fault.isTaken && !NOT_TAKEN.includes(fault.text)) {
          this.#take(exchange);
        }
        return this.#after(exchange, fault.ms, () => {
          exchange.fail(0, "SendRequest", fault.text);
        });
      case "silent":
        if (fault.isTaken) this.#take(exchange);
        return;
      case "unusable":
        this.#take(exchange);
        return exchange.answer(5, 200, { body: fault.body });
      case "ends":
        exchange.limit = fault.events;
        exchange.how = fault.how;
        return this.#accept(exchange, 5);
      case "late":
        return this.#accept(exchange, fault.ms);
      case "good":
        return this.#accept(exchange, 5);
      case "unreachable": // It is about connections, and this one was made.
        return this.#accept(exchange, 5);
      default:
        fault satisfies never;
    }
  }

  #refuse(
    exchange: Exchange,
    { status, retryAfter, body }: Extract<Fault, { kind: "answer" }>,
  ): void {
    exchange.retryAfter = retryAfter;
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
    exchange.answer(5, status, { headers, body: bodies[body] });
  }

  /** Answers a request as a service should. */
  #accept(exchange: Exchange, ms: number): void {
    const body = this.#take(exchange);
    this.#after(exchange, ms, () => {
      if (body === undefined) return this.#stream(exchange);
      const headers = { "content-type": "application/json" };
      const status = "error" in body ? 404 : 200;
      const text = JSON.stringify(body);
      exchange.answer(0, status, { headers, body: text });
    });
  }

  /** Does something later, unless the connection breaks until then. */
  #after(exchange: Exchange, ms: number, act: () => void): void {
    this.#world.after(ms, "outside", () => {
      if (!exchange.isOver && !exchange.isVanished) act();
    });
  }

  /** Does what a `POST` asks for. Returns the answer; `undefined` for a stream. */
  #take(exchange: Exchange): object | undefined {
    switch (exchange.operation) {
      case "create thread": {
        const id = `t${++this.#threadCount}`;
        this.#threads.add(id);
        return { thread_id: id };
      }
      case "create run": {
        if (!this.#threads.has(threadOf(exchange.url))) {
          return { error: "no such thread" };
        }
        const count = this.runs.length;
        const { runs } = this.#plan;
        const plan = runs[count % runs.length];
        if (plan === undefined) throw new Error("a story plans no runs");
        const run = new Run(`r${count + 1}`, exchange, plan);
        exchange.run = run;
        this.runs.push(run);
        this.#world.tell(`  the service runs ${run.prompt} as ${run.id}`);
        this.#play(run, 0);
        return { run_id: run.id };
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
        for (const exchange of this.#followers(run)) exchange.close();
      }
    });
  }

  #add(run: Run, kind: RunEvent["kind"]): void {
    const position = run.events.length;
    const event = { position, kind, id: this.#idOf(position) };
    run.events.push(event);
    for (const exchange of this.#followers(run)) {
      this.#send(exchange, run, event);
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

  *#followers(run: Run): Generator<Exchange> {
    for (const exchange of this.#open) {
      if (exchange.operation !== "stream run" || exchange.run !== run) continue;
      if (!exchange.isOver) yield exchange;
    }
  }

  /** Begins a stream, from where the plan resumes it. */
  #stream(exchange: Exchange): void {
    const run = this.runs.find(({ id }) => exchange.url.includes(`/${id}/`));
    const { resumes, pings } = this.#plan;
    const cursor = exchange.headers.get("last-event-id");
    if (run === undefined || !this.#threads.has(run.threadId)) {
      return exchange.answer(0, 404, { body: '{"error":"no such run"}' });
    }
    if (cursor !== null && typeof resumes === "number") {
      return exchange.answer(0, resumes, { body: '{"error":"gone"}' });
    }
    const headers = { "content-type": "text/event-stream" };
    exchange.answer(0, 200, { headers });
    exchange.run = run;
    if (pings > 0) this.#ping(exchange, run, pings);
    for (const event of run.events.slice(this.#firstAfter(cursor, run))) {
      this.#send(exchange, run, event);
    }
    if (run.isOver || exchange.limit === 0) exchange.finish();
  }

  /** The position of the first event after an id, as this service sees it. */
  #firstAfter(cursor: string | null, { events }: Run): number {
    const { ids, resumes } = this.#plan;
    if (cursor === null || ids === "own" || resumes === "from start") return 0;
    const last = events.findLastIndex(({ id }) => id === cursor);
    return Math.max(0, resumes === "from last" ? last : last + 1);
  }

  #ping(exchange: Exchange, run: Run, ms: number): void {
    this.#world.after(ms, "outside", () => {
      const isOver = exchange.isOver || exchange.isVanished;
      if (isOver || run.isOver || run.isHung) return;
      exchange.send(": ping\n\n");
      this.#ping(exchange, run, ms);
    });
  }

  /** Sends an event, and ends the stream after it where the plan says so. */
  #send(exchange: Exchange, run: Run, event: RunEvent): void {
    const { how, limit } = exchange;
    if (exchange.sent >= limit) return exchange.finish();
    const frame = this.#frame(run, event, exchange.sent++);
    const isCut = exchange.sent === limit && how === "cut in a line";
    const text = isCut ? frame.slice(0, frame.length >> 1) : frame;
    exchange.hasData ||= !isCut && text.includes("data:");
    const arrival = exchange.send(text);
    if (!isCut && !exchange.isVanished) {
      this.#world.after(arrival - this.#world.now, "outside", () => {
        if (!exchange.isOver) this.#arrived(exchange, run, event);
      });
    }
    const isLast = event.kind === "complete" || event.kind === "failed";
    if (exchange.sent >= limit) exchange.finish();
    else if (isLast) exchange.close();
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
  #frame(run: Run, { kind, id, position }: RunEvent, count: number): string {
    const { ids, isIdLast } = this.#plan;
    if (kind === "comment") return ": still here\n\n";
    if (kind === "retry") return "retry: 3000\n\n";
    const line = `data: ${JSON.stringify(recordOf(run, kind, position))}\n`;
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

function recordOf(
  { id, reply }: Run,
  kind: Exclude<RunEvent["kind"], "comment" | "retry">,
  position: number,
): object {
  switch (kind) {
    case "progress":
      return { event: "progress", node: `${id}.${position}`, status: "works" };
    case "complete":
      return { event: "complete", instructorState: { explanation: reply } };
    case "failure":
    case "failed":
      return { event: "error", message: `${id} has failed` };
    case "unknown":
      return { event: "token", text: "x" };
    default:
      return kind satisfies never;
  }
}
