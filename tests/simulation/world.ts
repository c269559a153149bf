/**
 * Virtual time and seeded chance. While a {@linkcode World} exists, everything that
 * `lib/` reads from the process comes from it: clocks, timers, random numbers, and turns
 * of the event loop. When nothing is ready to run, the clock goes to the next event.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { abortSignal } from "../support/clocks.ts";
import { randomNumbers } from "../support/random_numbers.ts";

/**
 * Whom an event reaches. A process that is stopped gets nothing; when it goes on, its
 * timers fire before its sockets are read, as in Deno.
 */
type Target = "outside" | "timer" | "socket" | "turn";

const RANKS: Readonly<Record<Target, number>> = {
  outside: 0,
  timer: 1,
  socket: 2,
  turn: 3,
};

interface Event {
  readonly due: number;
  readonly target: Target;
  readonly order: number;
  readonly act: () => void;
}

/** So many events in one story mean that the program goes round in circles. */
const MAX_EVENTS = 50_000;

/** So many timers may be left of a story. */
const MAX_LEFT = 1_000;

/** The wall clock at the start: 2026-11-21. */
const EPOCH = 1_795_219_200_000;

/** Globals that a world replaces, by the object that they belong to. */
type Replaced = Readonly<Record<string, unknown>>;

/** When the next world begins: after every time that `lib/` read in the last one. */
let begun = 0;

export class World implements AsyncDisposable {
  /** Milliseconds since the start. */
  now = 0;
  /** What happened, a line each. */
  readonly story: string[] = [];
  /** When the process was stopped, and for how long, in milliseconds. */
  readonly stops: { readonly at: number; readonly ms: number }[] = [];
  /** Errors that nobody handled. */
  readonly unhandled: unknown[] = [];
  /** The text of each `Blob`, which Deno reads asynchronously. */
  readonly texts = new WeakMap<object, string>();
  readonly #numbers: (limit: number) => number;
  readonly #events = new Map<number, Event>();
  readonly #restores: (() => void)[] = [];
  #order = 0;
  #count = 0;
  #stoppedUntil = 0;
  #isClosing = false;
  readonly #epoch = ++begun * 1e10;

  constructor(seed: number) {
    this.#numbers = randomNumbers(seed);
    this.#replaceClocks();
    this.#replaceChance();
    this.#replaceEventLoop();
    const note = (event: PromiseRejectionEvent) => {
      event.preventDefault();
      this.unhandled.push(event.reason);
    };
    addEventListener("unhandledrejection", note);
    this.#restores.push(() => removeEventListener("unhandledrejection", note));
  }

