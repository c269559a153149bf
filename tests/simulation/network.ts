/**
 * The connections of `fetch` to the service: its own ones, or through the program's relay
 * with `https:`, which has to pass the bytes between them on unchanged. TLS itself is not
 * played: of it there is the ClientHello, its answer, and the rule that nothing of a
 * request is sent before.
 *
 * @module
 */

import type { Exchange } from "./exchange.ts";
import {
  AMBIGUOUS,
  GONE,
  type LineFault,
  type NetworkPlan,
  NOT_HEARD,
  REFUSED,
  RESET,
} from "./plans.ts";
import { Listener, readExactly, Socket } from "./sockets.ts";
import type { World } from "./world.ts";

/** A connection of the program to the service. */
interface Visit {
  readonly askedAt: number;
  /** Why it was not made. */
  failure: string | undefined;
  openedAt: number | undefined;
  /** Whether it was made for a request, or one came on it. */
  isUsed: boolean;
  /** The program's end. */
  readonly near: Socket;
  readonly far: Socket;
}

/** How a client of `fetch` reaches the program's relay. */
interface RelayProxy {
  readonly url: string;
  readonly basicAuth: Deno.BasicAuth;
}

/** One client of `fetch`. */
export interface HttpClient {
  readonly proxy: RelayProxy | undefined;
  readonly links: Link[];
  close(): void;
}

/** A connection of a client of `fetch`. */
interface Link {
  readonly socket: Socket;
  carried: Exchange | undefined;
  /** Whether it is back in the pool. */
  isIdle: boolean;
}

/** What the program gives to `Deno.connect`. */
type ConnectOptions = Deno.ConnectOptions & { readonly signal: AbortSignal };

/** What one end does when it has read a record whole. */
type Act = (socket: Socket, visit: Visit | undefined) => void;

/** The type of all records: the relay does not look at it. */
const DATA = 23;

/** What fills records. */
const FILLING = 120;

/** What this machine does with the program's sockets, and the service at their other end. */
export class Network {
  readonly visits: Visit[] = [];
  readonly plan: NetworkPlan;
  /** Until when no packet passes. */
  heldUntil = 0;
  /** How many clients of `fetch` are open. */
  clients = 0;
  readonly #world: World;
  readonly #listeners: Listener[] = [];
  /** What is done at each record, whose bytes hold its position here. */
  readonly #acts: Act[] = [];
  #obstacle: LineFault | undefined;
  #port = 40_000;

  constructor(world: World, plan: NetworkPlan) {
    this.#world = world;
    this.plan = plan;
    world.replace(Deno, {
      createHttpClient: ({ proxy }: Pick<HttpClient, "proxy">) =>
        this.#createClient(proxy),
      listen: () => this.#listen(),
      connect: ({ hostname, port, signal }: ConnectOptions) => {
        const connecting = hostname === "127.0.0.1"
          ? this.#connectHere(port)
          : this.#connectToService(signal).catch(inWordsOfDeno);
        const { promise: aborted, reject } = Promise.withResolvers<never>();
        signal.addEventListener("abort", () => reject(signal.reason));
        return Promise.race([connecting, aborted]);
      },
    });
    const isForbidden = plan.loopback === "forbidden";
    world.replace(Deno.permissions, {
      querySync: ({ name }: Deno.PermissionDescriptor) => ({
        state: isForbidden && name === "net" ? "denied" : "granted",
      }),
    });
  }

