/**
 * Virtual time and seeded chance. While a {@linkcode World} exists, everything that
 * `lib/` reads from the process comes from it: clocks, timers, random numbers, and turns
 * of the event loop. When nothing is ready to run, the clock goes to the next event.
 *
 * @module
 */

import { setImmediate } from "node:timers/promises";
import { abortSignal } from "../support/clocks.ts";
import { randomNumbers } from "../support/random_numbers.ts";

/**
 * Whom events reach, first those that come first. A process that is stopped gets
 * nothing; when it goes on, its timers fire before its sockets are read, as in Deno.
 */
const TARGETS = ["outside", "timer", "socket", "turn"] as const;

type Target = typeof TARGETS[number];

interface Event {
  readonly due: number;
  readonly target: Target;
  readonly act: () => void;
}

/** So many events in one story mean that the program goes round in circles. */
const MAX_EVENTS = 50_000;

/** So many events may follow the end of a story. */
const MAX_LEFT = 1_000;

/** So much of a line of a story is shown. */
const MOST_CHARACTERS = 200;

/** The wall clock at the start: 2026-11-21. */
const EPOCH = 1_795_219_200_000;

/** When the next world begins: after every time that `lib/` read in the last one. */
let begun = 0;

/** A `Blob` whose text is known at once: Deno reads it asynchronously. */
export class KnownBlob extends Blob {
  readonly known: string;

  constructor(parts: string[], options?: BlobPropertyBag) {
    super(parts, options);
    this.known = parts.join("");
  }
}

export class World implements AsyncDisposable {
  /** Milliseconds since the start. */
  now = 0;
  /** What happened, a line each. */
  readonly story: string[] = [];
  /** Errors that nobody handled. */
  readonly unhandled: unknown[] = [];
  /** A whole number from 0 up to a limit. */
  readonly below: (limit: number) => number;
  /** When the process was stopped, and when it went on. */
  readonly #stops: (readonly [start: number, end: number])[] = [];
  /** In the order in which they were planned. */
  readonly #events = new Set<Event>();
  readonly #restores: (() => void)[] = [];
  #left = MAX_EVENTS;
  #targets: readonly Target[] = TARGETS;
  #stoppedUntil = 0;
  readonly #epoch = ++begun * 1e10;

  constructor(seed: number) {
    this.below = randomNumbers(seed);
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
    const time = (this.now / 1000).toFixed(3).padStart(9);
    this.story.push(`${time}  ${line.slice(0, MOST_CHARACTERS)}`);
  }

  /** Does something after a number of milliseconds. Returns how to cancel that. */
  after(ms: number, target: Target, act: () => void): () => void {
    const event = { due: this.now + Math.max(0, ms), target, act };
    this.#events.add(event);
    return () => void this.#events.delete(event);
  }

  /** Waits, by default in the time of those outside, which no stop of the process ends. */
  pause(ms: number, target: Target = "outside"): Promise<void> {
    return new Promise((resolve) => this.after(ms, target, resolve));
  }

  /** The process is stopped (SIGSTOP, `docker pause`, a machine that sleeps). */
  stop(ms: number): void {
    const start = Math.max(this.now, this.#stoppedUntil);
    this.#stoppedUntil = Math.max(start, this.now + ms);
    this.#stops.push([start, this.#stoppedUntil]);
  }

  /** The time in which the process ran between two moments, in milliseconds. */
  runningTime(start: number, end: number): number {
    const until = Math.min(end, this.now);
    let time = until - start;
    for (const [stop, goOn] of this.#stops) {
      time -= Math.max(0, Math.min(until, goOn) - Math.max(start, stop));
    }
    return time;
  }

  /** Lets the world go on until a promise settles. Returns whether it does. */
  async until(promise: Promise<unknown>): Promise<boolean> {
    let isSettled = false;
    const settle = () => void (isSettled = true);
    promise.then(settle, settle);
    await settled();
    while (!isSettled) {
      const event = this.#next();
      if (event === undefined || this.#left-- === 0) return false;
      this.#events.delete(event);
      this.now = Math.max(this.now, this.#reaches(event));
      event.act();
      await settled();
    }
    return true;
  }

  /**
   * Lets what the program has left behind come to nothing: `lib/` may hold timers that
   * all stories share.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#targets = ["timer", "turn"];
    this.#left = MAX_LEFT;
    this.#stoppedUntil = 0;
    await this.until(new Promise(() => {}));
    for (const restore of this.#restores) restore();
  }

  #next(): Event | undefined {
    const rank = ({ target }: Event) => this.#targets.indexOf(target);
    const events = Array.from(this.#events).filter((one) => rank(one) >= 0);
    const [next] = events.sort((a, b) =>
      this.#reaches(a) - this.#reaches(b) || rank(a) - rank(b) || a.due - b.due
    );
    return next;
  }

  #reaches({ due, target }: Event): number {
    return target === "outside" ? due : Math.max(due, this.#stoppedUntil);
  }

  /** Replaces properties of an object until the world is disposed of. */
  replace(object: object, properties: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(properties)) {
      const before: unknown = Reflect.get(object, name);
      Reflect.set(object, name, value);
      this.#restores.push(() => Reflect.set(object, name, before));
    }
  }

  #replaceClocks(): void {
    this.replace(performance, { now: () => this.#epoch + this.now });
    this.replace(Date, { now: () => EPOCH + this.now });
    const timeout = (ms: number) =>
      abortSignal((abort) => this.after(ms, "timer", abort));
    this.replace(AbortSignal, { timeout });
  }

  #replaceChance(): void {
    this.replace(Math, { random: () => this.below(1e9) / 1e9 });
    let ids = 0;
    const randomUUID = () => String(ids++).padStart(36, "0");
    this.replace(crypto, { randomUUID });
    // Deno makes keys on another thread, in real time. The program does not use this one:
    // it only waits until it is made.
    this.replace(crypto.subtle, { generateKey: () => Promise.resolve() });
  }

  #replaceEventLoop(): void {
    const turn = (act: () => void) => this.after(0, "turn", act);
    class MessageChannel {
      readonly port1 = { onmessage: () => {}, close: () => {} };
      readonly port2 = {
        postMessage: () => turn(() => this.port1.onmessage()),
        close: () => {},
      };
    }
    this.replace(globalThis, { MessageChannel, Blob: KnownBlob });
  }
}

/**
 * Resolves when everything that is ready has run. A dynamic import of a module that is
 * loaded takes one turn of Deno's own event loop; the second is for what follows it.
 */
async function settled(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
