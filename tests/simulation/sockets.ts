/**
 * The sockets of the process: what `Deno.listen` and `Deno.connect` give it, connections
 * on this machine, and the ends that others hold.
 *
 * @module
 */

import type { World } from "./world.ts";

/** Wakes those who wait for something that may have come. */
class News {
  #next = Promise.withResolvers<void>();

  get promise(): Promise<void> {
    return this.#next.promise;
  }

  tell(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }
}

/** One end of a connection: as much of a `Deno.TcpConn` as the program uses. */
export class Socket {
  /** How long a packet takes, in milliseconds. */
  readonly #delay: () => number;
  /** When something was sent first. */
  writtenAt: number | undefined;
  /** When it was closed here. */
  closedAt: number | undefined;
  readonly #world: World;
  readonly #target: "socket" | "outside";
  readonly #chunks: Uint8Array[] = [];
  #peer: Socket | undefined;
  #isVanished = false;
  /** What comes after the chunks: `null` is the end, an error a reset. */
  #end: Error | null | undefined;
  readonly #news = new News();
  /** When the last that this end has sent arrives. */
  #arrival = 0;

  private constructor(
    world: World,
    target: "socket" | "outside",
    delay: () => number,
  ) {
    this.#world = world;
    this.#target = target;
    this.#delay = delay;
  }

  /** Two ends: the first one the program's, the second one of `target`. */
  static pair(
    world: World,
    target: "socket" | "outside",
    delay: () => number,
  ): readonly [Socket, Socket] {
    const near = new Socket(world, "socket", delay);
    const far = new Socket(world, target, delay);
    near.#peer = far;
    far.#peer = near;
    return [near, far];
  }

  get isClosed(): boolean {
    return this.closedAt !== undefined;
  }

  setNoDelay(): void {}

  async read(buffer: Uint8Array): Promise<number | null> {
    for (;;) {
      if (this.isClosed) throw new Deno.errors.BadResource("closed");
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        const taken = chunk.subarray(0, buffer.length);
        buffer.set(taken);
        const rest = chunk.subarray(taken.length);
        if (rest.length > 0) this.#chunks.unshift(rest);
        return taken.length;
      }
      if (this.#end instanceof Error) throw this.#end;
      if (this.#end === null) return null;
      await this.#news.promise;
    }
  }

  /** Takes a part of the bytes now and then, as a system does. */
  async write(bytes: Uint8Array): Promise<number> {
    if (this.isClosed) throw new Deno.errors.BadResource("closed");
    if (this.#end instanceof Error || this.#peer?.isClosed) {
      throw new Deno.errors.BrokenPipe("Broken pipe");
    }
    const isWhole = this.#world.below(4) > 0;
    const count = isWhole ? bytes.length : 1 + this.#world.below(bytes.length);
    this.send(bytes.slice(0, count));
    return await Promise.resolve(count);
  }

  /** Sends bytes. Returns when they arrive; `undefined` if they never do. */
  send(bytes: Uint8Array): number | undefined {
    if (this.isClosed) return undefined;
    this.writtenAt ??= this.#world.now;
    return this.#pass((peer) => void peer.#chunks.push(bytes));
  }

  closeWrite(): Promise<void> {
    this.#pass((peer) => peer.#finish(null));
    return Promise.resolve();
  }

  close(): void {
    if (this.isClosed) throw new Deno.errors.BadResource("closed");
    this.closedAt = this.#world.now;
    this.#chunks.length = 0;
    this.#news.tell();
    this.#pass((peer) => peer.#finish(null));
  }

  /** Closes it, unless it is closed. */
  drop(): void {
    if (!this.isClosed) this.close();
  }

  /** Lets nothing more pass, and tells nobody; what is under way arrives. */
  vanish(): void {
    this.#isVanished = true;
    if (this.#peer !== undefined) this.#peer.#isVanished = true;
  }

  /** Breaks the connection, so many milliseconds after what was sent has arrived. */
  reset(ms = 0): void {
    const error = new Deno.errors.ConnectionReset(
      "Connection reset by peer (os error 104)",
    );
    this.#pass((peer) => peer.#finish(error), ms);
    this.closedAt ??= this.#world.now;
    this.#news.tell();
  }

  /** Lets something reach the other end, in order. Returns when it does. */
  #pass(act: (peer: Socket) => void, ms = 0): number | undefined {
    const peer = this.#peer;
    if (peer === undefined || this.#isVanished) return undefined;
    const { now } = this.#world;
    this.#arrival = Math.max(this.#arrival, now + this.#delay()) + ms;
    this.#world.after(this.#arrival - now, peer.#target, () => {
      if (peer.isClosed) return;
      act(peer);
      peer.#news.tell();
    });
    return this.#arrival;
  }

  #finish(end: Error | null): void {
    this.#end ??= end;
    if (end instanceof Error) this.#end = end;
  }
}

/** Reads exactly so many bytes; fails if the connection ends before. */
export async function readExactly(
  socket: Socket,
  length: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let filled = 0; filled < length;) {
    const count = await socket.read(bytes.subarray(filled));
    if (count === null) {
      throw new Deno.errors.UnexpectedEof();
    }
    filled += count;
  }
  return bytes;
}

/** A listener of the program on this machine. */
export class Listener {
  readonly addr: { readonly hostname: string; readonly port: number };
  isClosed = false;
  readonly #waiting: Socket[] = [];
  readonly #news = new News();

  constructor(port: number) {
    this.addr = { hostname: "127.0.0.1", port };
  }

  async accept(): Promise<Socket> {
    for (;;) {
      if (this.isClosed) throw new Deno.errors.BadResource("closed");
      const socket = this.#waiting.shift();
      if (socket !== undefined) return socket;
      await this.#news.promise;
    }
  }

  /** Lets a connection come. */
  receive(socket: Socket): void {
    this.#waiting.push(socket);
    this.#news.tell();
  }

  close(): void {
    if (this.isClosed) throw new Deno.errors.BadResource("closed");
    this.isClosed = true;
    for (const socket of this.#waiting) socket.reset();
    this.#news.tell();
  }

  [Symbol.dispose](): void {
    if (!this.isClosed) this.close();
  }
}
