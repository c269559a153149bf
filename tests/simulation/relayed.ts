/**
 * A service with `https:`, as far as the program's relay can tell: the end of `fetch` and
 * that of the service, and bytes between them that the relay has to pass on unchanged.
 * TLS itself is not played: of it there is the ClientHello, its answer, and the rule that
 * nothing of a request is sent before.
 *
 * @module
 */

import type { Carrier, Exchange } from "./network.ts";
import {
  AMBIGUOUS,
  type HttpsPlan,
  type LineFault,
  NOT_HEARD,
  REFUSED,
} from "./plans.ts";
import { type Line, Listener, readExactly, Socket } from "./sockets.ts";
import type { World } from "./world.ts";

/** A connection of the program to the service. */
interface Visit {
  readonly askedAt: number;
  /** Why it was not made. */
  failure: string | undefined;
  openedAt: number | undefined;
  /** Whether a request came on it. */
  isUsed: boolean;
  /** The program's end. */
  socket: Socket | undefined;
}

/** How a client of `fetch` reaches the program's relay. */
export interface RelayProxy {
  readonly url: string;
  readonly basicAuth: Deno.BasicAuth;
}

/** One client of `fetch`. */
export class HttpClient {
  readonly proxy: RelayProxy | undefined;
  link: Link | undefined;
  readonly #onClosed: () => void;
  #isOpen = true;

  constructor(proxy: RelayProxy | undefined, onClosed: () => void) {
    this.proxy = proxy;
    this.#onClosed = onClosed;
  }

  close(): void {
    if (this.#isOpen) this.#onClosed();
    this.#isOpen = false;
    this.link?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** A connection of a client of `fetch` to the relay, and through it to the service. */
class Link {
  readonly socket: Socket;
  /** The request that it was made for. */
  readonly exchange: Exchange;
  carried: Exchange | undefined;
  /** Whether it is back in the pool. */
  isIdle = false;

  constructor(socket: Socket, exchange: Exchange) {
    this.socket = socket;
    this.exchange = exchange;
  }

  close(): void {
    if (!this.socket.isClosed) this.socket.close();
  }
}

const SERVER_HELLO = Uint8Array.of(22, 3, 3, 0, 1, 2);

/** What this machine does with the program's sockets, and the service at their other end. */
export class Machine {
  readonly visits: Visit[] = [];
  readonly #world: World;
  readonly #plan: HttpsPlan;
  readonly #heldUntil: () => number;
  readonly #whyUnreachable: () => LineFault | undefined;
  readonly #listeners: Listener[] = [];
  readonly #links: Link[] = [];
  /** The visits, by the service's end of each. */
  readonly #visitsBySocket = new Map<Socket, Visit>();
  /** The lines to the service, with the service's end of each. */
  readonly #lines = new Map<Line, Socket>();
  /**
   * What the other end does when it has read a record of TLS, by the record's number. The
   * bytes of a record hold that number in place of a part of HTTP.
   */
  readonly #records: ((socket: Socket) => void)[] = [];
  #port = 40_000;

  constructor(
    world: World,
    plan: HttpsPlan,
    { heldUntil, whyUnreachable }: {
      readonly heldUntil: () => number;
      readonly whyUnreachable: () => LineFault | undefined;
    },
  ) {
    this.#world = world;
    this.#plan = plan;
    this.#heldUntil = heldUntil;
    this.#whyUnreachable = whyUnreachable;
    world.replace(Deno, {
      listen: () => this.#listen(),
      connect: (to: Deno.ConnectOptions & { readonly signal: AbortSignal }) =>
        to.hostname === "127.0.0.1"
          ? this.#connectHere(to.port, to.signal)
          : this.#connectToService(to.signal),
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
    const sockets = this.visits.map(({ socket }) => socket);
    return [...sockets, ...this.#listeners]
      .filter((one) => one?.isClosed === false).length;
  }

  /** Lets all connections to the service vanish, or break. */
  interrupt(how: "vanished" | "reset"): void {
    for (const [line, socket] of this.#lines) {
      if (how === "vanished") line.isVanished = true;
      else socket.reset(5);
    }
    this.#lines.clear();
  }

  /**
   * Sends the request of an exchange, through the relay that its client has as a proxy.
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
      link.isIdle = false;
      link.carried = exchange;
      exchange.wasHeard = true;
      exchange.onEnded = (how) => {
        if (how !== "whole") return link.close();
        // It is back in the pool after a turn of the event loop.
        this.#world.after(0, "turn", () => void (link.isIdle = true));
      };
      link.socket.send(this.#record((service) => {
        exchange.carrier = this.#carrier(service);
        const visit = this.#visitsBySocket.get(service);
        if (visit !== undefined) visit.isUsed = true;
        onRequest();
      }));
    } catch (error) {
      if (exchange.isOver) return;
      const text = exchange.hasPort
        ? this.#whyNotHeard(exchange)
        : String(error instanceof Error ? error.message : error);
      exchange.failNow("Connect", text);
    }
  }

  /** The connection of a client, or another one: a relay lets in one alone. */
  async #linkOf(client: HttpClient, exchange: Exchange): Promise<Link> {
    const { link: used, proxy } = client;
    const isUsable = used !== undefined && !used.socket.isClosed;
    if (isUsable && used.isIdle) {
      exchange.hasPort = true;
      return used;
    }
    const [socket, other] = this.#pair();
    exchange.onEnded = () => socket.isClosed || socket.close();
    const listener = this.#listenerAt(Number(new URL(proxy?.url ?? "").port));
    if (listener === undefined) {
      exchange.wasNeedless = isUsable;
      await this.#meetClosedPort();
    } else await this.#reach(listener, other);
    await logIn(socket, proxy?.basicAuth);
    exchange.hasPort = true;
    const link = new Link(socket, exchange);
    const number = this.#links.push(link) - 1;
    socket.send(Uint8Array.of(22, 3, 1, 0, 2, number >> 8, number & 255));
    const answer = await readExactly(socket, SERVER_HELLO.length);
    if (answer.join() !== SERVER_HELLO.join()) throw new Error("not TLS");
    client.link = link;
    this.#receive(link);
    return link;
  }

  /** Reads what comes to `fetch`. */
  async #receive(link: Link): Promise<void> {
    try {
      await this.#readRecords(link.socket);
    } catch {
      link.close();
      // The program gets what came before: an error of a body would throw that away.
      this.#world.after(5, "socket", () => link.carried?.lose());
    }
  }

  /** Connects to a port where no relay listens any more. */
  async #meetClosedPort(): Promise<never> {
    const { closedPort } = this.#plan;
    if (closedPort === "silent") await new Promise(() => {});
    const isFree = closedPort === "free";
    throw new Error(isFree ? REFUSED : "socks error: malformed");
  }

  /** Why the relay has closed the connection: as far as it is clear. */
  #whyNotHeard({ askedAt }: Exchange): string {
    const reasons = this.visits.filter((visit) => visit.askedAt >= askedAt)
      .map(({ failure }) => failure ?? NOT_HEARD);
    const [reason = NOT_HEARD] = reasons;
    return reasons.every((one) => one === reason) ? reason : AMBIGUOUS;
  }

  #pair(): readonly [Socket, Socket] {
    const line = { isVanished: false, delay: () => 0 };
    return Socket.pair(this.#world, "socket", line);
  }

  #listenerAt(port: number): Listener | undefined {
    return this.#listeners.find((one) =>
      one.addr.port === port && !one.isClosed
    );
  }