  /** Adds a line to the story, with its time. */
  tell(line: string): void {
    if (this.#isClosing) return;
    this.story.push(`${(this.now / 1000).toFixed(3).padStart(9)}  ${line}`);
  }

  /** A whole number from 0 up to a limit. */
  below(limit: number): number {
    return this.#numbers(limit);
  }

  /** Does something after a number of milliseconds. Returns what {@linkcode cancel} takes. */
  after(ms: number, target: Target, act: () => void): number {
    const order = ++this.#order;
    const due = this.now + Math.max(0, ms);
    this.#events.set(order, { due, target, order, act });
    return order;
  }

  cancel(order: number): void {
    this.#events.delete(order);
  }

  /** Waits in the user's time, which goes on while the process is stopped. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, "outside", resolve));
  }

  /** The process is stopped (SIGSTOP, `docker pause`, a machine that sleeps). */
  stop(ms: number): void {
    this.tell(`the process is stopped for ${ms / 1000} s`);
    const at = Math.max(this.now, this.#stoppedUntil);
    const until = Math.max(at, this.now + ms);
    this.stops.push({ at, ms: until - at });
    this.#stoppedUntil = until;
  }

  /** How long the process was stopped between two moments. */
  stoppedBetween(start: number, end: number): number {
    let total = 0;
    for (const { at, ms } of this.stops) {
      total += Math.max(0, Math.min(end, at + ms) - Math.max(start, at));
    }
    return total;
  }

  /** The time in which the process ran between two moments, in milliseconds. */
  runningTime(start: number, end: number): number {
    const until = Math.min(end, this.now);
    return until - start - this.stoppedBetween(start, until);
  }

  /**
   * Lets the world go on until a promise settles. Returns whether it did: if not, the
   * story tells why.
   */
  async until(promise: Promise<unknown>): Promise<boolean> {
    let isSettled = false;
    const settle = () => void (isSettled = true);
    promise.then(settle, settle);
    for (;;) {
      await settled();
      if (isSettled) return true;
      const event = this.#next();
      if (event === undefined || ++this.#count > MAX_EVENTS) {
        const isIdle = event === undefined;
        this.tell(isIdle ? "nothing happens any more" : "it is busy for ever");
        return false;
      }
      this.#events.delete(event.order);
      this.now = Math.max(this.now, this.#reaches(event));
      event.act();
    }
  }

  /**
   * Lets what the program has left behind come to nothing: `lib/` may hold timers that
   * all stories share.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#stoppedUntil = 0;
    for (let count = 0; count < MAX_LEFT; count++) {
      const left = this.#events.values()
        .filter(({ target }) => target === "timer" || target === "turn")
        .toArray();
      const [first] = left.sort((a, b) => a.due - b.due);
      if (first === undefined) break;
      this.#events.delete(first.order);
      this.now = Math.max(this.now, first.due);
      first.act();
      await settled();
    }
    for (const restore of this.#restores) restore();
  }

  #next(): Event | undefined {
    let first: Event | undefined;
    for (const event of this.#events.values()) {
      if (first === undefined || this.#isBefore(event, first)) first = event;
    }
    return first;
  }

  #isBefore(a: Event, b: Event): boolean {
    const order = this.#reaches(a) - this.#reaches(b) ||
      RANKS[a.target] - RANKS[b.target] || a.due - b.due || a.order - b.order;
    return order < 0;
  }

  #reaches({ due, target }: Event): number {
    return target === "outside" ? due : Math.max(due, this.#stoppedUntil);
  }

  /** Replaces properties of an object until the world is disposed of. */
  replace(object: object, properties: Replaced): void {
    for (const [name, value] of Object.entries(properties)) {
      const descriptor = Object.getOwnPropertyDescriptor(object, name);
      Object.defineProperty(object, name, {
        value,
        configurable: true,
        writable: true,
      });
      this.#restores.push(() => {
        if (descriptor !== undefined) {
          Object.defineProperty(object, name, descriptor);
        } else Reflect.deleteProperty(object, name);
      });
    }
  }

  #replaceClocks(): void {
    this.replace(performance, { now: () => this.#epoch + this.now });
    this.replace(Date, { now: () => EPOCH + this.now });
    this.replace(AbortSignal, {
      timeout: (ms: number) =>
        abortSignal((abort) => {
          const timer = this.after(ms, "timer", abort);
          return () => this.cancel(timer);
        }),
    });
  }

  #replaceChance(): void {
    this.replace(Math, { random: () => this.below(1e9) / 1e9 });
    const hex = () => this.below(65_536).toString(16).padStart(4, "0");
    this.replace(crypto, {
      randomUUID: () =>
        `${hex()}${hex()}-${hex()}-4${
          hex().slice(1)
        }-${hex()}-${hex()}${hex()}${hex()}`,
    });
    // Deno makes keys on another thread, in real time. The program does not use this one:
    // it only waits until it is made.
    this.replace(crypto.subtle, { generateKey: () => Promise.resolve() });
  }

  #replaceEventLoop(): void {
    const { texts } = this;
    const turn = (act: () => void) => this.after(0, "turn", act);
    class Channel {
      readonly port1 = { onmessage: () => {}, close: () => {} };
      readonly port2 = {
        postMessage: () => turn(() => this.port1.onmessage()),
        close: () => {},
      };
    }
    class ReadableBlob extends Blob {
      constructor(parts?: string[], options?: BlobPropertyBag) {
        super(parts, options);
        texts.set(this, (parts ?? []).join(""));
      }
    }
    this.replace(globalThis, { MessageChannel: Channel, Blob: ReadableBlob });
  }
}

/**
 * Resolves when everything that is ready has run. A dynamic import of a module that is
 * loaded takes one turn of Deno's own event loop; the second is for what follows it.
 */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 2; turns++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
