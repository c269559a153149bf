/**
 * The remote service: its threads, its runs and their streams. What is recorded here is
 * the truth that the promises are held against.
 *
 * @module
 */

import { Exchange, type Request } from "./exchange.ts";
import { Network } from "./network.ts";
import {
  API_KEY,
  type Fault,
  type NetworkPlan,
  NO_ROUTE,
  NOT_TAKEN,
  REFUSED,
  type RunPlan,
  type ServicePlan,
  type Step,
  type Trouble,
} from "./plans.ts";
import type { World } from "./world.ts";

/** A run, as the service knows it. */
export interface Run {
  readonly id: string;
  readonly prompt: string;
  readonly plan: RunPlan;
  readonly reply: string;
  /** Its events so far. */
  readonly events: RunEvent[];
  /** The requests that have come to follow it. */
  readonly followers: Exchange[];
  /** Whether it does nothing any more. */
  isOver: boolean;
  /** The position of the last event that reached the program, counted from 0. */
  furthest: number;
  /** When the end of the reply came, or waited, at the program's socket. */
  completeAt: number | undefined;
}

interface RunEvent {
  readonly position: number;
  readonly kind: Step["what"] | "complete" | "failed";
  readonly id: string;
}

/** The bodies of refusals. */
const BODIES = {
  json: '{"error":"not now"}',
  page: "<html><title>Bad gateway</title></html>",
  key: `{"error":"the key ${API_KEY} is not known"}`,
  stalled: undefined,
};

export class Service {
  /** All calls of `fetch`, also those that came to no relay. */
  readonly asked: Exchange[] = [];
  readonly runs: Run[] = [];
  readonly baseUrl: string;
  readonly network: Network;
  readonly #world: World;
  readonly #plan: ServicePlan;
  /** What becomes of the next requests. */
  readonly #faults: ServicePlan["faults"];
  #threads = 0;

  constructor(world: World, plan: ServicePlan, network: NetworkPlan) {
    this.#world = world;
    this.#plan = plan;
    this.#faults = structuredClone(plan.faults);
    this.baseUrl = `${network.scheme}://agent.test`;
    this.network = new Network(world, network);
    for (const trouble of plan.troubles) {
      world.after(trouble.at, "outside", () => this.#begin(trouble));
    }
    world.replace(globalThis, {
      fetch: (url: string, init: Request) => this.#fetch(url, init),
    });
  }

  /** The requests to the service: those that left this machine, as far as it let them. */
  get exchanges(): readonly Exchange[] {
    return this.asked.filter(({ isRelayed, hasPort }) => !isRelayed || hasPort);
  }

  #begin({ kind, ms }: Trouble): void {
    const world = this.#world;
    const { network } = this;
    world.tell(`trouble for ${ms / 1000} s: ${kind}`);
    switch (kind) {
      case "stop":
        return world.stop(ms);
      case "sleep":
        network.obstruct(ms + 5_000, NO_ROUTE, 1_000);
        network.interrupt("vanished");
        return world.stop(ms);
      case "restart":
        network.obstruct(ms, REFUSED, 10);
        return network.interrupt("reset");
      case "outage":
        network.obstruct(ms, NO_ROUTE, 1_000);
        network.heldUntil = world.now + ms;
        return;
      default:
        kind satisfies never;
    }
  }

  #fetch(url: string, init: Request): Promise<Response> {
    const exchange = new Exchange(this.#world, this.network, url, init);
    const { operation, prompt, headers } = exchange;
    const fault = this.#faults[operation].shift() ?? { kind: "good" };
    const about = prompt ?? headers.get("last-event-id") ?? "";
    this.#world.tell(`${operation} ${about}: ${JSON.stringify(fault)}`);
    this.asked.push(exchange);
    this.network.send(
      exchange,
      init.client,
      () => this.#meet(exchange, fault),
    );
    return exchange.response;
  }