  /** Makes a connection on this machine. */
  async #reach(listener: Listener, socket: Socket): Promise<void> {
    const { loopback } = this.#plan;
    if (loopback === "refused") throw new Error(REFUSED);
    if (loopback === "dropped") await new Promise(() => {});
    listener.receive(socket);
  }

  async #connectHere(port: number, signal: AbortSignal): Promise<Deno.Conn> {
    const listener = this.#listenerAt(port);
    if (listener === undefined) throw new Deno.errors.ConnectionRefused();
    const [socket, other] = this.#pair();
    const { promise: dropped, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(signal.reason));
    await Promise.race([this.#reach(listener, other), dropped]);
    return socket as unknown as Deno.Conn;
  }

  #listen(): Listener {
    const { loopback, strangers } = this.#plan;
    if (loopback === "no listener") throw new Deno.errors.AddrNotAvailable();
    const listener = new Listener(this.#port++);
    this.#listeners.push(listener);
    if (loopback === "no descriptors") {
      listener.accept = () =>
        Promise.reject(new Error("Too many open files (os error 24)"));
      return listener;
    }
    for (const bytes of strangers) {
      this.#world.after(0, "socket", () => {
        if (listener.isClosed) return;
        const [socket, other] = this.#pair();
        listener.receive(other);
        if (bytes === "gone") socket.reset();
        else if (bytes === "wrong login") {
          logIn(socket, { username: "relay", password: "wrong".padEnd(36) })
            .catch(() => {});
        } else if (bytes === "garbage") {
          socket.send(new TextEncoder().encode("GET / HTTP/1.1\r\n"));
        }
      });
    }
    return listener;
  }

  #connectToService(signal: AbortSignal): Promise<Socket> {
    const world = this.#world;
    const visit: Visit = {
      askedAt: world.now,
      failure: undefined,
      openedAt: undefined,
      isUsed: false,
      socket: undefined,
    };
    const planned = this.#plan.lines[this.visits.push(visit) - 1];
    const fault = this.#whyUnreachable() ?? planned ?? { kind: "good" };
    world.tell(`a connection to the service: ${JSON.stringify(fault)}`);
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const isUnreachable = fault.kind === "unreachable";
    const ms = isUnreachable ? fault.ms : 10 + world.below(20);
    const cancel = world.after(ms, "socket", () => {
      if (!isUnreachable) return resolve(this.#open(visit, fault));
      visit.failure = fault.text;
      reject(new Error(fault.text.replace(/^(?:tcp connect|dns) error: /, "")));
    });
    signal.addEventListener("abort", () => {
      cancel();
      reject(signal.reason);
    });
    return promise;
  }

  /** Makes a exchange. Returns the program's end. */
  #open(visit: Visit, fault: LineFault): Socket {
    const world = this.#world;
    const line: Line = {
      isVanished: false,
      delay: () => Math.max(1 + world.below(3), this.#heldUntil() - world.now),
    };
    const [near, far] = Socket.pair(world, "outside", line);
    visit.socket = near;
    visit.openedAt = world.now;
    this.#lines.set(line, far);
    this.#visitsBySocket.set(far, visit);
    if (fault.kind === "dies") {
      world.after(fault.ms, "outside", () => {
        if (near.writtenAt !== undefined || far.isClosed) return;
        world.tell(`a connection that was not used is ${fault.how}`);
        if (fault.how === "vanished") line.isVanished = true;
        else if (fault.how === "closed") far.close();
        else far.send(new TextEncoder().encode("220 hello\r\n"));
      });
    }
    this.#serve(far, fault);
    return near;
  }

  /** Serves a connection as the service does. */
  async #serve(socket: Socket, fault: LineFault): Promise<void> {
    try {
      const hello = await readExactly(socket, 7);
      if (fault.kind === "late") await this.#world.pause(fault.ms);
      const isMute = fault.kind === "mute";
      if (fault.kind === "closed") return socket.close();
      const link = this.#links[(hello[5] ?? 0) * 256 + (hello[6] ?? 0)];
      if (link === undefined || isMute) return;
      link.exchange.wasHeard = true;
      socket.send(SERVER_HELLO);
      await this.#readRecords(socket);
    } catch {
      if (!socket.isClosed) socket.close();
    }
  }

  #carrier(service: Socket): Carrier {
    return {
      send: (arrival, act) => service.send(this.#record(act), arrival),
      finish: () => {
        if (!this.#plan.keepsAlive && !service.isClosed) service.close();
      },
      reset: () => service.reset(5),
    };
  }

  /** Makes a record, with a function that is called when it was read whole. */
  #record(act: (socket: Socket) => void): Uint8Array {
    const number = this.#records.push(act) - 1;
    const filling = this.#world.below(40);
    const bytes = new Uint8Array(5 + filling).fill(120);
    bytes.set([23, number >> 16, (number >> 8) & 255, number & 255, filling]);
    return bytes;
  }

  async #readRecords(socket: Socket): Promise<never> {
    for (;;) {
      const [, high = 0, middle = 0, low = 0, filling = 0] = await readExactly(
        socket,
        5,
      );
      const rest = await readExactly(socket, filling);
      const act = this.#records[(high << 16) + (middle << 8) + low];
      if (act === undefined || rest.some((byte) => byte !== 120)) {
        throw new Error("the relay has changed what it passed on");
      }
      act(socket);
    }
  }
}

/** Logs in to the relay, as `fetch` does (RFC 1928 and 1929). */
async function logIn(
  socket: Socket,
  { username, password } = { username: "", password: "" },
): Promise<void> {
  const bytes = (text: string) => [...new TextEncoder().encode(text)];
  socket.send(Uint8Array.of(5, 2, 0, 2));
  await readExactly(socket, 2);
  const name = [username.length, ...bytes(username)];
  socket.send(Uint8Array.of(1, ...name, password.length, ...bytes(password)));
  await readExactly(socket, 2);
  const host = "agent.test";
  socket.send(Uint8Array.of(5, 1, 0, 3, host.length, ...bytes(host), 1, 187));
  await readExactly(socket, 10);
}