  /** How many sockets and listeners of the program are open. */
  get open(): number {
    const sockets = this.visits.filter(({ openedAt }) => openedAt !== undefined)
      .map(({ near }) => near);
    return [...sockets, ...this.#listeners]
      .filter(({ isClosed }) => !isClosed).length;
  }

  /** Lets new connections to the service fail for some time, each after `delay`. */
  obstruct(ms: number, text: string, delay: number): void {
    this.#obstacle = { kind: "unreachable", text, ms: delay };
    this.#world.after(ms, "outside", () => this.#obstacle = undefined);
  }

  /** Lets all connections to the service vanish, or break. */
  interrupt(how: "vanished" | "reset"): void {
    for (const { far } of this.visits) {
      if (how === "vanished") far.vanish();
      else far.reset(5);
    }
  }

  /**
   * Sends the request of an exchange.
   *
   * @param onRequest Called when the service has got it.
   */
  async send(
    exchange: Exchange,
    client: HttpClient,
    onRequest: () => void,
  ): Promise<void> {
    if (exchange.isOver) return;
    try {
      const link = await this.#linkOf(client, exchange);
      if (exchange.isOver) return link.socket.drop();
      link.isIdle = false;
      link.carried = exchange;
      exchange.hasPort = true;
      exchange.wasHeard = true;
      exchange.onEnded = (how) => {
        if (how !== "whole") return link.socket.drop();
        // It is back in the pool after a turn of the event loop.
        this.#world.after(0, "turn", () => void (link.isIdle = true));
      };
      const request = this.record((far, visit) => {
        exchange.far = far;
        if (visit !== undefined) visit.isUsed = true;
        onRequest();
      });
      link.socket.send(request);
    } catch (error) {
      const text = exchange.hasPort
        ? this.#whyNotHeard(exchange)
        : String(error instanceof Error ? error.message : error);
      exchange.fail(text, "Connect");
    }
  }

  #createClient(proxy: RelayProxy | undefined): HttpClient {
    this.clients++;
    const links: Link[] = [];
    const close = () => {
      this.clients--;
      for (const { socket } of links) socket.drop();
    };
    return { proxy, links, close };
  }