  /** Does with a request that has come what the plan says. */
  #meet(exchange: Exchange, fault: Fault): void {
    switch (fault.kind) {
      case "answer": {
        const { status, retryAfter, body, isTaken } = fault;
        const mayTake = status >= 500 || [408, 425, 499].includes(status);
        if (isTaken && mayTake) this.#take(exchange);
        const headers = { "retry-after": retryAfter };
        return exchange.answer(status, BODIES[body], headers);
      }
      case "broken":
        if (fault.isTaken && !NOT_TAKEN.includes(fault.text)) {
          this.#take(exchange);
        }
        this.#world.after(fault.ms, "outside", () => {
          exchange.arrive(() => exchange.fail(fault.text));
        });
        return;
      case "silent":
        if (fault.isTaken) this.#take(exchange);
        return;
      case "unusable":
        this.#take(exchange);
        return exchange.answer(200, fault.body);
      case "ends":
        exchange.limit = fault.events;
        exchange.how = fault.how;
        return this.#accept(exchange);
      case "late":
        return this.#accept(exchange, fault.ms);
      case "good":
        return this.#accept(exchange);
      default:
        fault satisfies never;
    }
  }

  /** Answers a request as a service should. */
  #accept(exchange: Exchange, ms = 0): void {
    const body = this.#take(exchange);
    this.#world.after(ms, "outside", () => {
      if (exchange.operation === "stream run") this.#stream(exchange);
      else exchange.answer(200, JSON.stringify(body));
    });
  }

  /** Does what a `POST` asks for. Returns the answer; `undefined` for a stream. */
  #take(exchange: Exchange): object | undefined {
    switch (exchange.operation) {
      case "create thread":
        return { thread_id: `t${++this.#threads}` };
      case "create run":
        return { run_id: this.#createRun(exchange).id };
      case "stream run":
        return undefined;
      default:
        return exchange.operation satisfies never;
    }
  }

  #createRun({ prompt = "" }: Exchange): Run {
    const count = this.runs.length;
    const { runs } = this.#plan;
    const plan = runs[count % runs.length];
    if (plan === undefined) throw new Error("a story plans no runs");
    const id = `r${count + 1}`;
    const more = plan.isLong ? ` ${id}`.repeat(500) : "";
    const run: Run = {
      id,
      prompt,
      plan,
      reply: `Reply of ${id} to ${prompt}.${more}`,
      events: [],
      followers: [],
      isOver: false,
      furthest: -1,
      completeAt: undefined,
    };
    this.runs.push(run);
    this.#world.tell(`  the service runs ${prompt} as ${id}`);
    let ms = 0;
    for (const step of plan.steps) {
      ms += step.ms;
      this.#world.after(ms, "outside", () => this.#add(run, step.what));
    }
    this.#world.after(ms + plan.ms, "outside", () => this.#end(run));
    return run;
  }

  #end(run: Run): void {
    const { end } = run.plan;
    run.isOver = true;
    if (end === "complete" || end === "failed") this.#add(run, end);
    if (end !== "closes") return;
    for (const exchange of run.followers) {
      if (!exchange.isOver) exchange.close();
    }
  }

  #add(run: Run, kind: RunEvent["kind"]): void {
    const position = run.events.length;
    const event = { position, kind, id: this.#idOf(position) };
    run.events.push(event);
    for (const exchange of run.followers) {
      this.#send(exchange, run, event);
    }
  }

  #idOf(position: number): string {
    switch (this.#plan.ids) {
      case "none":
        return "";
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

  /** Begins a stream, from where the plan resumes it. */
  #stream(exchange: Exchange): void {
    const { headers, url } = exchange;
    const run = this.runs.find(({ id }) => url.includes(`/${id}/`));
    const { pings } = this.#plan;
    const cursor = headers.get("last-event-id");
    if (run === undefined) {
      return exchange.answer(404, '{"error":"no such run"}');
    }
    const type = { "content-type": "text/event-stream" };
    exchange.answer(200, undefined, type);
    run.followers.push(exchange);
    if (pings > 0) this.#ping(exchange, run, pings);
    for (const event of run.events.slice(this.#firstAfter(cursor, run))) {
      this.#send(exchange, run, event);
    }
    const hasEnded = run.isOver && run.plan.end !== "hangs";
    if (hasEnded || exchange.limit === 0) exchange.finish();
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
      if (exchange.isOver || run.isOver) return;
      exchange.send(": ping\n\n");
      this.#ping(exchange, run, ms);
    });
  }

  /** Sends an event, and ends the stream after it where the plan says so. */
  #send(exchange: Exchange, run: Run, event: RunEvent): void {
    const { how, limit } = exchange;
    if (exchange.isOver) return;
    if (exchange.sent >= limit) return exchange.finish();
    const frame = this.#frame(run, event, exchange.sent++);
    const isCut = exchange.sent === limit && how === "cut in a line";
    const text = isCut ? frame.slice(0, frame.length >> 1) : frame;
    exchange.hasData ||= !isCut && text.includes("data:");
    const arrival = exchange.send(text);
    if (!isCut && arrival !== undefined) {
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
    if (kind === "complete") run.completeAt ??= now;
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
  #frame(
    { id: run, reply }: Run,
    { kind, id, position }: RunEvent,
    count: number,
  ): string {
    const { ids, isIdLast } = this.#plan;
    if (kind === "comment") return ": still here\n\n";
    if (kind === "retry") return "retry: 3000\n\n";
    const failure = { event: "error", message: `${run} has failed` };
    const records = {
      progress: {
        event: "progress",
        node: `${run}.${position}`,
        status: "works",
      },
      complete: { event: "complete", instructorState: { explanation: reply } },
      failure,
      failed: failure,
      unknown: { event: "token", text: "x" },
    };
    const line = `data: ${JSON.stringify(records[kind])}\n`;
    if (id === "") return `${line}\n`;
    const name = `id: ${ids === "own" ? count + 1 : id}\n`;
    // Of events that share an id, only one that has it first can be told to be old.
    const isLast = isIdLast && ids !== "pairs";
    return isLast ? `${line}${name}\n` : `${name}${line}\n`;
  }
}