  /** An idle connection of a client, or else a new one to the service or its relay. */
  async #linkOf(client: HttpClient, exchange: Exchange): Promise<Link> {
    const idle = client.links.find(({ isIdle, socket }) =>
      isIdle && !socket.isClosed
    );
    if (idle !== undefined) return idle;
    const { proxy } = client;
    const socket = proxy === undefined
      ? await this.#connectToService()
      : await this.#connectToRelay(proxy, client, exchange);
    const link = { socket, carried: undefined, isIdle: false };
    client.links.push(link);
    this.#receive(link);
    return link;
  }

  /** Connects to a relay, and through it to the service. */
  async #connectToRelay(
    { url, basicAuth }: RelayProxy,
    { links }: HttpClient,
    exchange: Exchange,
  ): Promise<Socket> {
    exchange.wasNeedless = links.some(({ socket }) => !socket.isClosed);
    const socket = await this.#connectHere(Number(new URL(url).port));
    exchange.onEnded = () => socket.drop();
    await logIn(socket, basicAuth);
    exchange.hasPort = true;
    const hello = this.record((far) => {
      exchange.wasHeard = true;
      far.send(this.record(() => {}));
    });
    socket.send(hello);
    await this.#readRecord(socket);
    return socket;
  }

  /** Reads what comes to `fetch`. */
  async #receive(link: Link): Promise<void> {
    try {
      for (;;) await this.#readRecord(link.socket);
    } catch {
      link.socket.drop();
      // The program gets what came before: an error of a body would throw that away.
      this.#world.after(5, "socket", () => link.carried?.fail(RESET));
    }
  }

  /** Why the relay has closed the connection: as far as it is clear. */
  #whyNotHeard({ askedAt }: Exchange): string {
    const reasons = this.visits.filter((visit) => visit.askedAt >= askedAt)
      .map(({ failure }) => failure ?? NOT_HEARD);
    const [reason = NOT_HEARD] = reasons;
    return reasons.every((one) => one === reason) ? reason : AMBIGUOUS;
  }

  /** Connects to a port of this machine. */
  async #connectHere(port: number): Promise<Socket> {
    const { loopback, closedPort } = this.plan;
    const listener = this.#listeners.find((one) =>
      one.addr.port === port && !one.isClosed
    );
    const answer = listener === undefined ? closedPort : loopback;
    if (answer === "silent") await new Promise(() => {});
    if (answer === "garbage") throw new Error("socks error: malformed");
    if (listener === undefined || answer === "refused") {
      throw new Deno.errors.ConnectionRefused(REFUSED);
    }
    return this.#connectTo(listener);
  }

  #connectTo(listener: Listener): Socket {
    const [socket, other] = Socket.pair(this.#world, "socket", () => 0);
    listener.receive(other);
    return socket;
  }

  #listen(): Listener {
    const { loopback, strangers } = this.plan;
    if (loopback === "no listener") throw new Deno.errors.AddrNotAvailable();
    const listener = new Listener(this.#port++);
    this.#listeners.push(listener);
    if (loopback === "no descriptors") {
      listener.accept = () =>
        Promise.reject(new Error("Too many open files (os error 24)"));
      return listener;
    }
    for (const words of strangers) {
      this.#world.after(0, "socket", () => {
        if (listener.isClosed) return;
        const socket = this.#connectTo(listener);
        socket.send(new TextEncoder().encode(words));
        if (words === GONE) socket.reset();
      });
    }
    return listener;
  }

  /**
   * Connects to the service.
   *
   * @param signal Aborts it; `fetch` has none, and connects for a request.
   * @throws {Error} In the words of `fetch`.
   */
  async #connectToService(signal?: AbortSignal): Promise<Socket> {
    const world = this.#world;
    const delay = () =>
      Math.max(1 + world.below(3), this.heldUntil - world.now);
    const [near, far] = Socket.pair(world, "outside", delay);
    const visit: Visit = {
      askedAt: world.now,
      failure: undefined,
      openedAt: undefined,
      isUsed: signal === undefined,
      near,
      far,
    };
    const planned = this.plan.lines[(this.visits.push(visit) - 1) % 8];
    const fault = this.#obstacle ?? planned ?? { kind: "good" };
    world.tell(`a connection to the service: ${JSON.stringify(fault)}`);
    const isUnreachable = fault.kind === "unreachable";
    const ms = isUnreachable ? fault.ms : 10 + world.below(20);
    await world.pause(ms, "socket");
    signal?.throwIfAborted();
    if (isUnreachable) {
      visit.failure = fault.text;
      throw new Error(fault.text);
    }
    visit.openedAt = world.now;
    this.#serve(visit, fault);
    return near;
  }

  /** Serves a connection as the service does. */
  async #serve(visit: Visit, fault: LineFault): Promise<void> {
    const { near, far } = visit;
    const world = this.#world;
    if (fault.kind === "dies") {
      world.after(fault.ms, "outside", () => {
        if (near.writtenAt !== undefined || far.isClosed) return;
        world.tell(`a connection that was not used is ${fault.how}`);
        if (fault.how === "vanished") far.vanish();
        else if (fault.how === "closed") far.close();
        else far.send(new TextEncoder().encode("220 hello\r\n"));
      });
    }
    try {
      await far.read(new Uint8Array()); // waits for the first bytes
      if (fault.kind === "late") await world.pause(fault.ms);
      if (fault.kind === "closed") return far.close();
      if (fault.kind === "mute") return;
      for (;;) await this.#readRecord(far, visit);
    } catch {
      far.drop();
    }
  }

  /** Makes a record of TLS: its type, a number in place of a version, and the length. */
  record(act: Act): Uint8Array {
    const number = this.#acts.push(act) - 1;
    const length = this.#world.below(40);
    const bytes = new Uint8Array(5 + length).fill(FILLING);
    bytes.set([DATA, number >> 8, number & 255, 0, length]);
    return bytes;
  }

  /** Reads a record, and does what the other end wants by it. */
  async #readRecord(socket: Socket, visit?: Visit): Promise<void> {
    const [, high = 0, low = 0, , length = 0] = await readExactly(socket, 5);
    const rest = await readExactly(socket, length);
    const act = this.#acts[high * 256 + low];
    if (act === undefined || rest.some((byte) => byte !== FILLING)) {
      throw new Error("the relay has changed what it passed on");
    }
    act(socket, visit);
  }
}

/** Throws an error of `fetch` as `Deno.connect` does. */
function inWordsOfDeno(error: Error): never {
  error.message = error.message.replace(/^(?:tcp connect|dns) error: /, "");
  throw error;
}

/** Logs in to the relay, as `fetch` does (RFC 1928 and 1929). */
async function logIn(
  socket: Socket,
  { username, password }: Deno.BasicAuth,
): Promise<void> {
  const withLength = (text: string) => {
    const bytes = new TextEncoder().encode(text);
    return [bytes.length, ...bytes];
  };
  socket.send(Uint8Array.of(5, 2, 0, 2));
  await readExactly(socket, 2);
  const login = [...withLength(username), ...withLength(password)];
  socket.send(Uint8Array.of(1, ...login));
  await readExactly(socket, 2);
  socket.send(Uint8Array.of(5, 1, 0, 3, ...withLength("agent.test"), 1, 187));
  await readExactly(socket, 10);
}
